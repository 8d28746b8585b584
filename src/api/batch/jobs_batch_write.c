/* Writes the items of a batch in chunks, and answers when all are written and recorded. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch/jobs_batch.h"
#include "confirm.h"
#include "note.h"
#include "server.h"
#include "text/json_text.h"
#include "trail.h"

enum {
    CHUNK_ITEMS = 100, /* one transaction of etcd: with more, jobs would be in the catalog while
                          they still count as reserved */
    CHUNK_BYTES = 256 << 10, /* the catalog takes in all chunks in some milliseconds */
};

static const char rights_ended[] = "the rights to do it have ended meanwhile";
static const char changed_meanwhile[] = "somebody else changed it meanwhile; try again";

/* ---- results ---- */

static const char *outcome(const struct jobs_batch_item *item)
{
    if (item->error)
        return "failed";
    if (item->is_delete)
        return "deleted";
    return item->kind == WRITE_CREATE   ? "created"
           : item->kind == WRITE_CHANGE ? "changed"
           : item->kind == WRITE_ADOPT  ? "adopted"
                                        : "unchanged";
}

static void print_item(const struct jobs_batch_item *item, bool is_first, struct strbuf *out)
{
    strbuf_adds(out, is_first ? "{\"results\":[{\"name\":" : ",{\"name\":");
    json_text_quote(out, item->name);
    strbuf_addf(out, ",\"result\":\"%s\",\"error\":", outcome(item));
    if (item->error)
        json_text_quote(out, item->error);
    else
        strbuf_adds(out, "null");
    strbuf_addc(out, '}');
}

/* Of what was kept, all are new: only those that failed are told one by one. */
static bool is_told(const struct jobs_batch *batch, const struct jobs_batch_item *item)
{
    return !batch->kept || item->error;
}

static void batch_reply(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    for (; batch->encoded < batch->count && !batch_slice_is_over(&slice, 0); batch->encoded++) {
        const struct jobs_batch_item *item = &batch->items[batch->encoded];
        if (is_told(batch, item))
            print_item(item, batch->told++ == 0, &batch->answer);
    }
    if (batch->encoded < batch->count) {
        call_later(call, batch_reply);
        return;
    }
    strbuf_adds(&batch->answer, batch->told ? "]" : "{\"results\":[]");
    if (batch->kept)
        strbuf_addf(&batch->answer, ",\"created\":%zu", batch->count - batch->told);
    strbuf_addc(&batch->answer, '}');
    call_reply_buffer(call, 200, &batch->answer);
}

/* The answer to a dry run. */
static void reply_checked(struct call *call)
{
    struct jobs_batch *batch = call->state;
    const struct kept_batch *kept = batch->keep ? batch_keep(call) : NULL;
    if (!kept) {
        batch_reply(call);
        return;
    }
    strbuf_addf(&batch->answer, "{\"results\":[],\"created\":%zu,\"kept\":\"%s\"}", kept->count,
                kept->id);
    call_reply_buffer(call, 200, &batch->answer);
}

/* ---- writing ---- */

static void write_on(struct call *call);

/* Something that the call waited for is there. */
static void wake(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (batch->is_woken)
        return;
    batch->is_woken = true;
    call_later(call, write_on);
}

static enum change_action action_of(const struct jobs_batch_item *item)
{
    return item->is_delete              ? CHANGE_DELETE
           : item->kind == WRITE_CREATE ? CHANGE_CREATE
                                        : CHANGE_CHANGE;
}

static struct noted_job noted(const struct jobs_batch_item *item, int64_t revision)
{
    return (struct noted_job){.uid = &item->put->uid,
                              .name = item->name,
                              .revision = revision,
                              .before = item->write.before,
                              .after = item->write.json};
}

/* The note takes the definitions over. */
static void note_item(struct call *call, struct jobs_batch_item *item)
{
    const struct noted_job job = noted(item, item->put->revision);
    item->write.before = item->write.json = NULL;
    note_job_over(call, action_of(item), &job);
}

/* The records of the chunk's changes, for the store to write with them. */
static void make_records(struct call *call, struct jobs_batch_chunk *chunk)
{
    struct jobs_batch *batch = call->state;
    size_t ends[CHUNK_ITEMS];
    strbuf_reset(&chunk->records);
    for (size_t i = 0; i < chunk->count; i++) {
        const struct jobs_batch_item *item = batch->order[batch->sent + i];
        const struct noted_job job = noted(item, item->put->expected_revision + 1);
        if (store_gathers_records(call->api->ports.store))
            note_for_store(call, action_of(item), &job, NULL, &chunk->records,
                           &item->put->record_id);
        ends[i] = chunk->records.length;
    }
    for (size_t i = 0; i < chunk->count; i++) {
        size_t from = i ? ends[i - 1] : 0;
        batch->puts[batch->sent + i].record = ends[i] > from ? chunk->records.text + from : NULL;
    }
}

static void take_result(struct call *call, struct jobs_batch_item *item)
{
    struct jobs_batch *batch = call->state;
    switch (item->put->result) {
    case PUT_OK:
        batch->is_any_written = true;
        if (!item->put->record)
            note_item(call, item);
        break;
    case PUT_EXISTS:
        item->error = "somebody else made a job of this name meanwhile";
        break;
    case PUT_CONFLICT:
    case PUT_MISSING:
        item->error = changed_meanwhile;
        break;
    }
    job_write_release(&item->write);
}

/* Gives up what was not sent yet, which stays unchanged. */
static void stop_sending(struct jobs_batch *batch, const char *why)
{
    if (!batch->stopped)
        batch->stopped = why;
}

static void take_chunk(struct call *call, const struct jobs_batch_chunk *chunk)
{
    struct jobs_batch *batch = call->state;
    static const char unwritten[] = "the store is not healthy, and it was not written; try again";
    if (chunk->answer != OK && batch->failed == OK)
        batch->failed = chunk->answer;
    if (chunk->answer != OK)
        stop_sending(batch, unwritten);
    for (size_t i = 0; i < chunk->count; i++) {
        struct jobs_batch_item *item = batch->order[batch->taken++];
        if (chunk->answer == OK)
            take_result(call, item);
        else
            item->error = chunk->answer == E_UNKNOWN
                              ? "it is not known whether it was written; try again"
                              : unwritten;
    }
}

/* The store answers in the order of submission. */
static void take_answers(struct call *call)
{
    struct jobs_batch *batch = call->state;
    while (batch->chunk_count && batch->chunks[batch->first_chunk].is_answered) {
        take_chunk(call, &batch->chunks[batch->first_chunk]);
        batch->first_chunk = (batch->first_chunk + 1) % BATCH_CHUNKS;
        batch->chunk_count--;
    }
}

static void chunk_answered(struct job_puts *puts, enum status st)
{
    struct jobs_batch_chunk *chunk = (struct jobs_batch_chunk *)puts;
    chunk->is_answered = true;
    chunk->answer = st;
    wake(puts->call);
}

/* The number of items in the next chunk, at least one. */
static size_t chunk_size(const struct jobs_batch *batch)
{
    size_t count = 0, bytes = 0;
    while (batch->sent + count < batch->put_count && count < CHUNK_ITEMS && bytes < CHUNK_BYTES) {
        const char *json = batch->puts[batch->sent + count++].json;
        assert(json);
        bytes += strlen(json);
    }
    return count;
}

/* Others may have used up the quota since it was checked. */
static void send_chunk(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct quota_excess excess = {0};
    struct jobs_batch_chunk *chunk =
        &batch->chunks[(batch->first_chunk + batch->chunk_count) % BATCH_CHUNKS];
    *chunk = (struct jobs_batch_chunk){
        .puts.done = chunk_answered, .records = chunk->records, .count = chunk_size(batch)};
    make_records(call, chunk);
    enum status st = job_puts_begin(&chunk->puts, call, batch->puts + batch->sent, chunk->count,
                                    PUT_TO_DEFINE, &excess);
    if (st == OK) {
        batch->sent += chunk->count;
        batch->chunk_count++;
        return;
    }
    batch->quota_error = st == E_TOO_LARGE ? quota_text(call, &excess) : NULL;
    batch->excess = excess;
    stop_sending(batch, batch->quota_error ? batch->quota_error : "out of memory");
}

/* The check may have taken a while: a caller who has lost their account or rights meanwhile writes
 * nothing more. Jobs that others have changed are conflicts, by their revision. */
static void send_chunks(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (batch->sent < batch->put_count &&
        !accounts_still_admit(&call->api->accounts, &call->principal, clock_now().wall.ms))
        stop_sending(batch, rights_ended);
    while (!batch->stopped && batch->sent < batch->put_count && batch->chunk_count < BATCH_CHUNKS)
        send_chunk(call);
}

/* Nothing was written: the whole call fails. */
static void fail_write(struct call *call)
{
    const struct jobs_batch *batch = call->state;
    if (batch->failed != OK)
        call_fail_store(call, batch->failed);
    else if (batch->stopped == rights_ended)
        call_fail(call, 401, "these credentials are not valid; log in again, or use another token");
    else
        call_fail_put(call, batch->quota_error ? E_TOO_LARGE : E_NOMEM, &batch->excess);
}

static void finish(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (batch->stopped && !batch->is_any_written) {
        fail_write(call);
        return;
    }
    for (size_t i = batch->sent; i < batch->put_count; i++)
        batch->order[i]->error = batch->stopped;
    batch_reply(call);
}

/* Some chunks are in the store's hands while others are recorded. */
static void write_on(struct call *call)
{
    struct jobs_batch *batch = call->state;
    batch->is_woken = false;
    take_answers(call);
    if (call->note && !call->writing)
        note_begin(call, wake);
    send_chunks(call);
    if (!batch->chunk_count && !call->writing && !batch->is_woken)
        finish(call);
}

/* ---- before that ---- */

static void fail_plan(struct call *call, const struct jobs_batch_item *item,
                      const struct quota_excess *excess)
{
    char pointer[40];
    snprintf(pointer, sizeof(pointer), "/%s/%zu", item->is_delete ? "delete" : "put", item->place);
    call_fail_quota(call, pointer, excess);
}

/* All items must fit the quotas, in order, before the first is written. */
static void plan_slice(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    while (batch->planned < batch->put_count && !batch_slice_is_over(&slice, 0)) {
        const struct jobs_batch_item *item = batch->order[batch->planned++];
        struct quota_item adds;
        struct quota_excess excess;
        if (!job_put_is_allowed(call, item->put, &batch->plan, &adds, &excess)) {
            fail_plan(call, item, &excess);
            return;
        }
        if (quota_sum_add(&batch->plan, &adds) != OK) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    if (batch->planned < batch->put_count)
        call_later(call, plan_slice);
    else if (batch->dry_run)
        reply_checked(call);
    else
        write_on(call);
}

/* Its schedules count from now on, not from the dry run. */
static struct store_put_job kept_put(const struct call *call, const struct jobs_batch_item *item)
{
    const struct jobs_batch *batch = call->state;
    const struct kept_job *job = &batch->kept->jobs[item->place];
    return (struct store_put_job){.uid = job->uid,
                                  .name = item->name,
                                  .json = item->write.json,
                                  .paused = job->paused,
                                  .cursor_ms = call->now_ms};
}

static void add_puts(const struct call *call, bool deletes)
{
    struct jobs_batch *batch = call->state;
    for (size_t i = 0; i < batch->count; i++) {
        struct jobs_batch_item *item = &batch->items[i];
        if (item->is_delete != deletes || item->kind == WRITE_NOTHING)
            continue;
        item->put = &batch->puts[batch->put_count];
        *item->put = batch->kept ? kept_put(call, item) : job_write_put(&item->write);
        item->put->name = item->name;
        item->put->deleted = item->is_delete;
        batch->order[batch->put_count++] = item;
    }
}

static void plan(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (!batch->dry_run) {
        batch->trail = &call->api->trail;
        trail_begin_batch(batch->trail);
    }
    plan_slice(call);
}

/* ---- what stays as it is ---- */

static bool is_still_so(const struct call *call, const struct jobs_batch_item *item)
{
    const struct job_write *write = &item->write;
    const struct catalog_job *job =
        catalog_by_name(engine_catalog(call->api->ports.engine), item->name);
    return job && id_compare(&job->uid, &write->uid) == 0 && job->revision == write->revision &&
           strcmp(job->json, write->before) == 0;
}

static void look_slice(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    for (; batch->looked < batch->count && !batch_slice_is_over(&slice, 0); batch->looked++) {
        struct jobs_batch_item *item = &batch->items[batch->looked];
        if (item->kind == WRITE_NOTHING && !is_still_so(call, item))
            item->error = changed_meanwhile;
    }
    if (batch->looked < batch->count)
        call_later(call, look_slice);
    else
        plan(call);
}

static void confirmed(struct call *call)
{
    if (call->answer == OK)
        look_slice(call);
    else
        call_fail_unconfirmed(call);
}

void batch_write(struct call *call)
{
    struct jobs_batch *batch = call->state;
    batch->puts = calloc(batch->count + 1, sizeof(*batch->puts));
    batch->order = calloc(batch->count + 1, sizeof(struct jobs_batch_item *));
    if (!batch->puts || !batch->order) {
        call_fail(call, 500, "out of memory");
        return;
    }
    add_puts(call, true);
    add_puts(call, false);
    if (batch->put_count < batch->count && !batch->dry_run)
        call_confirm(call, confirmed);
    else
        plan(call);
}
