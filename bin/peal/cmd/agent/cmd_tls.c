/* peal tls init: a certificate for the API, to start with. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/client.h"
#include "data_folder.h"
#include "service/self_signed.h"
#include "text/tr.h"

enum { HOSTS_MAX = 32 };

struct request {
    struct request_base base;
    struct option_list hosts;
    bool force;
};

static enum exit_code write_files(const struct request *request, const char *folder)
{
    char *dir = data_folder_file(folder, "tls");
    char *cert = data_folder_file(folder, "tls/cert.pem");
    char *key = data_folder_file(folder, "tls/key.pem");
    struct strbuf why;
    enum status st = dir && cert && key ? data_folder_make(folder) : E_NOMEM;
    strbuf_init(&why);
    if (st == OK && mkdir(dir, 0700) != 0 && errno != EEXIST)
        st = E_IO;
    if (st == E_IO)
        strbuf_addf(&why, tr("can't make %s: %s"), dir, strerror(errno));
    if (st == OK && request->force) {
        unlink(cert);
        unlink(key);
    }
    if (st == OK)
        st = self_signed_write(cert, key, request->hosts.items, request->hosts.count, &why);
    if (st == OK) {
        printf("%s\n%s\n", cert, key);
        fprintf(stderr, "%s\n%s\n", tr("The agent uses them from its next start on: peal restart"),
                tr("Other machines believe it with a copy of the first file: peal list --url "
                   "https://HOST:7325 --ca cert.pem"));
    } else if (st == E_CONFLICT) {
        cli_error("%s; --force replaces it", why.text);
    } else {
        cli_error("%s", why.length ? why.text : tr(status_text(st)));
    }
    strbuf_release(&why);
    free(dir);
    free(cert);
    free(key);
    return st == OK ? EXIT_OK : st == E_CONFLICT ? EXIT_CONFLICT : EXIT_ERROR;
}

/* The machine's own names come first. */
static void add_own_hosts(struct option_list *hosts, char machine[256])
{
    const char *own[] = {"localhost", "127.0.0.1", "::1", machine};
    bool has_name = gethostname(machine, 255) == 0 && *machine && strcmp(machine, "localhost") != 0;
    size_t count = has_name ? 4 : 3;
    memmove(hosts->items + count, hosts->items, hosts->count * sizeof(hosts->items[0]));
    memcpy(hosts->items, own, count * sizeof(own[0]));
    hosts->count += count;
}

static enum exit_code init(void *place)
{
    struct request *request = place;
    char machine[256] = "";
    struct strbuf folder;
    add_own_hosts(&request->hosts, machine);
    strbuf_init(&folder);
    enum exit_code code = cli_fail(data_folder_find(request->base.data, &folder));
    if (code == EXIT_OK)
        code = write_files(request, folder.text);
    strbuf_release(&folder);
    return code;
}

static const struct command subcommands[] = {
    {
        .name = "tls init",
        .summary = "write a self-signed certificate; exit status 4: one exists already",
        .options = ROWS(OPTION_LIST(request, hosts, 0, "host", "NAME",
                                    "another name or address for the certificate; may be repeated",
                                    .max = HOSTS_MAX - 4),
                        OPTION_FLAG(request, force, 0, "force", "replace the existing certificate"),
                        OPTION_GROUP(request, base, data_option)),
        .too_many = "expected: peal tls init",
        .run = init,
    },
    {0},
};

const struct command cmd_tls = {
    .name = "tls",
    .summary = "create a certificate for the API",
    .examples = EXAMPLES({"peal tls init", "for this machine's name and loopback"},
                         {"peal tls init --host peal.example.com", "for that name, too"}),
    .notes = "Writes tls/cert.pem and tls/key.pem into the data folder, where the agent looks for "
             "them. The certificate is self-signed: clients need a copy of it as their CA. A "
             "certificate from a CA is named in the configuration file: tls.cert and tls.key "
             "(docs/CONFIG.md). SIGHUP reloads them.",
    .options = data_option,
    .too_few = "expected: peal tls init",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
