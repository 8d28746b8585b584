/* Writes the items of a batch in chunks: each is in the catalog, and recorded, before the next is
 * sent. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/jobs_batch.h"
#include "note.h"
#include "server.h"
#include "text/json_text.h"

enum {
    CHUNK_ITEMS = 200,       /* the catalog takes in so many in some milliseconds ... */
    CHUNK_BYTES = 256 << 10, /* ... or such definitions */
};

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

static void print_item(const struct jobs_batch_item *item, struct strbuf *out)
{
    strbuf_adds(out, out->length ? ",{\"name\":" : "{\"results\":[{\"name\":");
    json_text_quote(out, item->name);
    strbuf_addf(out, ",\"result\":\"%s\",\"error\":", outcome(item));
    if (item->error)
        json_text_quote(out, item->error);
    else
        strbuf_adds(out, "null");
    strbuf_addc(out, '}');
}

static void batch_reply(struct call *call)
{
    struct jobs_batch *batch = call->state;
    int64_t end_ms = batch_slice_end();
    while (batch->encoded < batch->count && !batch_slice_is_over(end_ms))
        print_item(&batch->items[batch->encoded++], &batch->answer);
    if (batch->encoded < batch->count) {
        call_later(call, batch_reply);
        return;
    }
    strbuf_adds(&batch->answer, batch->count ? "]}" : "{\"results\":[]}");
    call_reply_buffer(call, 200, &batch->answer);
}

/* ---- writing ---- */

/* Gives up the remaining items, which stay unchanged. */
static void stop_writing(struct call *call, const char *error)
{
    struct jobs_batch *batch = call->state;
    for (size_t i = batch->sent; i < batch->put_count; i++)
        batch->order[i]->error = error;
    batch_reply(call);
}

static void take_result(struct call *call, struct jobs_batch_item *item)
{
    switch (item->put->result) {
    case PUT_OK:
        job_write_note(call,
                       item->is_delete              ? CHANGE_DELETE
                       : item->kind == WRITE_CREATE ? CHANGE_CREATE
                                                    : CHANGE_CHANGE,
                       &item->write, item->put->revision);
        break;
    case PUT_EXISTS:
        item->error = "somebody else made a job of this name meanwhile";
        break;
    case PUT_CONFLICT:
    case PUT_MISSING:
        item->error = "somebody else changed it meanwhile; try again";
        break;
    }
    job_write_release(&item->write);
}

static void send_next(struct call *call);

static void chunk_done(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (call->answer != OK && !batch->sent) {
        call_fail_store(call, call->answer);
        return;
    }
    if (call->answer != OK) {
        stop_writing(call, call->answer == E_UNKNOWN
                               ? "it is not known whether it was written; try again"
                               : "the store is not healthy, and it was not written; try again");
        return;
    }
    for (; batch->sending; batch->sending--)
        take_result(call, batch->order[batch->sent++]);
    note_write(call, send_next);
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

/* The check may have taken a while: a caller who has lost their account or rights meanwhile writes
 * nothing more. Jobs that others have changed are conflicts, by their revision. */
static void send_next(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (batch->sent == batch->put_count) {
        batch_reply(call);
        return;
    }
    if (!accounts_still_admit(&call->api->accounts, &call->principal, clock_now().wall.ms)) {
        if (batch->sent)
            stop_writing(call, "the rights to do it have ended meanwhile");
        else
            call_fail(call, 401,
                      "these credentials are not valid; log in again, or use another token");
        return;
    }
    struct quota_excess excess;
    batch->sending = chunk_size(batch);
    enum status st = job_puts_submit(call, batch->puts + batch->sent, batch->sending, PUT_TO_DEFINE,
                                     chunk_done, &excess);
    if (st != OK && !batch->sent) {
        call_fail_put(call, st, &excess);
    } else if (st != OK) { /* others have used up the quota meanwhile */
        batch->quota_error = st == E_TOO_LARGE ? quota_text(call, &excess) : NULL;
        stop_writing(call, batch->quota_error ? batch->quota_error : "out of memory");
    }
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
    int64_t end_ms = batch_slice_end();
    while (batch->planned < batch->put_count && !batch_slice_is_over(end_ms)) {
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
        batch_reply(call);
    else
        send_next(call);
}

static void add_puts(struct jobs_batch *batch, bool deletes)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct jobs_batch_item *item = &batch->items[i];
        if (item->is_delete != deletes || item->kind == WRITE_NOTHING)
            continue;
        item->put = &batch->puts[batch->put_count];
        *item->put = job_write_put(&item->write);
        item->put->deleted = item->is_delete;
        batch->order[batch->put_count++] = item;
    }
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
    add_puts(batch, true);
    add_puts(batch, false);
    plan_slice(call);
}
