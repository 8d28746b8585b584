/* Channels: everybody sees names and types; admins see all but secrets, and change them. */
#include "documents/channels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_fields.h"
#include "document/node.h"
#include "documents/documents.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "notifier.h"
#include "runs/encode.h"
#include "server.h"

enum {
    NEAREST_MAX = 100, /* channels that a mistyped name is compared with */
};

/* ---- the feed, and channels of jobs ---- */

void channels_take(struct api *api, const struct store_change *change)
{
    const struct store_doc *doc = change->doc;
    if (!api->ports.notifier)
        return;
    if (change->kind == STORE_CHANGE_LOADED)
        notifier_go_live(api->ports.notifier);
    else if (change->kind == STORE_CHANGE_DOC && strcmp(doc->kind, CHANNEL_DOC) == 0)
        notifier_take_channel(api->ports.notifier, doc->name, doc->json, doc->revision);
}

static const char *nearest(const struct notifier *notifier, const char *name)
{
    const char *names[NEAREST_MAX + 1] = {0};
    const struct channel *channel = notifier_next_channel(notifier, NULL);
    for (size_t i = 0; channel && i < NEAREST_MAX; i++) {
        names[i] = channel->name;
        channel = notifier_next_channel(notifier, channel->name);
    }
    return word_nearest(names, name);
}

/* The JSON pointer of the i-th name: /notify or /notify/to, each one name or a list. */
static void point(const struct node *definition, size_t i, struct job_error *error)
{
    const struct node *notify = node_get(definition, "notify");
    bool is_map = notify && notify->kind == NODE_MAP;
    const struct node *to = is_map ? node_get(notify, "to") : notify;
    int length = snprintf(error->path, sizeof(error->path), "/notify%s", is_map ? "/to" : "");
    if (to && to->kind == NODE_LIST)
        snprintf(error->path + length, sizeof(error->path) - (size_t)length, "/%zu", i);
}

enum status channels_check(const struct call *call, const struct node *definition,
                           const struct job *job, struct job_error *reterr)
{
    const struct notifier *notifier = call->api->ports.notifier;
    for (size_t i = 0; job->notify.to && job->notify.to[i]; i++) {
        const char *name = job->notify.to[i];
        if ((notifier && notifier_channel(notifier, name)) || call_assumes(call, "channels", name))
            continue;
        const char *near = notifier ? nearest(notifier, name) : NULL;
        *reterr = (struct job_error){0};
        point(definition, i, reterr);
        if (near) {
            snprintf(reterr->message, sizeof(reterr->message),
                     "notify: there is no channel \"%s\"; did you mean \"%s\"?", name, near);
            snprintf(reterr->hint, sizeof(reterr->hint), "did you mean \"%s\"?", near);
        } else {
            snprintf(reterr->message, sizeof(reterr->message),
                     "notify: there is no channel \"%s\"; make one: peal channel set", name);
        }
        return E_INVALID;
    }
    return OK;
}

/* ---- showing ---- */

static bool is_admin(const struct call *call)
{
    return scope_may(&call->principal.scope, RIGHT_ADMIN, NULL);
}

static json_t *encode_stats(const struct call *call, const char *name)
{
    struct channel_stats stats;
    notifier_stats(call->api->ports.notifier, name, &stats);
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "node",
                     call->api->node, "state", channel_state(&stats), "sent",
                     (json_int_t)stats.sent, "failed", (json_int_t)stats.failed, "given_up",
                     (json_int_t)stats.given_up, "muted", (json_int_t)stats.muted, "waiting",
                     (json_int_t)stats.waiting, "held", (json_int_t)stats.held, "last_sent_at",
                     json_time(stats.sent_ms), "last_failed_at", json_time(stats.failed_ms),
                     "failing_since", json_time(stats.failing_ms), "last_error",
                     json_words_or_null(stats.error));
}

/* Removes what only admins may see, such as addresses. */
static void hide(json_t *value)
{
    static const char *const shown[] = {"type", "on", "default", "language", "notes", NULL};
    const char *name;
    json_t *member;
    void *next;
    json_object_foreach_safe(value, next, name, member)
    {
        size_t i = 0;
        while (shown[i] && strcmp(shown[i], name) != 0)
            i++;
        if (!shown[i])
            json_object_del(value, name);
    }
}

static json_t *encode_channel(const struct call *call, const void *item)
{
    const struct channel *channel = item;
    json_t *value = channel_encode(channel, true);
    if (value && !is_admin(call))
        hide(value);
    if (!value || json_object_set_new(value, "name", json_string(channel->name)) != 0 ||
        json_object_set_new(value, "revision", json_integer(channel->revision)) != 0 ||
        (is_admin(call) &&
         json_object_set_new(value, "delivery", encode_stats(call, channel->name)) != 0)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

/* False: the call has failed. */
static bool has_notifier(struct call *call)
{
    if (call->api->ports.notifier)
        return true;
    call_fail(call, 503, "this agent sends no messages");
    return false;
}

static const void *find(const struct call *call, const char *name)
{
    return notifier_channel(call->api->ports.notifier, name);
}

void list_channels(struct call *call)
{
    const struct notifier *notifier = call->api->ports.notifier;
    if (!has_notifier(call))
        return;
    json_t *items = json_array();
    const struct channel *channel = notifier_next_channel(notifier, NULL);
    for (; channel; channel = notifier_next_channel(notifier, channel->name))
        json_array_append_new(items, encode_channel(call, channel));
    doc_reply_items(call, items);
}

/* ---- writing ---- */

struct channel_edit {
    struct doc_edit doc;
    struct channel *channel;   /* the new channel; the old one for a delete */
    char after[JOB_NAME_SIZE]; /* delete: the last job that was checked */
    json_t *users;             /* names of jobs that use the channel */
    bool has_more;
};

static void release_edit(void *state)
{
    struct channel_edit *edit = state;
    channel_free(edit->channel);
    json_decref(edit->users);
}

/* The names of changed fields, "url, secret"; not the values, which may be secret. */
static char *changed_fields(const json_t *old, const json_t *new)
{
    struct strbuf names;
    const char *name;
    json_t *value;
    strbuf_init(&names);
    json_object_foreach ((json_t *)new, name, value) {
        if (!json_equal(value, json_object_get(old, name)))
            strbuf_addf(&names, "%s%s", names.length ? ", " : "", name);
    }
    json_object_foreach ((json_t *)old, name, value) {
        if (!json_object_get(new, name))
            strbuf_addf(&names, "%s%s", names.length ? ", " : "", name);
    }
    return strbuf_detach(&names);
}

/* Ignores read-only fields, which a client may send back. */
static void drop_shown(json_t *body)
{
    json_object_del(body, "name");
    json_object_del(body, "revision");
    json_object_del(body, "delivery");
}

/* Decodes the body. NULL: the call has failed. */
static struct channel *read_channel(struct call *call, const struct channel *old)
{
    struct channel *channel = NULL;
    struct job_error error = {0};
    if (channel_name_complaint(call->argument)) {
        call_fail(call, 422,
                  "the name of a channel has at most 63 letters, digits and . _ -, and starts with "
                  "a letter or a digit");
        return NULL;
    }
    drop_shown(call->body);
    enum status st = channel_decode(call->argument, call->body, old, &channel, &error);
    return call_check(call, st, &error) ? channel : NULL;
}

/* False: the call has failed. */
static bool prepare_put(struct call *call, const struct channel *old)
{
    struct channel_edit *edit = call->state;
    struct channel *channel = read_channel(call, old);
    if (!channel)
        return false;
    edit->channel = channel;
    json_t *before = old ? channel_encode(old, false) : NULL;
    json_t *after = channel_encode(channel, false);
    edit->doc.is_same = before && after && json_equal(before, after);
    edit->doc.json = after ? json_dumps(after, JSON_COMPACT) : NULL;
    edit->doc.detail = changed_fields(before, after);
    json_decref(before);
    json_decref(after);
    return true;
}

/* Copies the channel for the reply. False: the call has failed. */
static bool prepare_delete(struct call *call, const struct channel *old)
{
    struct channel_edit *edit = call->state;
    struct job_error error;
    json_t *whole = channel_encode(old, false);
    json_decref(edit->users);
    edit->users = json_array();
    edit->after[0] = '\0';
    enum status st = whole && edit->users
                         ? channel_decode(old->name, whole, NULL, &edit->channel, &error)
                         : E_NOMEM;
    json_decref(whole);
    if (st != OK)
        call_fail(call, 500, "out of memory");
    return st == OK;
}

static bool prepare(struct call *call, const void *item)
{
    struct channel_edit *edit = call->state;
    edit->channel = channel_free(edit->channel);
    return edit->doc.action == DOC_DELETE ? prepare_delete(call, item) : prepare_put(call, item);
}

static void reply(struct call *call, int status)
{
    const struct channel_edit *edit = call->state;
    bool is_delete = edit->doc.action == DOC_DELETE;
    edit->channel->revision = is_delete ? edit->doc.revision : edit->doc.put.revision;
    call->revision = edit->channel->revision;
    call_reply(call, status, encode_channel(call, edit->channel));
}

/* ---- deleting: only if no job uses the channel ---- */

enum { SLICE = 2000, USERS_SHOWN = 10 };

struct user_search {
    struct channel_edit *edit;
    size_t visited;
};

static bool names_channel(const struct catalog_job *stored, const char *channel)
{
    struct job *job = NULL;
    struct job_error error;
    bool is_named = false;
    if (!strstr(stored->json, "\"notify\":") ||
        job_decode_stored(stored->json, NULL, &job, &error) != OK)
        return false;
    for (size_t i = 0; job->notify.to && job->notify.to[i]; i++)
        is_named |= strcmp(job->notify.to[i], channel) == 0;
    job_free(job);
    return is_named;
}

static bool visit(void *context, const struct catalog_job *job)
{
    struct user_search *search = context;
    struct channel_edit *edit = search->edit;
    snprintf(edit->after, sizeof(edit->after), "%s", job->name);
    if (names_channel(job, edit->channel->name)) {
        if (json_array_size(edit->users) == USERS_SHOWN) {
            edit->has_more = true;
            return false;
        }
        json_array_append_new(edit->users, json_string(job->name));
    }
    return ++search->visited < SLICE;
}

static void fail_in_use(struct call *call)
{
    struct channel_edit *edit = call->state;
    struct strbuf names;
    size_t i;
    json_t *name;
    strbuf_init(&names);
    json_array_foreach (edit->users, i, name) {
        strbuf_addf(&names, "%s%s", i ? ", " : "", json_string_value(name));
    }
    call_fail_with(call, 409, json_pack("{s:O}", "jobs", edit->users),
                   edit->has_more ? "\"%s\" is named by %s and more jobs; change those first"
                                  : "\"%s\" is named by %s; change that first",
                   call->argument, names.text);
    strbuf_release(&names);
}

static void search_users(struct call *call)
{
    struct channel_edit *edit = call->state;
    struct user_search search = {.edit = edit};
    catalog_each(engine_catalog(call->api->ports.engine), *edit->after ? edit->after : NULL, false,
                 visit, &search);
    if (search.visited >= SLICE && !edit->has_more)
        call_later(call, search_users);
    else if (json_array_size(edit->users))
        fail_in_use(call);
    else
        doc_submit(call);
}

static void ready(struct call *call)
{
    const struct channel_edit *edit = call->state;
    if (edit->doc.action == DOC_DELETE)
        search_users(call);
    else
        doc_submit(call);
}

const struct doc_kind channel_docs = {
    .name = CHANNEL_DOC,
    .target = TARGET_CHANNEL,
    .created = CHANGE_CHANNEL_CREATE,
    .changed = CHANGE_CHANNEL_CHANGE,
    .deleted = CHANGE_CHANNEL_DELETE,
    .has_revision = true,
    .edit_size = sizeof(struct channel_edit),
    .revision_at = offsetof(struct channel, revision),
    .may = has_notifier,
    .find = find,
    .show = encode_channel,
    .prepare = prepare,
    .ready = ready,
    .reply = reply,
    .release = release_edit,
};

/* ---- test messages ---- */

struct channel_test {
    struct channel *channel; /* from the body; NULL: tests the stored one */
    struct job *job;         /* that the message is about; NULL: one of peal's own */
    struct strbuf title, text;
    bool was_sent;
    char *why; /* error; NULL: sent */
};

static void release_test(void *state)
{
    struct channel_test *test = state;
    channel_free(test->channel);
    job_free(test->job);
    strbuf_release(&test->title);
    strbuf_release(&test->text);
    free(test->why);
}

static void reply_test(struct call *call)
{
    const struct channel_test *test = call->state;
    call_reply(call, 200,
               json_pack("{s:b, s:o, s:o, s:o}", "sent", test->was_sent, "error",
                         json_words_or_null(test->why ? test->why : ""), "title",
                         json_words(test->title.text), "text", json_words(test->text.text)));
}

static void tried(void *context, const struct outcome *outcome)
{
    struct call *call = context;
    struct channel_test *test = call->state;
    test->was_sent = outcome->verdict == VERDICT_SENT;
    test->why = test->was_sent ? NULL : strdup(outcome->answer);
    call_answer(call, OK);
}

/* The event and the job of the query. False: the call has failed. */
static bool read_about(struct call *call, struct channel_test *test, struct sample_about *ret)
{
    const char *event = query_get(&call->query, "event"), *name = query_get(&call->query, "job");
    *ret = (struct sample_about){.event = NOTIFY_FAILURE};
    if (event && !notice_event_by_name(event, &ret->event)) {
        call_fail_word(call, "?event", event, NOTIFY_EVENT_WORDS,
                       "%s: there is no event \"%s\"; known: %s", "event", event,
                       NOTIFY_EVENT_WORDS);
        return false;
    }
    if (!name || !*name)
        return true;
    const struct catalog_job *job = catalog_by_name(engine_catalog(call->api->ports.engine), name);
    if (!job) {
        fail_no_job(call, name);
        return false;
    }
    test->job = stored_job(call, job);
    if (!test->job)
        return false;
    ret->job = test->job->name;
    ret->timezone = test->job->timezone;
    ret->notify = &test->job->notify;
    return true;
}

/* Tests the stored channel, or one from the body that need not be stored yet; or only shows what
 * would be sent. */
void test_channel(struct call *call)
{
    struct notifier *notifier = call->api->ports.notifier;
    struct channel_test *test =
        has_notifier(call) ? call_state(call, sizeof(*test), release_test) : NULL;
    if (!test)
        return;
    const struct channel *channel = notifier_channel(notifier, call->argument);
    if (!json_is_object(call->body) || json_object_size(call->body)) {
        struct channel *read = read_channel(call, channel);
        if (!read)
            return;
        channel = test->channel = read;
    } else if (!channel) {
        fail_missing(call, 404, CHANNEL_DOC);
        return;
    }
    strbuf_init(&test->title);
    strbuf_init(&test->text);
    struct sample_about about;
    bool is_preview = false;
    if (!read_about(call, test, &about) || !param_bool(call, "preview", &is_preview))
        return;
    if (notifier_preview(notifier, channel, &about, call->now_ms, &test->title, &test->text) !=
        OK) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (is_preview) {
        reply_test(call);
        return;
    }
    call_wait(call, reply_test);
    if (notifier_try(notifier, channel, &about, call->now_ms, tried, call) != OK) {
        test->why = strdup("out of memory");
        call_answer(call, OK);
    }
}

/* ---- metrics ---- */

static void print_pings(const struct notifier *notifier, struct strbuf *out)
{
    struct ping_stats stats = notifier_ping_stats(notifier);
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } metrics[] = {
        {"peal_pings_sent_total", "counter", "Pings that this node has sent.", stats.sent},
        {"peal_pings_failed_total", "counter", "Attempts of this node to ping that failed.",
         stats.failed},
        {"peal_pings_given_up_total", "counter", "Pings that this node has given up.",
         stats.given_up},
        {"peal_pings_waiting", "gauge", "Pings that wait on this node.", stats.waiting},
    };
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", metrics[i].name,
                    metrics[i].help, metrics[i].name, metrics[i].type, metrics[i].name,
                    metrics[i].value);
}

void channels_print_metrics(const struct api *api, struct strbuf *out)
{
    static const struct {
        const char *name, *type, *help;
    } metrics[] = {
        {"peal_notifications_sent_total", "counter",
         "Messages that this node has sent, by channel."},
        {"peal_notifications_failed_total", "counter",
         "Attempts of this node that failed, by channel."},
        {"peal_notifications_given_up_total", "counter",
         "Messages that this node has given up, by channel."},
        {"peal_notifications_muted_total", "counter",
         "Messages of this node that a mute of their job has taken, by channel."},
        {"peal_notifications_waiting", "gauge", "Messages that wait on this node, by channel."},
        {"peal_notification_channel_failing", "gauge",
         "1: the last attempt of this node failed, by channel."},
    };
    const struct notifier *notifier = api->ports.notifier;
    const struct channel *first = notifier ? notifier_next_channel(notifier, NULL) : NULL;
    if (notifier)
        print_pings(notifier, out);
    for (size_t i = 0; first && i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help,
                    metrics[i].name, metrics[i].type);
        for (const struct channel *channel = first; channel;
             channel = notifier_next_channel(notifier, channel->name)) {
            struct channel_stats stats;
            notifier_stats(notifier, channel->name, &stats);
            bool is_failing = strcmp(channel_state(&stats), "failing") == 0;
            uint64_t values[] = {stats.sent,  stats.failed,  stats.given_up,
                                 stats.muted, stats.waiting, is_failing};
            strbuf_addf(out, "%s{channel=\"%s\"} %" PRIu64 "\n", metrics[i].name, channel->name,
                        values[i]);
        }
    }
}
