/* Webhooks of jobs: made, shown, changed and deleted by people. Their secret is in the answer that
 * has made it, and in no other. */
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "hooks/hooks.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "params/run_body.h"
#include "params/run_input.h"
#include "runs/encode.h"
#include "server.h"

#define DEFAULT_RATE "30/m"

struct hook_edit {
    struct webhook hook; /* as it is to be; of a delete: as it was */
    char job_name[JOB_NAME_SIZE];
    struct id job_uid;
    enum change_action action;
    bool has_new_secret;
    char *json; /* NULL: a delete */
    struct store_put_doc put;
};

static void release_edit(void *state)
{
    struct hook_edit *edit = state;
    if (edit->json)
        OPENSSL_cleanse(edit->json, strlen(edit->json));
    free(edit->json);
    OPENSSL_cleanse(edit->hook.secret, sizeof(edit->hook.secret));
}

/* ---- showing ---- */

/* Where senders reach it: at the address that the client uses, else at the agent's first one. */
static json_t *hook_url(const struct call *call, const char *uid)
{
    struct strbuf url;
    strbuf_init(&url);
    bool is_known = call->listener->is_tcp && *call->host;
    if (is_known)
        strbuf_addf(&url, "%s://%s", call->is_secure ? "https" : "http", call->host);
    else
        is_known = entry_url(call->api, &url);
    strbuf_addf(&url, HOOKS_PATH "%s", uid);
    json_t *text = is_known ? json_words(url.text) : json_null();
    strbuf_release(&url);
    return text;
}

static json_t *encode(const struct call *call, const struct webhook *hook, const char *job_name)
{
    char rate[16], path[sizeof(HOOKS_PATH) + ID_TEXT];
    hook_rate_print(&hook->rate, rate, sizeof(rate));
    snprintf(path, sizeof(path), HOOKS_PATH "%s", hook->uid);
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I}", "job",
                     json_words(job_name), "uid", hook->uid, "kind", webhook_kind_names[hook->kind],
                     "rate", rate, "path", path, "url", hook_url(call, hook->uid), "created_at",
                     json_time(hook->created_ms), "created_by", json_words_or_null(hook->by),
                     "rotated_at", json_time(hook->rotated_ms), "last_at", json_time(hook->last_ms),
                     "deliveries", (json_int_t)webhooks_count(&call->api->webhooks, hook->uid));
}

/* The webhook of the job in the path; NULL: the call has failed. */
static struct webhook *path_hook(struct call *call, const struct catalog_job *job)
{
    char uid[ID_TEXT + 1];
    if (!job)
        return NULL;
    id_format(&job->uid, uid);
    struct webhook *hook = webhooks_find(&call->api->webhooks, uid);
    if (!hook)
        call_fail(call, 404, "\"%s\" has no webhook; make one: peal webhook create", job->name);
    return hook;
}

void get_webhook(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    const struct webhook *hook = path_hook(call, job);
    if (hook)
        call_reply(call, 200, encode(call, hook, job->name));
}

struct hook_list {
    const struct call *call;
    json_t *items;
};

static bool add_hook(void *context, const struct catalog_job *job)
{
    struct hook_list *list = context;
    char uid[ID_TEXT + 1];
    id_format(&job->uid, uid);
    const struct webhook *hook = webhooks_find(&list->call->api->webhooks, uid);
    if (hook)
        json_array_append_new(list->items, encode(list->call, hook, job->name));
    return json_array_size(list->items) < list->call->api->webhooks.by_uid.count;
}

void list_webhooks(struct call *call)
{
    struct hook_list list = {.call = call, .items = json_array()};
    if (list.items && call->api->webhooks.by_uid.count)
        call_each_job(call, NULL, false, add_hook, &list);
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", list.items, "next"));
}

/* ---- editing ---- */

static void reply_edit(struct call *call)
{
    const struct hook_edit *edit = call->state;
    int status = edit->action == CHANGE_WEBHOOK_CREATE ? 201 : 200;
    json_t *value = encode(call, &edit->hook, edit->job_name);
    if (edit->has_new_secret) { /* shown this once */
        json_object_set_new(value, "secret", json_null());
        idempotency_keep_instead(call, status, value);
        if (json_object_set_new(value, "secret", json_string(edit->hook.secret)) != 0) {
            json_decref(value);
            value = NULL;
        }
    }
    call_reply(call, status, value);
}

static void put_done(struct call *call)
{
    struct hook_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    if (edit->put.result != PUT_OK) {
        call_fail(call, 409, "\"%s\" was changed meanwhile; read it again", edit->job_name);
        return;
    }
    note_job(call, edit->action,
             &(struct noted_job){.uid = &edit->job_uid, .name = edit->job_name});
    note_detail(call, "%s", webhook_kind_names[edit->hook.kind]);
    note_write(call, reply_edit);
}

/* NULL: the call has failed. `hook` NULL: there is none yet. */
static struct hook_edit *begin_edit(struct call *call, const struct catalog_job *job,
                                    const struct webhook *hook, enum change_action action)
{
    struct hook_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit)
        return NULL;
    edit->action = action;
    edit->job_uid = job->uid;
    snprintf(edit->job_name, sizeof(edit->job_name), "%s", job->name);
    if (hook)
        edit->hook = *hook;
    else
        id_format(&job->uid, edit->hook.uid);
    return edit;
}

static void submit(struct call *call)
{
    struct hook_edit *edit = call->state;
    bool is_delete = edit->action == CHANGE_WEBHOOK_DELETE;
    edit->json = is_delete ? NULL : webhook_encode(&edit->hook);
    if (!edit->json && !is_delete) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put =
        (struct store_put_doc){.json = edit->json, .expected_revision = edit->hook.revision};
    doc_name(&edit->put, WEBHOOK_DOC, edit->hook.uid);
    call_submit(call, STORE_PUT_DOC, &edit->put, 1, put_done);
}

/* The secret of the body, or 32 random bytes. False: the call has failed. */
static bool new_secret(struct call *call, struct hook_edit *edit)
{
    const struct entropy *entropy = &call->api->ports.entropy;
    const json_t *given = json_object_get(call->body, "secret");
    const char *text = json_string_value(given);
    unsigned char bytes[WEBHOOK_SECRET_BYTES];
    edit->has_new_secret = true;
    edit->hook.rotated_ms = call->now_ms;
    if (given && !json_is_null(given)) {
        size_t length = text ? strlen(text) : 0;
        if (length < WEBHOOK_SECRET_MIN || length > WEBHOOK_SECRET_MAX) {
            call_fail_at(call, "/secret", "secret: expected a text of %d to %d bytes",
                         WEBHOOK_SECRET_MIN, WEBHOOK_SECRET_MAX);
            return false;
        }
        snprintf(edit->hook.secret, sizeof(edit->hook.secret), "%s", text);
        return true;
    }
    entropy->fill(entropy->context, bytes, sizeof(bytes));
    char *encoded = run_body_base64(bytes, sizeof(bytes));
    OPENSSL_cleanse(bytes, sizeof(bytes));
    if (!encoded) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    snprintf(edit->hook.secret, sizeof(edit->hook.secret), "whsec_%s", encoded);
    OPENSSL_cleanse(encoded, strlen(encoded));
    free(encoded);
    return true;
}

/* Kind and rate of the body over those that it has. False: the call has failed. */
static bool read_fields(struct call *call, struct webhook *hook)
{
    const json_t *kind = json_object_get(call->body, "kind");
    const json_t *rate = json_object_get(call->body, "rate");
    const char *word = json_string_value(kind), *text = json_string_value(rate);
    int at = 0;
    while (kind && at < WEBHOOK_KINDS && (!word || strcmp(webhook_kind_names[at], word) != 0))
        at++;
    if (at == WEBHOOK_KINDS)
        call_fail_word(call, "/kind", word ? word : "", "github,gitlab,generic",
                       "kind: expected github, gitlab or generic");
    else if (rate && (!text || !hook_rate_parse(text, &hook->rate)))
        call_fail_at(call, "/rate",
                     "rate: expected a number from 1 to 6000 and /s, /m or /h, like 30/m");
    else {
        hook->kind = kind ? (enum webhook_kind)at : hook->kind;
        return true;
    }
    return false;
}

/* A run of the job must be able to have a body. */
static bool check_job(struct call *call, const struct catalog_job *job)
{
    struct input_error why = {0};
    struct job *definition = stored_job(call, job);
    if (!definition)
        return false;
    enum status st = input_check_body(definition, &why);
    job_free(definition);
    return call_fail_input(call, st, &why);
}

void add_webhook(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    struct hook_edit *edit = job ? begin_edit(call, job, NULL, CHANGE_WEBHOOK_CREATE) : NULL;
    if (!edit)
        return;
    struct webhook *hook = &edit->hook;
    if (webhooks_find(&call->api->webhooks, hook->uid)) {
        call_fail(call, 409, "\"%s\" has a webhook already; another secret: peal webhook rotate",
                  job->name);
        return;
    }
    (void)hook_rate_parse(DEFAULT_RATE, &hook->rate);
    hook->kind = WEBHOOK_GENERIC;
    hook->created_ms = call->now_ms;
    snprintf(hook->by, sizeof(hook->by), "%s", call->principal.name);
    if (check_job(call, job) && read_fields(call, hook) && new_secret(call, edit))
        submit(call);
}

void change_webhook(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    const struct webhook *hook = path_hook(call, job);
    struct hook_edit *edit = hook ? begin_edit(call, job, hook, CHANGE_WEBHOOK_CHANGE) : NULL;
    if (edit && read_fields(call, &edit->hook))
        submit(call);
}

void rotate_webhook(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    const struct webhook *hook = path_hook(call, job);
    struct hook_edit *edit = hook ? begin_edit(call, job, hook, CHANGE_WEBHOOK_ROTATE) : NULL;
    if (edit && new_secret(call, edit))
        submit(call);
}

void delete_webhook(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    const struct webhook *hook = path_hook(call, job);
    if (hook && begin_edit(call, job, hook, CHANGE_WEBHOOK_DELETE))
        submit(call);
}
