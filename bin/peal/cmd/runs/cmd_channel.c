/* peal channel: where messages go. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "client/account_args.h"

enum {
    OPTION_TYPE = OPTION_LONG_ONLY,
    OPTION_HOOK,
    OPTION_HOOK_FILE,
    OPTION_SMTP,
    OPTION_HEADER,
    OPTION_SECRET_FILE,
    OPTION_FROM,
    OPTION_TO,
    OPTION_MAIL_USER,
    OPTION_ON,
    OPTION_DEFAULT,
    OPTION_NO_DEFAULT,
    OPTION_UNENCRYPTED,
    OPTION_NO_UNENCRYPTED,
    OPTION_LANGUAGE,
    OPTION_QUIET,
    OPTION_GIVE_UP,
    OPTION_NOTES,
};

static const struct option options[] = {
    {"type", required_argument, NULL, OPTION_TYPE},
    {"hook", required_argument, NULL, OPTION_HOOK},
    {"hook-file", required_argument, NULL, OPTION_HOOK_FILE},
    {"smtp", required_argument, NULL, OPTION_SMTP},
    {"header", required_argument, NULL, OPTION_HEADER},
    {"secret-file", required_argument, NULL, OPTION_SECRET_FILE},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"user", required_argument, NULL, OPTION_MAIL_USER},
    PASSWORD_OPTION,
    {"unencrypted", no_argument, NULL, OPTION_UNENCRYPTED},
    {"no-unencrypted", no_argument, NULL, OPTION_NO_UNENCRYPTED},
    {"on", required_argument, NULL, OPTION_ON},
    {"default", no_argument, NULL, OPTION_DEFAULT},
    {"no-default", no_argument, NULL, OPTION_NO_DEFAULT},
    {"language", required_argument, NULL, OPTION_LANGUAGE},
    {"quiet", required_argument, NULL, OPTION_QUIET},
    {"give-up", required_argument, NULL, OPTION_GIVE_UP},
    {"notes", required_argument, NULL, OPTION_NOTES},
    {"yes", no_argument, NULL, 'y'},
    OUTPUT_OPTION,
    CLIENT_OPTIONS,
    {0},
};

static const struct {
    int option;
    const char *field;
} text_fields[] = {
    {OPTION_TYPE, "type"},   {OPTION_HOOK, "url"},        {OPTION_SMTP, "url"},
    {OPTION_FROM, "from"},   {OPTION_MAIL_USER, "user"},  {OPTION_LANGUAGE, "language"},
    {OPTION_QUIET, "quiet"}, {OPTION_GIVE_UP, "give_up"}, {OPTION_NOTES, "notes"},
};

static const struct {
    int option;
    const char *field;
} file_fields[] = {
    {OPTION_HOOK_FILE, "url"},
    {OPTION_SECRET_FILE, "secret"},
    {OPTION_PASSWORD_FILE, "password"},
};

struct request {
    const struct command *self;
    const char *data, *name;
    json_t *fields; /* that `set` changes */
    bool yes;
    enum output output;
};

/* ---- options ---- */

static bool set_field(json_t *fields, const char *name, json_t *value)
{
    if (json_object_set_new(fields, name, value) == 0)
        return true;
    cli_error("%s: not text in UTF-8", name);
    return false;
}

static bool take_file(json_t *fields, const char *name, const char *file)
{
    struct strbuf line;
    strbuf_init(&line);
    bool done = password_read(file, name, false, &line) == EXIT_OK &&
                set_field(fields, name, json_string(line.text));
    if (line.length)
        explicit_bzero(line.text, line.length);
    strbuf_release(&line);
    return done;
}

/* Commas, and the option again, add to a list. */
static bool split_list(json_t *fields, const char *name, const char *text)
{
    json_t *list = json_object_get(fields, name);
    if (!list) {
        list = json_array();
        if (!list || !set_field(fields, name, list))
            return false;
    }
    while (*text) {
        size_t length = strcspn(text, ", ");
        if (length && json_array_append_new(list, json_stringn(text, length)) != 0) {
            cli_error("%s: not text in UTF-8", name);
            return false;
        }
        text += length + (text[length] != '\0');
    }
    return true;
}

static bool take_header(const struct request *request, const char *text)
{
    const char *equals = strchr(text, '=');
    json_t *headers = json_object_get(request->fields, "headers");
    char name[256];
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof(name)) {
        cli_usage(request->self, "--header is NAME=VALUE, not \"%s\"", text);
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    if (!headers) {
        headers = json_object();
        if (!headers || !set_field(request->fields, "headers", headers))
            return false;
    }
    return set_field(headers, name, json_string(equals + 1));
}

static bool take_option(struct request *request, int opt)
{
    for (size_t i = 0; i < sizeof(text_fields) / sizeof(text_fields[0]); i++) {
        if (text_fields[i].option == opt)
            return set_field(request->fields, text_fields[i].field, json_string(optarg));
    }
    for (size_t i = 0; i < sizeof(file_fields) / sizeof(file_fields[0]); i++) {
        if (file_fields[i].option == opt)
            return take_file(request->fields, file_fields[i].field, optarg);
    }
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_HEADER:
        return take_header(request, optarg);
    case OPTION_TO:
        return split_list(request->fields, "to", optarg);
    case OPTION_ON:
        return split_list(request->fields, "on", optarg);
    case OPTION_DEFAULT:
    case OPTION_NO_DEFAULT:
        return set_field(request->fields, "default", json_boolean(opt == OPTION_DEFAULT));
    case OPTION_UNENCRYPTED:
    case OPTION_NO_UNENCRYPTED:
        return set_field(request->fields, "unencrypted", json_boolean(opt == OPTION_UNENCRYPTED));
    case 'y':
        return request->yes = true;
    case 'o':
        return output_take(request->self, optarg, &request->output);
    default:
        return false;
    }
}

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

static enum exit_code list(struct client *client, const struct request *request)
{
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

static enum exit_code show(struct client *client, const struct request *request)
{
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

static enum exit_code set(struct client *client, const struct request *request)
{
    struct strbuf path;
    struct reply old = {0}, reply = {0};
    if (!json_object_size(request->fields))
        return cli_usage(request->self, "set what? --type, --hook, --to, --on ...");
    strbuf_init(&path);
    enum exit_code code = lay_over(client, request, channel_path(&path, request->name, ""), &old);
    if (code == EXIT_OK && json_object_get(old.body, "type") && !json_object_get(old.body, "url")) {
        code =
            cli_usage(request->self, "where to? --hook-file F or --hook URL; of mail --smtp URL");
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

/* ---- test, delete ---- */

static enum exit_code test(struct client *client, const struct request *request)
{
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

static enum exit_code delete_channel(struct client *client, const struct request *request)
{
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

static enum exit_code act(struct request *request, int action)
{
    static enum exit_code (*const actions[])(struct client *, const struct request *) = {
        list, show, set, test, delete_channel};
    struct client *client;
    enum exit_code code = client_open(request->data, &client);
    if (code != EXIT_OK)
        return code;
    code = actions[action](client, request);
    client_close(client);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const actions[] = {"list", "show", "set", "test", "delete", NULL};
    struct request request = {.self = self, .fields = json_object()};
    enum exit_code code = EXIT_USAGE;
    int opt, action;
    if (!request.fields)
        return cli_fail(E_NOMEM);
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(&request, opt))
            goto out;
    }
    if (optind == argc) {
        cli_usage(self, "what about channels? peal channel list, show, set, test or delete");
    } else if (cli_choice(self, "peal channel", argv[optind], actions, &action)) {
        request.name = argv[optind + 1];
        if (argc - optind == (action == 0 ? 1 : 2))
            code = act(&request, action);
        else
            cli_usage(self, action == 0 ? "peal channel list takes no name" : "name one channel");
    }
out:
    json_decref(request.fields);
    return code;
}

const struct command cmd_channel = {
    .name = "channel",
    .summary = "where messages go when jobs fail: chat rooms, mailboxes, webhooks",
    .help =
        "Examples:\n"
        "  peal channel set ops --type slack --hook-file hook.txt --default\n"
        "  peal channel set mail --type mail --smtp smtps://mail.example.com \\\n"
        "      --from peal@example.com --to ops@example.com --user peal --password-file pw.txt\n"
        "  peal channel set ops --quiet 10m --on failure,lost,recovery,late\n"
        "  peal channel test ops\n"
        "  peal add backup '30 2 * * *' --notify ops -- /usr/local/bin/backup\n"
        "\n"
        "Usage: peal channel set NAME [options]     makes it, or changes what is named\n"
        "       peal channel test NAME              sends a sample now. 1: it did not arrive\n"
        "       peal channel list [-o F]\n"
        "       peal channel show NAME [-o F]       without its secrets\n"
        "       peal channel delete NAME [--yes]    4: jobs name it\n"
        "\n"
        "Options of set:\n"
        "  --type T         webhook, slack, dingtalk, feishu, wecom or mail\n"
        "  --hook URL       of a webhook or a chat room\n"
        "  --hook-file F    the same, as it is mostly secret: the first line of a file; - is "
        "stdin\n"
        "  --smtp URL       of a mail server: smtp://HOST or smtps://HOST\n"
        "  --header K=V     of a webhook; may repeat\n"
        "  --secret-file F  what messages are signed with: webhook, dingtalk, feishu\n"
        "  --from ADDRESS, --to ADDRESS   of mail; --to may repeat\n"
        "  --user NAME, --password-file F  who logs in to the mail server\n"
        "  --unencrypted, --no-unencrypted  whether mail, without a password, may go to a server\n"
        "                   that has no STARTTLS\n"
        "  --on EVENTS      failure,lost,recovery (default), late, success\n"
        "  --default, --no-default  whether it hears of all jobs that name no channel\n"
        "  --language L     of the messages: en or zh\n"
        "  --quiet D        at most one message of a job and event in so long: 10m\n"
        "  --give-up D      how long a message is tried (1h)\n"
        "  --notes TEXT\n"
        "Options:\n"
        "  -y, --yes        do not ask (asked is on a terminal only)\n" OUTPUT_HELP CLIENT_HELP "\n"
        "docs/NOTIFY.md has an example of each type, and what is promised.\n",
    .getopt_rows = options,
    .old_run = run,
};
