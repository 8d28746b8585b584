/* peal secret: what jobs use and nobody is shown. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/account_args.h"
#include "client/body.h"
#include "client/documents.h"
#include "data_folder.h"
#include "secret_doc.h"
#include "text/tr.h"

struct request {
    struct doc_request doc;
    const char *value_file, *key_file;
    struct option_list shares;
    bool add, drop;
};

enum { READ_MAX = SECRET_VALUE_MAX + 2 }; /* so that too much is told by the agent */

/* ---- set ---- */

/* All of it but a last newline. */
static enum exit_code read_all(FILE *file, struct strbuf *out)
{
    char bytes[READ_MAX];
    size_t length = fread(bytes, 1, sizeof(bytes), file);
    bool is_read = !ferror(file);
    if (length && length < sizeof(bytes) && bytes[length - 1] == '\n')
        length--;
    strbuf_reserve(out, READ_MAX); /* no copies are left behind */
    strbuf_add(out, bytes, length);
    explicit_bzero(bytes, sizeof(bytes));
    if (!is_read)
        cli_error("can't read the value: %s", strerror(errno));
    return is_read ? EXIT_OK : EXIT_ERROR;
}

static enum exit_code read_value(const struct request *request, struct strbuf *out)
{
    const char *path = request->value_file;
    if (!path && isatty(STDIN_FILENO))
        return password_read(NULL, tr("value: "), true, out);
    if (!path || strcmp(path, "-") == 0)
        return read_all(stdin, out);
    FILE *file = fopen(path, "re");
    if (!file) {
        cli_error("can't read %s: %s", path, strerror(errno));
        return EXIT_ERROR;
    }
    enum exit_code code = read_all(file, out);
    fclose(file);
    return code;
}

/* NULL: it is not UTF-8, or out of memory. */
static json_t *make_body(const struct request *request, const struct strbuf *value)
{
    json_t *body = json_pack("{s:s#}", "value", value->text, (int)value->length);
    json_t *shares = request->shares.count && body ? json_array() : NULL;
    for (size_t i = 0; shares && i < request->shares.count; i++)
        json_array_append_new(shares, json_string(request->shares.items[i]));
    if (shares)
        json_object_set_new(body, "share", shares);
    return body;
}

static enum exit_code set(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf value;
    json_t *body = NULL;
    strbuf_init(&value);
    enum exit_code code = read_value(request, &value);
    if (code == EXIT_OK && !(body = make_body(request, &value))) {
        cli_error("the secret is not UTF-8 text");
        code = EXIT_INVALID;
    }
    if (code == EXIT_OK)
        code = doc_change(client, &request->doc, "PUT", body, TR("set"));
    json_decref(body);
    strbuf_wipe(&value);
    return code;
}

/* ---- rotate ---- */

/* Each that is not encrypted with the current key yet: interrupted, it goes on where it was. */
static enum exit_code rotate(struct client *client, void *place)
{
    struct request *request = place;
    struct reply list = {0}, reply = {0};
    json_t *item, *body = json_object();
    size_t i;
    enum exit_code code = client_call(client, &(struct client_request){.path = "/secrets"}, &list);
    json_array_foreach (json_object_get(list.body, "items"), i, item) {
        if (code != EXIT_OK)
            break;
        request->doc.name = answer_text(item, "name");
        code = doc_call(client, &request->doc,
                        (struct client_request){.method = "PATCH", .body = body}, "", &reply);
        if (code == EXIT_OK) {
            fprintf(stderr, tr("%s: encrypted with the key %s"), request->doc.name,
                    answer_text(reply.body, "key"));
            fputc('\n', stderr);
        }
        reply_release(&reply);
        reply = (struct reply){0};
    }
    json_decref(body);
    reply_release(&list);
    return code;
}

/* ---- init ---- */

static enum exit_code tell_keys(const char *path, const struct secret_keys *keys)
{
    printf("%s %s\n", path, keys->items[0].id);
    fprintf(
        stderr, "%s\n",
        tr("Every node of the cluster needs a copy of this file, mode 0600. Keep one apart from "
           "backups of the store: without it the secrets are lost."));
    return EXIT_OK;
}

static enum exit_code change_keys(const struct request *request, const char *path)
{
    struct secret_keys keys = {.count = 0};
    struct strbuf why;
    strbuf_init(&why);
    enum status st = secret_keys_load(path, &keys, &why);
    bool is_there = st == OK;
    if (st == E_NOT_FOUND && !request->drop) {
        strbuf_reset(&why);
        st = OK;
    }
    enum exit_code code = EXIT_ERROR;
    if (is_there && !request->add && !request->drop) {
        cli_error("%s exists; --add puts another key in front, --drop drops all but the first",
                  path);
        code = EXIT_CONFLICT;
    } else {
        if (st == OK)
            st = request->drop ? secret_keys_keep_first(path, &keys, &why)
                               : secret_keys_add(path, &keys, &why);
        if (st == OK)
            code = tell_keys(path, &keys);
        else
            cli_error("%s", why.length ? why.text : tr(status_text(st)));
    }
    secret_keys_release(&keys);
    strbuf_release(&why);
    return code;
}

static enum exit_code init(void *place)
{
    const struct request *request = place;
    struct strbuf folder;
    if (request->key_file)
        return change_keys(request, request->key_file);
    strbuf_init(&folder);
    enum exit_code code = cli_fail(data_folder_find(request->doc.base.data, &folder));
    char *path = code == EXIT_OK ? data_folder_file(folder.text, "secret.key") : NULL;
    if (code == EXIT_OK)
        code = path ? cli_fail(data_folder_make(folder.text)) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = change_keys(request, path);
    free(path);
    strbuf_release(&folder);
    return code;
}

/* ---- the command ---- */

static const struct doc_form form = {
    .noun = "secret",
    .list = {.name = "name",
             .columns =
                 (const struct list_column[]){
                     COLUMN("NAME", "name"),
                     COLUMN("VERSION", "version", .form = COLUMN_NUMBER),
                     COLUMN("SET", "set_at", .form = COLUMN_TIME),
                     COLUMN("BY", "set_by"),
                     COLUMN("SHARED WITH", "share", .form = COLUMN_WORDS),
                     COLUMN("KEY", "key", .is_wide = true),
                     {0},
                 },
             .none = "no secrets in the store; make one: peal secret set NAME"},
};

static const struct option_row name[] = {
    ARGUMENT(request, doc.name, "NAME"),
    {0},
};

static const struct option_row set_options[] = {
    OPTION_TEXT(request, value_file, 0, "value-file", "F",
                "a file with the value (default: stdin, or the terminal)",
                .complete = COMPLETE_FILES),
    OPTION_LIST(request, shares, 0, "share", "NS",
                "a namespace whose jobs may use it, too; * is all of them; may be repeated",
                .max = SECRET_SHARES_MAX),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

static const struct option_row init_options[] = {
    OPTION_TEXT(request, key_file, 0, "key-file", "F",
                "the file (default: secret.key in the data folder)", .complete = COMPLETE_FILES),
    OPTION_FLAG(request, add, 0, "add", "put another key in front of those that are there"),
    OPTION_FLAG(request, drop, 0, "drop", "drop all keys but the first"),
    OPTION_GROUP(request, doc, data_option),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "secret set",
        .summary = "make a secret, or give it another value",
        .notes = "The value is read from stdin; a last newline is not part of it. The name of a "
                 "secret says whose it is: jobs billing/... may use billing/db-password.",
        .arguments = name,
        .options = set_options,
        .wrong_count = "name one secret",
        .with_agent = set,
        .documents = &form,
    },
    DOC_LIST(&form, "secret", "secrets in the store, without their values"),
    {
        .name = "secret rotate",
        .summary = "encrypt all secrets with the current key",
        .options = client_options,
        .too_many = "peal secret rotate takes no name",
        .with_agent = rotate,
        .documents = &form,
    },
    DOC_DELETE(&form, "secret", name, "delete a secret; jobs that use it do not start any more"),
    {
        .name = "secret init",
        .summary = "make the key file; exit status 4: there is one",
        .options = init_options,
        .too_many = "peal secret init takes no name",
        .run = init,
    },
    {0},
};

const struct command cmd_secret = {
    .name = "secret",
    .summary = "what jobs use and nobody is shown: passwords, tokens, keys",
    .examples = EXAMPLES({"peal secret init", "once, on one node"},
                         {"peal secret set billing/db-password <password.txt", NULL},
                         {"peal secret list", NULL}),
    .more = "docs/SECRETS.md says how jobs use them, and who may.",
    .options = client_options,
    .too_few = "what about secrets? peal secret set, list, rotate, delete or init",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
