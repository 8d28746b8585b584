/* peal channel: where messages go. */
#include <stdio.h>
#include <string.h>

#include "client/account_args.h"
#include "client/body.h"
#include "client/documents.h"
#include "print/state_words.h"
#include "text/tr.h"

struct request {
    struct doc_request doc;
    int64_t count;           /* log */
    const char *job, *state; /* likewise */
    const char *title, *text, *event;
    bool preview;
    const char *type, *hook, *hook_file, *smtp, *secret_file, *token_file, *chat, *from, *user,
        *password_file;
    const char *language, *quiet, *group, *give_up, *notes;
    struct option_list headers, to, on;
    bool unencrypted, no_unencrypted, is_default, no_default;
    json_t *fields; /* that `set` changes */
};

static const char *const types[] = {"webhook",   "slack", "dingtalk", "feishu", "wecom", "mail",
                                    "pagerduty", "teams", "telegram", "ntfy",   NULL};
static const char *const languages[] = {"en", "zh", NULL};

static const struct option_row set_options[] = {
    OPTION_TEXT(request, type, 0, "type", "T",
                "webhook, slack, dingtalk, feishu, wecom, mail, pagerduty, teams, telegram or ntfy",
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
    OPTION_TEXT(request, token_file, 0, "key-file", "F",
                "what lets peal in: pagerduty's integration key, telegram's bot, ntfy",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(request, chat, 0, "chat", "ID", "of telegram: -1001234567890, or @name",
                .field = "chat"),
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
               "failure,lost,recovery (default), late, success, too_long, too_short, overdue",
               .field = "on"),
    OPTION_FLAG(request, is_default, 0, "default", "it hears of all jobs that name no channel",
                .field = "default"),
    OPTION_FLAG(request, no_default, 0, "no-default", "only of those that name it"),
    OPTION_TEXT(request, language, 0, "language", "L", "of the messages: en or zh",
                .field = "language", .choices = languages),
    OPTION_TEXT(request, quiet, 0, "quiet", "D",
                "at most one message of a job and event in so long: 10m", .field = "quiet"),
    OPTION_TEXT(request, group, 0, "group", "D",
                "of many messages those of this time become one: 1m; 0s: never", .field = "group"),
    OPTION_TEXT(request, give_up, 0, "give-up", "D", "how long a message is tried (1h)",
                .field = "give_up"),
    OPTION_TEXT(request, title, 0, "title", "TEXT",
                "of its messages, with fields: '${job} on ${node}: ${state}'; \"\": as usual",
                .field = "title"),
    OPTION_TEXT(request, text, 0, "text", "TEXT", "likewise: '${facts}', '${output}' and others",
                .field = "text"),
    OPTION_TEXT(request, notes, 0, "notes", "TEXT", "what it is for", .field = "notes"),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

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
        code = fill_file(fields, "token", request->token_file);
    if (code == EXIT_OK)
        code = fill_file(fields, "password", request->password_file);
    if (request->no_default)
        json_object_set_new(fields, "default", json_false());
    if (request->no_unencrypted)
        json_object_set_new(fields, "unencrypted", json_false());
    return code;
}

/* Of pagerduty and telegram the agent knows the usual one. */
static bool needs_url(const json_t *channel)
{
    const char *type = answer_text(channel, "type");
    return *type && !json_object_get(channel, "url") && strcmp(type, "pagerduty") != 0 &&
           strcmp(type, "telegram") != 0;
}

static enum exit_code change(struct client *client, const struct request *request)
{
    struct strbuf path;
    struct reply old = {0}, reply = {0};
    if (!json_object_size(request->fields))
        return cli_usage(request->doc.base.command, "set what? --type, --hook, --to, --on ...");
    strbuf_init(&path);
    enum exit_code code = lay_over(client, request, doc_path(&request->doc, "", &path), &old);
    if (code == EXIT_OK && needs_url(old.body)) {
        code = cli_usage(request->doc.base.command,
                         "where to? --hook-file F or --hook URL; of mail --smtp URL");
    } else if (code == EXIT_OK) {
        struct client_request put = {.method = "PUT",
                                     .path = path.text,
                                     .body = old.body,
                                     .if_match = old.status == 404 ? NULL : old.revision,
                                     .if_none_match = old.status == 404};
        code = client_call(client, &put, &reply);
    }
    if (code == EXIT_OK) {
        fprintf(stderr,
                tr(reply.status == 201 ? "%s: made; try it: peal channel test %s"
                                       : "%s: set; try it: peal channel test %s"),
                request->doc.name, request->doc.name);
        fputc('\n', stderr);
    }
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

/* ---- test ---- */

static const char *const events[] = {"failure",  "lost",      "recovery", "late", "success",
                                     "too_long", "too_short", "overdue",  NULL};

static const struct option_row test_options[] = {
    OPTION_TEXT(request, job, 0, "job", "NAME", "as if it were about this job", .field = "job",
                .complete = COMPLETE_JOBS),
    OPTION_TEXT(request, event, 0, "event", "E",
                "failure (default), lost, recovery, late, success, too_long, too_short, overdue",
                .field = "event", .choices = events),
    OPTION_FLAG(request, preview, 0, "preview", "only show title and text, send nothing",
                .field = "preview"),
    OPTION_GROUP(request, doc.base, client_options),
    {0},
};

static enum exit_code tell_test(const struct request *request, const json_t *answer)
{
    const char *name = request->doc.name;
    if (request->preview) {
        printf("%s\n\n%s\n", answer_text(answer, "title"), answer_text(answer, "text"));
        return EXIT_OK;
    }
    if (!json_is_true(json_object_get(answer, "sent"))) {
        cli_error("%s: not sent: %s", name, answer_text(answer, "error"));
        return EXIT_ERROR;
    }
    fprintf(stderr, tr("%s: sent"), name);
    fputc('\n', stderr);
    return EXIT_OK;
}

static enum exit_code test(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply reply = {0};
    struct strbuf rest;
    json_t *body = json_object();
    strbuf_init(&rest);
    strbuf_adds(&rest, "/test?");
    url_options(&rest, test_options, request);
    enum exit_code code =
        doc_call(client, &request->doc, (struct client_request){.method = "POST", .body = body},
                 rest.text, &reply);
    if (code == EXIT_OK)
        code = tell_test(request, reply.body);
    strbuf_release(&rest);
    json_decref(body);
    reply_release(&reply);
    return code;
}

/* ---- log ---- */

static const struct option_row log_options[] = {
    OPTION_NUMBER(request, count, 'n', "count", 1, 1000,
                  "the maximum number of rows, newest first (20)"),
    OPTION_TEXT(request, job, 0, "job", "NAME", "messages about this job", .field = "job",
                .complete = COMPLETE_JOBS),
    OPTION_TEXT(request, state, 0, "state", "S,...", "waiting, held, sent, given_up, muted",
                .field = "state"),
    OPTION_OUTPUT(request, doc.output, OUTPUT_TEXT),
    OPTION_GROUP(request, doc.base, client_options),
    {0},
};

static void print_message_state(const json_t *message, struct strbuf *out)
{
    strbuf_adds(out, message_state_word(answer_text(message, "state")));
}

static void print_message_event(const json_t *message, struct strbuf *out)
{
    strbuf_adds(out, event_word(answer_text(message, "event")));
}

/* Since the agent started; one that waits may have been tried before. */
static void print_message_answer(const json_t *message, struct strbuf *out)
{
    int64_t next_ms = answer_time(message, "next_try_at");
    strbuf_adds(out, answer_text(message, "answer"));
    if (next_ms == NO_TIME)
        return;
    strbuf_addf(out, "%s%s", out->length ? ", " : "", tr("next try"));
    strbuf_addc(out, ' ');
    when_print_in(next_ms, now_ms(), out);
}

static enum exit_code show_log(struct client *client, void *place)
{
    const struct request *request = place;
    static const struct list_column columns[] = {
        COLUMN("AT", "made_at", .form = COLUMN_TIME),
        COLUMN("CHANNEL", "channel"),
        COLUMN("JOB", "job"),
        COLUMN_BY("EVENT", print_message_event),
        COLUMN_BY("STATE", print_message_state),
        COLUMN("TRIES", "tries", .form = COLUMN_NUMBER),
        COLUMN("NODE", "node"),
        COLUMN_BY("ANSWER", print_message_answer),
        COLUMN("ENDED", "ended_at", .form = COLUMN_TIME, .is_wide = true),
        COLUMN("RUN", "run", .is_wide = true),
        {0},
    };
    static const struct list_form log_form = {
        .name = "id", .columns = columns, .none = "no messages"};
    struct strbuf base, path;
    json_t *messages = NULL;
    strbuf_init(&base);
    strbuf_init(&path);
    if (request->doc.name)
        doc_path(&request->doc, "/messages?", &base);
    else
        strbuf_adds(&base, "/messages?");
    enum exit_code code = url_query(client, base.text, log_options, request, NULL, &path);
    if (code == EXIT_OK)
        code = client_list(client, path.text, (size_t)request->count, &messages);
    if (code == EXIT_OK)
        code = list_print(messages, request->doc.output, &log_form);
    json_decref(messages);
    strbuf_release(&base);
    strbuf_release(&path);
    return code;
}

/* ---- the command ---- */

static void print_jobs(const json_t *channel, struct strbuf *out)
{
    strbuf_adds(out, tr(json_is_true(json_object_get(channel, "default")) ? "all" : "named"));
}

/* Of the last attempt, if it failed. */
static void print_error(const json_t *channel, struct strbuf *out)
{
    const json_t *delivery = json_object_get(channel, "delivery");
    if (answer_time(delivery, "last_failed_at") > answer_time(delivery, "last_sent_at"))
        strbuf_adds(out, answer_text(delivery, "last_error"));
}

static const struct doc_form form = {
    .noun = "channel",
    .list = {.name = "name",
             .columns =
                 (const struct list_column[]){
                     COLUMN("NAME", "name"),
                     COLUMN("TYPE", "type"),
                     COLUMN_BY("JOBS", print_jobs),
                     COLUMN("SENT", "delivery.sent", .form = COLUMN_NUMBER),
                     COLUMN("WAITING", "delivery.waiting", .form = COLUMN_NUMBER),
                     COLUMN("GIVEN UP", "delivery.given_up", .form = COLUMN_NUMBER),
                     COLUMN("LAST SENT", "delivery.last_sent_at", .form = COLUMN_TIME),
                     COLUMN_BY("ERROR", print_error),
                     {0},
                 },
             .none = "no channels; make one: peal channel set NAME --type slack --hook-file FILE"},
    .deleted_too = TR(", and what waits for it"),
};

static const struct option_row name[] = {
    ARGUMENT(request, doc.name, "NAME", .complete = COMPLETE_CHANNELS),
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
        .documents = &form,
    },
    {
        .name = "channel test",
        .summary = "sends a sample now; exit status 1: it did not arrive",
        .arguments = name,
        .options = test_options,
        .wrong_count = "name one channel",
        .with_agent = test,
        .documents = &form,
    },
    {
        .name = "channel log",
        .summary = "what became of messages: those that wait, and the last ones of each node",
        .arguments = ROWS(ARGUMENT(request, doc.name, "NAME", .is_optional = true,
                                   .complete = COMPLETE_CHANNELS)),
        .options = log_options,
        .too_many = "name one channel",
        .with_agent = show_log,
        .defaults = &(const struct request){.count = LIST_COUNT_DEFAULT},
        .documents = &form,
    },
    DOC_LIST(&form, "channel", "all channels"),
    DOC_SHOW(&form, "channel", name, "one channel, without its secrets"),
    DOC_DELETE(&form, "channel", name, "delete a channel; exit status 4: jobs name it"),
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
        {"peal channel set pager --type pagerduty --key-file key.txt", NULL},
        {"peal channel set ops --quiet 10m --on failure,lost,recovery,late", NULL},
        {"peal channel test ops", NULL}, {"peal channel log ops --state waiting,given_up", NULL},
        {"peal add backup '30 2 * * *' --notify ops -- /usr/local/bin/backup", NULL}),
    .more = "docs/NOTIFY.md has an example of each type, and what is promised.",
    .options = client_options,
    .too_few = "what about channels? peal channel list, show, set, test, log or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
