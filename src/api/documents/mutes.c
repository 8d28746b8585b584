/* Mutes and acknowledgements of jobs. One document for each job at most: a new one replaces it. */
#include "documents/mutes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "document/utf8.h"
#include "handlers.h"
#include "input.h"
#include "note.h"
#include "notifier.h"
#include "runs/encode.h"
#include "server.h"
#include "zone/zone.h"

enum { SWEEP_MAX = 100, SWEEP_EVERY_MS = 10 * 60 * 1000 };

/* ---- showing ---- */

static int64_t succeeded_ms(const struct catalog_job *job)
{
    return job ? job->last.succeeded_ms : 0;
}

const struct mute *mute_of(const struct api *api, const struct catalog_job *job, int64_t now_ms)
{
    int64_t end_ms;
    const struct mute *mute =
        api->ports.notifier ? notifier_mute(api->ports.notifier, &job->uid) : NULL;
    bool is_over = mute && mute_state(mute, succeeded_ms(job), now_ms, &end_ms) != MUTE_GOES_ON;
    return is_over && end_ms + MUTE_KEPT_MS <= now_ms ? NULL : mute;
}

json_t *mute_show(const struct mute *mute, const struct catalog_job *job, int64_t now_ms)
{
    int64_t end_ms;
    enum mute_end end = mute_state(mute, succeeded_ms(job), now_ms, &end_ms);
    bool is_over = end != MUTE_GOES_ON;
    return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
                     mute_kind_name(mute->kind), "active", !is_over, "since",
                     json_time(mute->from_ms), "until", json_time(mute->until_ms), "by",
                     json_words_or_null(mute->by), "reason", json_words_or_null(mute->reason),
                     "ended_at", json_time(is_over ? end_ms : 0), "ended",
                     is_over ? json_string(mute_end_name(end)) : json_null(), "ended_by",
                     end == MUTE_TAKEN_BACK ? json_words_or_null(mute->ended_by) : json_null());
}

/* With the job that it is of. */
static json_t *show_with_job(const struct mute *mute, const struct catalog_job *job, int64_t now_ms)
{
    char uid[ID_TEXT + 1];
    json_t *value = mute_show(mute, job, now_ms);
    id_format(&job->uid, uid);
    if (!value || json_object_set_new(value, "job", json_words(job->name)) != 0 ||
        json_object_set_new(value, "job_uid", json_string(uid)) != 0) {
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

static int by_job_name(const void *a, const void *b)
{
    const struct catalog_job *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* The job of a mute that is active, if the caller may see it; NULL: none. */
static const struct catalog_job *active_job(const struct call *call, const struct mute *mute)
{
    struct id uid;
    const struct catalog_job *job =
        id_parse(mute->uid, &uid) == OK
            ? catalog_by_uid(engine_catalog(call->api->ports.engine), &uid)
            : NULL;
    bool is_shown = job && !job->deleted && call_sees(call, job->name) &&
                    mute_is_active(mute, succeeded_ms(job), call->now_ms);
    return is_shown ? job : NULL;
}

/* Those that are active, by the names of their jobs: there are few, and many jobs. */
void list_mutes(struct call *call)
{
    const struct notifier *notifier = call->api->ports.notifier;
    const struct mute *mute;
    size_t count = 0, all = 0;
    if (!has_notifier(call))
        return;
    for (size_t at = 0; notifier_next_mute(notifier, &at);)
        all++;
    const struct catalog_job **jobs = calloc(all + 1, sizeof(struct catalog_job *));
    json_t *items = jobs ? json_array() : NULL;
    for (size_t at = 0; items && (mute = notifier_next_mute(notifier, &at));) {
        const struct catalog_job *job = active_job(call, mute);
        if (job)
            jobs[count++] = job;
    }
    if (count)
        qsort(jobs, count, sizeof(struct catalog_job *), by_job_name);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            items, show_with_job(notifier_mute(notifier, &jobs[i]->uid), jobs[i], call->now_ms));
    free(jobs);
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", items, "next"));
}

/* ---- editing ---- */

struct mute_edit {
    struct mute mute;
    struct id job_uid;
    enum change_action action;
    char *json;
    struct store_put_doc put;
};

static void release_edit(void *state)
{
    struct mute_edit *edit = state;
    free(edit->json);
}

static void reply_edit(struct call *call)
{
    const struct mute_edit *edit = call->state;
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &edit->job_uid);
    call_reply(call, 200,
               job ? show_with_job(&edit->mute, job, call->now_ms)
                   : mute_show(&edit->mute, NULL, call->now_ms));
}

/* "until 2026-11-19T14:00:00.000Z: a reason". */
static void note_terms(struct call *call, const struct mute *mute)
{
    char until[TIME_TEXT];
    time_format(mute->until_ms, until);
    note_detail(call, "%s%s%s%s", mute->until_ms ? "until " : "", mute->until_ms ? until : "",
                mute->until_ms && *mute->reason ? ": " : "", mute->reason);
}

static void put_done(struct call *call)
{
    const struct mute_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    note_job(call, edit->action,
             &(struct noted_job){.uid = &edit->job_uid, .name = edit->mute.job});
    if (edit->action != CHANGE_UNMUTE)
        note_terms(call, &edit->mute);
    note_write(call, reply_edit);
}

/* NULL: the call has failed. */
static struct mute_edit *begin_edit(struct call *call, const struct catalog_job *job,
                                    enum change_action action)
{
    struct mute_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit)
        return NULL;
    edit->action = action;
    edit->job_uid = job->uid;
    id_format(&job->uid, edit->mute.uid);
    snprintf(edit->mute.job, sizeof(edit->mute.job), "%s", job->name);
    edit->mute.from_ms = call->now_ms;
    snprintf(edit->mute.by, sizeof(edit->mute.by), "%s", call->principal.name);
    return edit;
}

/* The last writer wins: whoever mutes a job does so whatever others have said before. */
static void submit(struct call *call)
{
    struct mute_edit *edit = call->state;
    edit->json = mute_encode(&edit->mute);
    if (!edit->json) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put = (struct store_put_doc){.json = edit->json, .expected_revision = -1};
    doc_name(&edit->put, MUTE_DOC, edit->mute.uid);
    call_submit(call, STORE_PUT_DOC, &edit->put, 1, put_done);
}

static bool read_reason(struct call *call, struct mute *mute)
{
    const json_t *value = json_object_get(call->body, "reason");
    const char *text = json_string_value(value);
    if (!value || json_is_null(value))
        return true;
    bool is_good = text && strlen(text) <= MUTE_REASON_MAX;
    for (size_t at = 0, size = 0; is_good && text[at]; at += size) {
        uint32_t c;
        is_good = utf8_decode(text + at, strlen(text + at), &c, &size) && utf8_is_printable(c);
    }
    if (is_good)
        snprintf(mute->reason, sizeof(mute->reason), "%s", text);
    else
        call_fail_at(call, "/reason", "reason: expected one line of at most %d bytes",
                     MUTE_REASON_MAX);
    return is_good;
}

/* From `for` or `until`. False: the call has failed. */
static bool read_time(struct call *call, bool is_needed, struct mute *mute)
{
    bool has_span = json_object_get(call->body, "for") != NULL;
    bool has_time = json_object_get(call->body, "until") != NULL;
    int64_t span_ms = 0, until_ms = 0;
    if (has_span && has_time) {
        call_fail_at(call, "/until", "give either \"for\" or \"until\"");
        return false;
    }
    if (!has_span && !has_time) {
        if (is_needed)
            call_fail_at(call, "/for", "for how long? Give \"for\", like \"2h\", or \"until\"");
        return !is_needed;
    }
    if (has_span && !field_duration(call, "for", &span_ms))
        return false;
    if (has_time && !field_time(call, "until", zone_utc(), &until_ms))
        return false;
    mute->until_ms = has_span ? call->now_ms + span_ms : until_ms;
    if (mute->until_ms > call->now_ms &&
        mute->until_ms - call->now_ms <= (int64_t)MUTE_MAX_S * 1000)
        return true;
    call_fail_at(call, has_span ? "/for" : "/until",
                 "expected a time to come, within a year from now");
    return false;
}

void mute_job(struct call *call)
{
    const struct catalog_job *job = has_notifier(call) ? path_job(call) : NULL;
    struct mute_edit *edit = job ? begin_edit(call, job, CHANGE_MUTE) : NULL;
    if (edit && read_time(call, true, &edit->mute) && read_reason(call, &edit->mute))
        submit(call);
}

void ack_job(struct call *call)
{
    const struct catalog_job *job = has_notifier(call) ? path_job(call) : NULL;
    if (!job)
        return;
    if (id_is_zero(&job->last.run_id) || job->last.state == RUN_OK) {
        call_fail(call, 409,
                  "\"%s\" has no failure to acknowledge; to have no messages for a time: peal mute",
                  job->name);
        return;
    }
    struct mute_edit *edit = begin_edit(call, job, CHANGE_ACKNOWLEDGE);
    if (!edit)
        return;
    edit->mute.kind = MUTE_ACK;
    if (read_time(call, false, &edit->mute) && read_reason(call, &edit->mute))
        submit(call);
}

void unmute_job(struct call *call)
{
    const struct catalog_job *job = has_notifier(call) ? path_job(call) : NULL;
    const struct mute *mute = job ? mute_of(call->api, job, call->now_ms) : NULL;
    if (!job)
        return;
    if (!mute || !mute_is_active(mute, succeeded_ms(job), call->now_ms)) {
        call_fail(call, 409, "\"%s\" is not muted", job->name);
        return;
    }
    struct mute_edit *edit = begin_edit(call, job, CHANGE_UNMUTE);
    if (!edit)
        return;
    edit->mute = *mute;
    edit->mute.ended_ms = call->now_ms;
    snprintf(edit->mute.ended_by, sizeof(edit->mute.ended_by), "%s", call->principal.name);
    submit(call);
}

/* ---- the feed, and what is over ---- */

struct mute_sweep {
    struct store_request request;
    struct store_put_doc puts[SWEEP_MAX];
};

/* What was not done is done the next time. */
static void swept(struct store_request *request, enum status st)
{
    (void)st;
    free(request->context);
}

/* Deleted jobs keep theirs, since they can be restored. */
static bool is_to_go(const struct api *api, const struct mute *mute, int64_t now_ms)
{
    struct id uid;
    if (id_parse(mute->uid, &uid) != OK)
        return true;
    const struct catalog_job *job = catalog_by_uid(engine_catalog(api->ports.engine), &uid);
    return !job || !mute_of(api, job, now_ms);
}

static void sweep(struct api *api)
{
    int64_t now_ms = clock_now().wall.ms;
    bool leads = store_leads(api->ports.store) && engine_is_loaded(api->ports.engine);
    struct mute_sweep *going = leads ? calloc(1, sizeof(*going)) : NULL;
    const struct mute *mute;
    size_t count = 0;
    for (size_t at = 0;
         going && count < SWEEP_MAX && (mute = notifier_next_mute(api->ports.notifier, &at));) {
        if (!is_to_go(api, mute, now_ms))
            continue;
        going->puts[count] = (struct store_put_doc){.expected_revision = mute->revision};
        doc_name(&going->puts[count++], MUTE_DOC, mute->uid);
    }
    if (!count) {
        free(going);
        return;
    }
    going->request = (struct store_request){.op = STORE_PUT_DOC,
                                            .count = count,
                                            .items.docs = going->puts,
                                            .done = swept,
                                            .context = going};
    store_submit(api->ports.store, &going->request);
}

static void set_timer(struct api *api)
{
    size_t at = 0;
    api->is_mutes_timer_set = notifier_next_mute(api->ports.notifier, &at) != NULL;
    if (api->is_mutes_timer_set)
        loop_timer_set(api->mutes_timer, SWEEP_EVERY_MS);
}

void mutes_sweep(void *context)
{
    struct api *api = context;
    sweep(api);
    set_timer(api);
}

void mutes_take(struct api *api, const struct store_change *change)
{
    if (change->kind != STORE_CHANGE_DOC || !api->ports.notifier ||
        strcmp(change->doc->kind, MUTE_DOC) != 0)
        return;
    const struct store_doc *doc = change->doc;
    notifier_take_mute(api->ports.notifier, doc->name, doc->json, doc->revision);
    if (!api->is_mutes_timer_set)
        set_timer(api);
}
