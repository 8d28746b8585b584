#include "batch/batch_keep.h"

#include <stdlib.h>
#include <string.h>

#include "batch/jobs_batch.h"
#include "calendar_codec.h"
#include "channel.h"
#include "server.h"

enum {
    KEEP_MS = 60 * 1000,
    BYTES_MAX = 64 << 20,
    JOB_BYTES = sizeof(struct kept_job) + 32, /* besides its texts */
};

void kept_batch_free(struct kept_batch *batch)
{
    for (size_t i = 0; batch && i < batch->count; i++) {
        free(batch->jobs[i].name);
        free(batch->jobs[i].json);
    }
    if (batch)
        free(batch->jobs);
    free(batch);
}

static void take_out(struct kept_batches *kept, struct kept_batch *batch)
{
    TAILQ_REMOVE(&kept->list, batch, link);
    kept->bytes -= batch->bytes;
}

static void set_timer(struct kept_batches *kept)
{
    const struct kept_batch *oldest = TAILQ_FIRST(&kept->list);
    int64_t left_ms = oldest ? oldest->until_ms - clock_now().boot.ms : 0;
    if (oldest)
        loop_timer_set(kept->timer, left_ms > 0 ? left_ms : 0);
}

static void forget_old(void *context)
{
    struct kept_batches *kept = &((struct api *)context)->kept;
    struct kept_batch *oldest;
    while ((oldest = TAILQ_FIRST(&kept->list)) && oldest->until_ms <= clock_now().boot.ms) {
        take_out(kept, oldest);
        kept_batch_free(oldest);
    }
    set_timer(kept);
}

enum status kept_batches_init(struct kept_batches *kept, struct api *api)
{
    TAILQ_INIT(&kept->list);
    return loop_timer_new_patient(api->ports.loop, forget_old, api, &kept->timer);
}

void kept_batches_release(struct kept_batches *kept)
{
    for (struct kept_batch *batch; kept->timer && (batch = TAILQ_FIRST(&kept->list));) {
        take_out(kept, batch);
        kept_batch_free(batch);
    }
    loop_timer_free(kept->timer);
}

void kept_batches_take(struct kept_batches *kept, const struct store_change *change)
{
    if (change->kind == STORE_CHANGE_DOC && (strcmp(change->doc->kind, CALENDAR_DOC) == 0 ||
                                             strcmp(change->doc->kind, CHANNEL_DOC) == 0))
        kept->docs++;
}

/* ---- in ---- */

/* Those that wait for others are checked against jobs that may change until they are written. */
static bool can_be_kept(const struct jobs_batch *batch, size_t *ret_bytes)
{
    *ret_bytes = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct jobs_batch_item *item = &batch->items[i];
        if (item->is_delete || item->kind != WRITE_CREATE || item->write.waits_anew ||
            item->write.refers_anew)
            return false;
        *ret_bytes += JOB_BYTES + strlen(item->name) + strlen(item->write.json);
    }
    return batch->count > 0;
}

static struct kept_batch *new_batch(struct call *call, size_t count)
{
    struct kept_batch *kept = calloc(1, sizeof(*kept));
    struct id id = call_make_id(call);
    if (!kept || !(kept->jobs = calloc(count, sizeof(*kept->jobs)))) {
        free(kept);
        return NULL;
    }
    id_format(&id, kept->id);
    principal_print_id(&call->principal, kept->owner);
    kept->until_ms = clock_now().boot.ms + KEEP_MS;
    return kept;
}

static void move_jobs(struct jobs_batch *batch, struct kept_batch *kept)
{
    table_release(&batch->names); /* whose items lose their names */
    for (; kept->count < batch->count; kept->count++) {
        struct jobs_batch_item *item = &batch->items[kept->count];
        kept->jobs[kept->count] = (struct kept_job){.uid = item->write.uid,
                                                    .name = item->name,
                                                    .json = item->write.json,
                                                    .paused = item->write.paused};
        item->name = item->write.json = NULL;
    }
}

const struct kept_batch *batch_keep(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct kept_batches *all = &call->api->kept;
    size_t bytes;
    if (!can_be_kept(batch, &bytes) || all->bytes + bytes > BYTES_MAX)
        return NULL;
    struct kept_batch *kept = new_batch(call, batch->count);
    if (!kept)
        return NULL;
    move_jobs(batch, kept);
    kept->docs = batch->docs;
    kept->bytes = bytes;
    all->bytes += bytes;
    TAILQ_INSERT_TAIL(&all->list, kept, link);
    set_timer(all);
    return kept;
}

/* ---- and out ---- */

struct kept_batch *batch_kept(struct call *call, const char *id)
{
    struct kept_batches *all = &call->api->kept;
    char owner[PRINCIPAL_ID_SIZE];
    struct kept_batch *kept;
    principal_print_id(&call->principal, owner);
    TAILQ_FOREACH (kept, &all->list, link) {
        if (strcmp(kept->id, id) == 0 && strcmp(kept->owner, owner) == 0)
            break;
    }
    if (!kept)
        return NULL;
    take_out(all, kept);
    if (kept->docs == all->docs)
        return kept;
    kept_batch_free(kept);
    return NULL;
}
