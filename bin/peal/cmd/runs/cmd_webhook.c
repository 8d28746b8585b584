/* peal webhook: requests of other programs that run a job. */
#include <stdio.h>
#include <string.h>

#include "client/account_args.h"
#include "client/body.h"
#include "client/documents.h"
#include "text/tr.h"

struct request {
    struct doc_request doc; /* its name: that of the job */
    const char *kind, *rate, *secret_file;
};

static const char *const kinds[] = {"github", "gitlab", "generic", NULL};

/* ---- what is sent ---- */

static enum exit_code fill_secret(const struct request *request, json_t *body)
{
    struct strbuf secret;
    if (!request->secret_file)
        return EXIT_OK;
    strbuf_init(&secret);
    enum exit_code code = password_read(request->secret_file, "", false, &secret);
    if (code == EXIT_OK && json_object_set_new(body, "secret", json_string(secret.text)) != 0) {
        cli_error("the secret is not UTF-8 text");
        code = EXIT_INVALID;
    }
    if (secret.length)
        explicit_bzero(secret.text, secret.length);
    strbuf_release(&secret);
    return code;
}

static enum exit_code call_webhook(struct client *client, const struct request *request,
                                   const char *method, const char *rest, const json_t *body,
                                   struct reply *ret)
{
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = client_call(
        client,
        &(struct client_request){
            .method = method, .path = job_path(&path, request->doc.name, rest), .body = body},
        ret);
    strbuf_release(&path);
    return code;
}

/* ---- create, rotate ---- */

/* The URL and the secret are lines of stdout, for programs. */
static enum exit_code tell_secret(const struct request *request, const json_t *hook)
{
    const char *url = answer_text(hook, "url");
    enum exit_code code = EXIT_OK;
    if (request->doc.output >= OUTPUT_JSON && request->doc.output != OUTPUT_NAME)
        code = output_print(hook, request->doc.output);
    else
        printf("%s\n%s\n", *url ? url : answer_text(hook, "path"), answer_text(hook, "secret"));
    if (!*url) {
        fprintf(stderr,
                tr("the agent listens on no address that others reach; below its address the path "
                   "is %s"),
                answer_text(hook, "path"));
        fputc('\n', stderr);
    }
    fprintf(stderr,
            tr("Keep the secret: it is not shown again. Another one: peal webhook rotate %s"),
            request->doc.name);
    fputc('\n', stderr);
    return code;
}

static enum exit_code make(struct client *client, const struct request *request, const char *rest)
{
    struct reply reply = {0};
    json_t *body = json_pack("{s:s*, s:s*}", "kind", request->kind, "rate", request->rate);
    enum exit_code code = body ? fill_secret(request, body) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = call_webhook(client, request, "POST", rest, body, &reply);
    if (code == EXIT_OK)
        code = tell_secret(request, reply.body);
    json_decref(body);
    reply_release(&reply);
    return code;
}

static enum exit_code create(struct client *client, void *place)
{
    return make(client, place, "/webhook");
}

static enum exit_code rotate(struct client *client, void *place)
{
    return make(client, place, "/webhook/rotate");
}

/* ---- set, delete ---- */

static enum exit_code change(struct client *client, const struct request *request,
                             const char *method, const json_t *body, const char *what)
{
    struct reply reply = {0};
    enum exit_code code = call_webhook(client, request, method, "/webhook", body, &reply);
    if (code == EXIT_OK) {
        fprintf(stderr, tr("%s: %s"), request->doc.name, tr(what));
        fputc('\n', stderr);
    }
    reply_release(&reply);
    return code;
}

static enum exit_code set(struct client *client, void *place)
{
    const struct request *request = place;
    if (!request->kind && !request->rate)
        return cli_usage(request->doc.base.command, "what is to change? Give --kind or --rate");
    json_t *body = json_pack("{s:s*, s:s*}", "kind", request->kind, "rate", request->rate);
    enum exit_code code =
        body ? change(client, request, "PATCH", body, TR("webhook changed")) : cli_fail(E_NOMEM);
    json_decref(body);
    return code;
}

static enum exit_code delete_one(struct client *client, void *place)
{
    const struct request *request = place;
    enum exit_code code =
        confirm_deletion(request->doc.yes, "Delete the webhook of %s?", request->doc.name);
    return code == EXIT_OK ? change(client, request, "DELETE", NULL, TR("webhook deleted")) : code;
}

/* ---- the command ---- */

static const struct doc_form form = {
    .noun = "webhook",
    .list = {.name = "job",
             .columns =
                 (const struct list_column[]){
                     COLUMN("JOB", "job"),
                     COLUMN("KIND", "kind"),
                     COLUMN("RATE", "rate"),
                     COLUMN("PATH", "path"),
                     COLUMN("LAST", "last_at", .form = COLUMN_TIME),
                     COLUMN("MADE BY", "created_by"),
                     {0},
                 },
             .none = "no webhooks; make one: peal webhook create JOB --kind github"},
};

static const struct option_row job[] = {
    ARGUMENT(request, doc.name, "JOB", .complete = COMPLETE_JOBS),
    {0},
};

static const struct option_row create_options[] = {
    OPTION_WORD(request, kind, 0, "kind", "K", kinds,
                "who sends: github (also Gitea, Forgejo), gitlab, or generic (Standard Webhooks; "
                "default)"),
    OPTION_TEXT(request, rate, 0, "rate", "N/U",
                "how many requests it takes: 30/m (default), 2/s, 100/h"),
    OPTION_TEXT(request, secret_file, 0, "secret-file", "F",
                "a file whose first line is the secret; - is stdin (default: a random one is made)",
                .complete = COMPLETE_FILES),
    OPTION_OUTPUT(request, doc.output, OUTPUT_TEXT),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

static const struct option_row set_options[] = {
    OPTION_WORD(request, kind, 0, "kind", "K", kinds, "github, gitlab or generic"),
    OPTION_TEXT(request, rate, 0, "rate", "N/U", "how many requests it takes"),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

static const struct option_row rotate_options[] = {
    OPTION_TEXT(request, secret_file, 0, "secret-file", "F",
                "a file whose first line is the secret; - is stdin (default: a random one is made)",
                .complete = COMPLETE_FILES),
    OPTION_OUTPUT(request, doc.output, OUTPUT_TEXT),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "webhook create",
        .summary = "make one: prints its URL and its secret",
        .notes = "create prints the URL, and below it the secret, this once. Whoever has both runs "
                 "the job, and sends it a body: it is the file $PEAL_INPUT of the run.",
        .arguments = job,
        .options = create_options,
        .wrong_count = ONE_JOB,
        .with_agent = create,
    },
    {
        .name = "webhook set",
        .summary = "change kind or rate",
        .arguments = job,
        .options = set_options,
        .wrong_count = ONE_JOB,
        .with_agent = set,
    },
    {
        .name = "webhook rotate",
        .summary = "make another secret; the one before ends now",
        .arguments = job,
        .options = rotate_options,
        .wrong_count = ONE_JOB,
        .with_agent = rotate,
    },
    DOC_LIST(&form, "webhook", "webhooks of all jobs"),
    {
        .name = "webhook delete",
        .summary = "end it: its URL answers nobody any more",
        .arguments = job,
        .options = doc_delete_options,
        .wrong_count = ONE_JOB,
        .with_agent = delete_one,
    },
    {0},
};

const struct command cmd_webhook = {
    .name = "webhook",
    .summary = "requests of other programs that run a job",
    .examples = EXAMPLES({"peal webhook create deploy --kind github", NULL},
                         {"peal webhook rotate deploy", NULL}, {"peal webhook list", NULL}),
    .more = "docs/JOBS.md says what senders sign, and what a run finds.",
    .options = client_options,
    .too_few = "what about webhooks? peal webhook create, set, rotate, list or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
