/* peal tls init: a certificate for the API, to start with. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/client.h"
#include "config/data_folder.h"
#include "service/self_signed.h"

enum { HOSTS_MAX = 32, OPTION_HOST = OPTION_LONG_ONLY, OPTION_FORCE };

static const struct option options[] = {
    DATA_OPTION,
    {"host", required_argument, NULL, OPTION_HOST},
    {"force", no_argument, NULL, OPTION_FORCE},
    {0},
};

struct request {
    const char *data;
    const char *hosts[HOSTS_MAX];
    size_t host_count;
    bool force;
};

static bool add_host(struct request *request, const char *host)
{
    if (request->host_count == HOSTS_MAX)
        return false;
    request->hosts[request->host_count++] = host;
    return true;
}

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
        strbuf_addf(&why, "can't make %s: %s", dir, strerror(errno));
    if (st == OK && request->force) {
        unlink(cert);
        unlink(key);
    }
    if (st == OK)
        st = self_signed_write(cert, key, request->hosts, request->host_count, &why);
    if (st == OK) {
        printf("%s\n%s\n", cert, key);
        fprintf(stderr, "The agent uses them from its next start on: peal restart\n"
                        "Other machines believe it with a copy of the first file: peal list --url "
                        "https://HOST:7325 --ca cert.pem\n");
    } else if (st == E_CONFLICT) {
        cli_error("%s; --force replaces it", why.text);
    } else {
        cli_error("%s", why.length ? why.text : status_text(st));
    }
    strbuf_release(&why);
    free(dir);
    free(cert);
    free(key);
    return st == OK ? EXIT_OK : st == E_CONFLICT ? EXIT_CONFLICT : EXIT_ERROR;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    char machine[256] = "";
    struct request request = {0};
    struct strbuf folder;
    int opt;
    add_host(&request, "localhost");
    add_host(&request, "127.0.0.1");
    add_host(&request, "::1");
    if (gethostname(machine, sizeof(machine) - 1) == 0 && *machine &&
        strcmp(machine, "localhost") != 0)
        add_host(&request, machine);
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == OPTION_DATA)
            request.data = optarg;
        else if (opt == OPTION_FORCE)
            request.force = true;
        else if (!add_host(&request, optarg))
            return cli_usage(self, "more than %d hosts", HOSTS_MAX);
    }
    if (optind + 1 != argc || strcmp(argv[optind], "init") != 0)
        return cli_usage(self, "expected: peal tls init");
    strbuf_init(&folder);
    enum exit_code code = cli_fail(data_folder_find(request.data, &folder));
    if (code == EXIT_OK)
        code = write_files(&request, folder.text);
    strbuf_release(&folder);
    return code;
}

const struct command cmd_tls = {
    .name = "tls",
    .summary = "make a certificate for the API",
    .help = "Examples:\n"
            "  peal tls init                              for this machine's name and loopback\n"
            "  peal tls init --host peal.example.com      and for that name\n"
            "\n"
            "Usage: peal tls init [--host NAME]... [--force] [--data DIR]\n"
            "\n"
            "Writes tls/cert.pem and tls/key.pem into the data folder, where the agent looks for\n"
            "them. The certificate has signed itself: who is to believe it needs a copy of it.\n"
            "One that a known authority has signed goes into the configuration file: tls.cert and\n"
            "tls.key (docs/CONFIG.md). SIGHUP reads them again. Exit status 4: there is one.\n"
            "\n"
            "Options:\n"
            "  --host NAME      a name or an address that it is for, too; may be repeated\n"
            "  --force          replace what is there\n"
            "  --data DIR       the agent's data folder (else $PEAL_DATA, else the default)\n",
    .getopt_rows = options,
    .old_run = run,
};
