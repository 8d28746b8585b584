/* peal channel: where messages go. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "client/account_args.h"
#include "client/body.h"

struct request {
    struct request_base base;
    const char *name;
    const char *type, *hook, *hook_file, *smtp, *secret_file, *from, *user, *password_file;
    const char *language, *quiet, *give_up, *notes;
    struct option_list headers, to, on;
    bool unencrypted, no_unencrypted, is_default, no_default;
    json_t *fields; /* that `set` changes */
    bool yes;
    enum output output;
};

static const char *const types[] = {"webhook", "slack", "dingtalk", "feishu",
                                    "wecom",   "mail",  NULL};
static const char *const languages[] = {"en", "zh", NULL};

static const struct option_row set_options[] = {
    OPTION_TEXT(request, type, 0, "type", "T", "webhook, slack, dingtalk, feishu, wecom or mail",
                .field = "type", .choices = types),
    OPTION_TEXT(request, hook, 0, "hook", "URL", "of a webhook or a chat room", .field = "url"),
    OPTION_TEXT(request, hook_file, 0, "hook-file", "F",
                "the same, as it is mostly secret: the first line of a file; - is stdin",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(request, smtp, 0, "smtp", "URL", "of a mail server: smtp://HOST or smtps://HOST",
                .field = "url"),
    OPTION_ROW(take_pairs, request, headers, struct option_list, 0, "header", "K=V",
               "of a webhook; may repeat", .field = "headers"),
    OPTION_TEXT(request, secret_file, 0, "secret-file", "F",
                "what messages are signed with: webhook, dingtalk, feishu",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(request, from, 0, "from", "ADDRESS", "the sender of mail", .field = "from"),
    OPTION_ROW(take_commas, request, to, struct option_list, 0, "to", "ADDRESS",
               "who gets the mail; may repeat", .field = "to"),
    OPTION_TEXT(request, user, 0, "user", "NAME", "who logs in to the mail server",
                .field = "user"),
    OPTION_PASSWORD_FILE(request, password_file),
    OPTION_FLAG(request, unencrypted, 0, "unencrypted",
                "mail, without a password, may go to a server that has no STARTTLS",
                .field = "unencrypted"),
    OPTION_FLAG(request, no_unencrypted, 0, "no-unencrypted", "it may not"),
    OPTION_ROW(take_commas, request, on, struct option_list, 0, "on", "EVENTS",
               "failure,lost,recovery (default), late, success", .field = "on"),
    OPTION_FLAG(request, is_default, 0, "default", "it hears of all jobs that name no channel",
                .field = "default"),
    OPTION_FLAG(request, no_default, 0, "no-default", "only of those that name it"),
    OPTION_TEXT(request, language, 0, "language", "L", "of the messages: en or zh",
                .field = "language", .choices = languages),
    OPTION_TEXT(request, quiet, 0, "quiet", "D",
                "at most one message of a job and event in so long: 10m", .field = "quiet"),
    OPTION_TEXT(request, give_up, 0, "give-up", "D", "how long a message is tried (1h)",
                .field = "give_up"),
    OPTION_TEXT(request, notes, 0, "notes", "TEXT", "what it is for", .field = "notes"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

/* ---- list, show ---- */

static const char *error_of(const json_t *delivery)
{
    bool is_bad = answer_time(delivery, "last_failed_at") > answer_time(delivery, "last_sent_at");
    return is_bad ? answer_text(delivery, "last_error") : "";
}

static void add_count(struct text_table *table, const json_t *delivery, const char *name)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld",
             (long long)json_integer_value(json_object_get(delivery, name)));
    text_table_cell(table, text);
}

static void add_channel(struct text_table *table, const json_t *channel, bool wide)
{
    const json_t *delivery = json_object_get(channel, "delivery");
    struct strbuf when;
    (void)wide;
    strbuf_init(&when);
    text_table_cell(table, answer_text(channel, "name"));
    text_table_cell(table, answer_text(channel, "type"));
    text_table_cell(table, json_is_true(json_object_get(channel, "default")) ? "all" : "named");
    add_count(table, delivery, "sent");
    add_count(table, delivery, "waiting");
    add_count(table, delivery, "given_up");
    when_print_local(answer_time(delivery, "last_sent_at"), &when);
    text_table_cell(table, when.text);
    text_table_cell(table, error_of(delivery));
    strbuf_release(&when);
}

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const headers[] = {"NAME",     "TYPE",      "JOBS",  "SENT", "WAITING",
                                          "GIVEN UP", "LAST SENT", "ERROR", NULL};
    static const struct list_form form = {
        .name = "name",
        .headers = headers,
        .none = "no channels; make one: peal channel set NAME --type slack --hook-file FILE",
        .add_row = add_channel};
    return list_show(client, "/channels", request->output, &form);
}

static const char *channel_path(struct strbuf *out, const char *name, const char *rest)
{
    strbuf_reset(out);
    strbuf_adds(out, "/channels/");
    url_escape(out, name);
    strbuf_adds(out, rest);
    return out->text;
}

/* One that is not there is told with where those are that are. */
static enum exit_code call(struct client *client, const struct client_request *request,
                           struct reply *ret)
{
    enum exit_code code = client_call(client, request, ret);
    if (code == EXIT_NOT_FOUND)
        fputs("See: peal channel list\n", stderr);
    return code;
}

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    struct client_request get = {.path = channel_path(&path, request->name, "")};
    enum exit_code code = call(client, &get, &reply);
    if (code == EXIT_OK && request->output == OUTPUT_NAME)
        puts(answer_text(reply.body, "name"));
    else if (code == EXIT_OK)
        code = output_print(reply.body, request->output == OUTPUT_JSON ? OUTPUT_JSON : OUTPUT_YAML);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

/* ---- set ---- */

/* What is there with what is new over it; of one that is not there what is new alone. Headers are
 * added to those that are there. */
static enum exit_code lay_over(struct client *client, const struct request *request,
                               const char *path, struct reply *old)
{
    struct client_request get = {.path = path};
    enum status st = client_try(client, &get, old);
    if (st == OK && old->status == 404) {
        json_decref(old->body);
        old->body = json_object();
    } else if (st != OK || old->status >= 300) {
        return client_report(client, st, old);
    }
    json_t *headers = json_object_get(request->fields, "headers");
    json_t *there = json_object_get(old->body, "headers");
    if (headers && there && json_object_update_missing(headers, there) != 0)
        return cli_fail(E_NOMEM);
    return json_object_update(old->body, request->fields) == 0 ? EXIT_OK : cli_fail(E_NOMEM);
}

/* The first line of a file is the value. */
static enum exit_code fill_file(json_t *fields, const char *field, const char *file)
{
    struct strbuf line;
    if (!file)
        return EXIT_OK;
    strbuf_init(&line);
    enum exit_code code =
        password_read(file, field, false, &line) == EXIT_OK ? EXIT_OK : EXIT_USAGE;
    if (code == EXIT_OK && json_object_set_new(fields, field, json_string(line.text)) != 0) {
        cli_error("%s: not text in UTF-8", field);
        code = EXIT_USAGE;
    }
    if (line.length)
        explicit_bzero(line.text, line.length);
    strbuf_release(&line);
    return code;
}

static enum exit_code fill(const struct request *request)
{
    json_t *fields = request->fields;
    enum exit_code code = body_fill(fields, set_options, request);
    if (code == EXIT_OK)
        code = fill_file(fields, "url", request->hook_file);
    if (code == EXIT_OK)
        code = fill_file(fields, "secret", request->secret_file);
    if (code == EXIT_OK)
        code = fill_file(fields, "password", request->password_file);
    if (request->no_default)
        json_object_set_new(fields, "default", json_false());
    if (request->no_unencrypted)
        json_object_set_new(fields, "unencrypted", json_false());
    return code;
}

static enum exit_code change(struct client *client, const struct request *request)
{
    struct strbuf path;
    struct reply old = {0}, reply = {0};
    if (!json_object_size(request->fields))
        return cli_usage(request->base.command, "set what? --type, --hook, --to, --on ...");
    strbuf_init(&path);
    enum exit_code code = lay_over(client, request, channel_path(&path, request->name, ""), &old);
    if (code == EXIT_OK && json_object_get(old.body, "type") && !json_object_get(old.body, "url")) {
        code = cli_usage(request->base.command,
                         "where to? --hook-file F or --hook URL; of mail --smtp URL");
    } else if (code == EXIT_OK) {
        struct client_request put = {.method = "PUT",
                                     .path = path.text,
                                     .body = old.body,
                                     .if_match = old.status == 404 ? NULL : old.revision,
                                     .if_none_match = old.status == 404};
        code = client_call(client, &put, &reply);
    }
    if (code == EXIT_OK)
        fprintf(stderr, "%s: %s; try it: peal channel test %s\n", request->name,
                reply.status == 201 ? "made" : "set", request->name);
    reply_release(&old);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static enum exit_code set(struct client *client, void *place)
{
    struct request *request = place;
    request->fields = json_object();
    enum exit_code code = request->fields ? fill(request) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = change(client, request);
    json_decref(request->fields);
    return code;
}

/* ---- test, delete ---- */

static enum exit_code test(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf path;
    struct reply reply = {0};
    json_t *body = json_object();
    strbuf_init(&path);
    struct client_request post = {
        .method = "POST", .path = channel_path(&path, request->name, "/test"), .body = body};
    enum exit_code code = call(client, &post, &reply);
    if (code == EXIT_OK && json_is_true(json_object_get(reply.body, "sent"))) {
        fprintf(stderr, "%s: sent\n", request->name);
    } else if (code == EXIT_OK) {
        cli_error("%s: not sent: %s", request->name, answer_text(reply.body, "error"));
        code = EXIT_ERROR;
    }
    json_decref(body);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static enum exit_code delete_channel(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf path;
    struct reply reply = {0};
    if (!confirmed(request->yes, "Delete the channel %s, and what waits for it?", request->name)) {
        fputs("Nothing was deleted.\n", stderr);
        return EXIT_OK;
    }
    strbuf_init(&path);
    struct client_request remove = {.method = "DELETE",
                                    .path = channel_path(&path, request->name, "")};
    enum exit_code code = call(client, &remove, &reply);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: deleted\n", request->name);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

/* ---- the command ---- */

static const struct option_row name[] = {
    ARGUMENT(request, name, "NAME", .complete = COMPLETE_CHANNELS),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "channel set",
        .summary = "makes it, or changes what is named",
        .arguments = name,
        .options = set_options,
        .wrong_count = "name one channel",
        .with_agent = set,
    },
    {
        .name = "channel test",
        .summary = "sends a sample now; exit status 1: it did not arrive",
        .arguments = name,
        .options = client_options,
        .wrong_count = "name one channel",
        .with_agent = test,
    },
    {
        .name = "channel list",
        .summary = "all channels",
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .too_many = "peal channel list takes no name",
        .with_agent = list,
    },
    {
        .name = "channel show",
        .summary = "one channel, without its secrets",
        .arguments = name,
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .wrong_count = "name one channel",
        .with_agent = show,
    },
    {
        .name = "channel delete",
        .summary = "delete a channel; exit status 4: jobs name it",
        .arguments = name,
        .options = ROWS(OPTION_FLAG(request, yes, 'y', "yes", YES_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .wrong_count = "name one channel",
        .with_agent = delete_channel,
    },
    {0},
};

const struct command cmd_channel = {
    .name = "channel",
    .summary = "where messages go when jobs fail: chat rooms, mailboxes, webhooks",
    .examples = EXAMPLES(
        {"peal channel set ops --type slack --hook-file hook.txt --default", NULL},
        {"peal channel set mail --type mail --smtp smtps://mail.example.com \\\n"
         "      --from peal@example.com --to ops@example.com --user peal --password-file pw.txt",
         NULL},
        {"peal channel set ops --quiet 10m --on failure,lost,recovery,late", NULL},
        {"peal channel test ops", NULL},
        {"peal add backup '30 2 * * *' --notify ops -- /usr/local/bin/backup", NULL}),
    .more = "docs/NOTIFY.md has an example of each type, and what is promised.",
    .options = client_options,
    .too_few = "what about channels? peal channel list, show, set, test or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
