/* Continues after a restore: open runs are lost, ticks that were due until now are missed, fences
 * continue above all earlier ones, and the halt is lifted. In this order, in batches; after an
 * interruption only the rest is done.
 *
 * The lift records the cluster id. If etcd is restored again meanwhile, from a backup with the same
 * halt, the lift may be applied there: then the next reader finds the id of another cluster, and
 * halts again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "kv/store_kv_internal.h"

enum {
    CHUNK = 500,
    DAY_MS = 86400 * 1000,
    /* After the restore: leases of the old etcd have expired by then, and with them the leadership
     * and the start window of nodes that were cut off by the restore. */
    LEASES_OUT_MS = 5500,
    LIFT_AGAIN_MS = 500, /* after an unknown outcome */
    LIFTS_MAX = 20,
};

static const int64_t first_day_ms = INT64_C(1577836800000); /* 2020-01-01 */

struct advance {
    struct store_request request; /* first: `done` gets its address */
    struct store_kv *store;
    store_kv_advanced *done;
    void *context;
    int64_t now_ms;
    char by[64];
    uint64_t cluster_id;   /* of this advance */
    int64_t halt_revision; /* of the halt that is lifted */
    struct epoch next;
    struct loop_timer *timer; /* to begin, or to check the lift */
    int lifts;                /* sent so far */
    struct store_finish *finishes;
    struct store_claim *claims;
    struct ledger_entry *entries;
    struct store_put_doc *marks;
    char (*jsons)[BOOT_JSON_SIZE]; /* of the documents */
};

static void release(struct advance *advance)
{
    free(advance->finishes);
    free(advance->claims);
    free(advance->entries);
    free(advance->marks);
    free(advance->jsons);
    free(advance);
}

static void end(struct advance *advance, enum status st)
{
    store_kv_advanced *done = advance->done;
    void *context = advance->context;
    advance->store->advance = NULL;
    loop_timer_free(advance->timer);
    release(advance);
    done(context, st);
}

bool advance_owns(const struct store_kv *store, const struct store_request *request)
{
    return store->advance && request == &store->advance->request;
}

/* ---- what is open is lost ---- */

/* A run that was lost with its node may have been amended after the backup. */
static bool is_to_be_lost(const struct run *run)
{
    if (!run_state_is_known(run->state)) /* left to the newer version */
        return false;
    return state_is_open(run->state) || (run->state == RUN_LOST && run->reason == REASON_NODE_DIED);
}

/* Those that wait for their turn, or the others. */
static size_t collect_some(struct advance *advance, bool in_turn, size_t count)
{
    const struct mirror_run *run;
    for (size_t at = 0; count < CHUNK && (run = table_next(&advance->store->mirror.runs, &at));) {
        if (!is_to_be_lost(&run->row.run) || run_waits_for_turn(&run->row.run) != in_turn)
            continue;
        struct run lost = run->row.run;
        lost.state = RUN_LOST;
        lost.reason = REASON_RESTORED;
        if (state_is_open(run->row.run.state))
            lost.finished_ms = advance->now_ms;
        lost.exit_code = -1;
        memcpy(lost.by, advance->by, sizeof(lost.by));
        snprintf(lost.detail, sizeof(lost.detail),
                 "%s was restored from a backup; it may have run to its end",
                 kv_client_kind(advance->store->client)->name);
        advance->finishes[count++] = (struct store_finish){.run = lost};
    }
    return count;
}

/* Parts that wait for their turn come first: the loss of those before them would make them due, or
 * end them with a reason that nobody knows to be true. */
static size_t collect_runs(struct advance *advance)
{
    return collect_some(advance, false, collect_some(advance, true, 0));
}

/* ---- what was due is missed ---- */

static enum status make_entry(const struct advance *advance, const struct mirror_job *job,
                              struct ledger_entry *ret)
{
    uint8_t random[10];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return E_IO;
    *ret = (struct ledger_entry){.id = id_make((struct wall_ms){advance->now_ms}, random),
                                 .job_uid = job->row.uid,
                                 .from_ms = job->row.cursor_ms,
                                 .to_ms = advance->now_ms,
                                 .count = 0, /* unknown */
                                 .state = RUN_MISSED,
                                 .reason = REASON_RESTORED,
                                 .recorded_ms = advance->now_ms};
    snprintf(ret->job_name, sizeof(ret->job_name), "%s", job->name);
    snprintf(ret->detail, sizeof(ret->detail),
             "%s was restored from a backup: ticks until then may have run or not (%.40s)",
             kv_client_kind(advance->store->client)->name, advance->by);
    return OK;
}

static enum status collect_jobs(struct advance *advance, size_t *ret)
{
    const struct mirror_job *job;
    size_t count = 0;
    for (size_t at = 0; count < CHUNK && (job = table_next(&advance->store->mirror.jobs, &at));) {
        if (!mirror_job_is_whole(job) || job->row.deleted || job->row.cursor_ms >= advance->now_ms)
            continue;
        enum status st = make_entry(advance, job, &advance->entries[count]);
        if (st != OK)
            return st;
        advance->claims[count] = (struct store_claim){.job_uid = job->row.uid,
                                                      .job_revision = job->row.revision,
                                                      .cursor_ms = job->row.cursor_ms,
                                                      .rewinds = job->row.rewinds.count,
                                                      .tick_ms = advance->now_ms,
                                                      .without_run = true,
                                                      .passed = &advance->entries[count],
                                                      .passed_count = 1};
        count++;
    }
    *ret = count;
    return OK;
}

/* ---- boots that were due may have run ---- */

/* The entry of their job covers them as unknown. */
static size_t collect_boots(struct advance *advance)
{
    const struct mirror_doc *found;
    struct boot_mark mark;
    size_t count = 0;
    for (size_t at = 0; count < CHUNK && (found = table_next(&advance->store->mirror.docs, &at));) {
        const struct store_doc *doc = &found->doc;
        if (strcmp(doc->kind, BOOT_DOC) != 0 || boot_mark_decode(doc->json, &mark) != OK ||
            !mark.is_due)
            continue;
        mark.is_due = false;
        boot_mark_encode(&mark, advance->jsons[count]);
        struct store_put_doc *put = &advance->marks[count];
        *put = (struct store_put_doc){
            .kind = BOOT_DOC, .json = advance->jsons[count], .expected_revision = doc->revision};
        memcpy(put->name, doc->name, sizeof(put->name));
        count++;
    }
    return count;
}

/* ---- the halt is lifted ---- */

/* Above all generations that this node knows. The number of the day is also above that of a lift on
 * an earlier day that no remaining node knows of. */
static int64_t next_generation(const struct advance *advance)
{
    const struct store_kv *store = advance->store;
    int64_t known = store->mirror.epoch.generation;
    int64_t day = (advance->now_ms - first_day_ms) / DAY_MS;
    if (known < store->epoch.generation) /* the backup is older than the last restore */
        known = store->epoch.generation;
    return day > known && day < GENERATIONS ? day : known + 1;
}

static enum status make_next(struct advance *advance)
{
    struct epoch *next = &advance->next;
    *next = advance->store->mirror.epoch;
    next->generation = next_generation(advance);
    next->cluster_id = advance->cluster_id;
    next->since = 0; /* the lift's own revision */
    advance->halt_revision = advance->store->mirror.halt_revision;
    if (getrandom(&next->stamp, sizeof(next->stamp), 0) != (ssize_t)sizeof(next->stamp))
        return E_IO;
    next->stamp |= 1; /* 0: none */
    return OK;
}

/* Was the lift done before, and its answer lost? */
static bool is_our_lift(const struct advance *advance, const struct kv_txn_result *txn)
{
    struct epoch found;
    return txn->op_count == 1 && txn->ops[0].kv_count == 1 &&
           value_read_epoch(txn->ops[0].kvs, &found) == OK && found.stamp == advance->next.stamp;
}

/* After an unknown outcome the lift is sent again: it is done at most once, since it changes the
 * epoch, and the epoch that is found has the stamp of the node that did it. */
static void on_lifted(void *context, const struct kv_result *result)
{
    struct advance *advance = context;
    bool may_be_done = result->status == E_UNKNOWN || advance->lifts > 1;
    if (result->status != OK && may_be_done && advance->lifts < LIFTS_MAX)
        loop_timer_set(advance->timer, LIFT_AGAIN_MS);
    else if (result->status != OK)
        end(advance, may_be_done ? E_UNKNOWN : result->status);
    else if (result->cluster_id && result->cluster_id != advance->cluster_id)
        end(advance, E_UNREACHABLE); /* restored again: still halted, or halted again */
    else if (result->op.txn.succeeded || is_our_lift(advance, &result->op.txn))
        end(advance, OK);
    else
        end(advance, E_CONFLICT); /* another node has lifted it */
}

static enum status send_lift(struct advance *advance)
{
    struct store_kv *store = advance->store;
    struct kv_bytes halt = kv_text(store->halt_key), epoch = kv_text(store->epoch_key);
    struct strbuf value;
    struct kv_txn *txn = NULL;
    strbuf_init(&value);
    value_write_epoch(&value, &advance->next);
    enum status st = strbuf_status(&value);
    if (st == OK)
        st = kv_txn_new(&txn);
    if (st != OK)
        goto out;
    kv_txn_if_mod_revision(txn, halt, KV_EQUAL, advance->halt_revision);
    kv_txn_if_mod_revision(txn, epoch, KV_EQUAL, advance->next.mod_revision);
    kv_txn_delete(txn, &(struct kv_delete){.key = halt});
    kv_txn_put(txn, &(struct kv_put){.key = epoch, .value = {value.text, value.length}});
    kv_txn_else(txn);
    kv_txn_range(txn, &(struct kv_range){.key = epoch});
    advance->lifts++;
    st = kv_txn_send(store->client, txn, &(struct kv_reply){on_lifted, advance, 0}, NULL);
out:
    kv_txn_free(txn);
    strbuf_release(&value);
    return st;
}

static enum status lift(struct advance *advance)
{
    enum status st = make_next(advance);
    return st == OK ? send_lift(advance) : st;
}

/* ---- one after the other ---- */

static void on_chunk(struct store_request *request, enum status st);

static void submit(struct advance *advance, enum store_op op, void *items, size_t count)
{
    advance->request =
        (struct store_request){.op = op, .count = count, .items.claims = items, .done = on_chunk};
    store_submit(&advance->store->base, &advance->request);
}

/* All steps must be done in one cluster, which must still be the mirror's. */
static bool is_possible(const struct advance *advance)
{
    const struct store_kv *store = advance->store;
    return store->is_loaded && store->mirror.halt &&
           store->loading_sign.cluster_id == advance->cluster_id;
}

static void go_on(struct advance *advance)
{
    if (!is_possible(advance)) {
        end(advance, E_UNREACHABLE);
        return;
    }
    size_t count = collect_runs(advance);
    if (count > 0) {
        submit(advance, STORE_FINISH, advance->finishes, count);
        return;
    }
    count = collect_boots(advance);
    if (count > 0) {
        submit(advance, STORE_PUT_DOC, advance->marks, count);
        return;
    }
    enum status st = collect_jobs(advance, &count);
    if (st == OK && count > 0) {
        submit(advance, STORE_CLAIM, advance->claims, count);
        return;
    }
    if (st == OK)
        st = lift(advance);
    if (st != OK)
        end(advance, st);
}

static void on_chunk(struct store_request *request, enum status st)
{
    struct advance *advance = (struct advance *)request;
    if (st != OK)
        end(advance, st);
    else
        go_on(advance);
}

static void on_timer(void *context)
{
    struct advance *advance = context;
    enum status st = OK;
    if (advance->lifts == 0)
        go_on(advance);
    else
        st = send_lift(advance);
    if (st != OK)
        end(advance, E_UNKNOWN);
}

/* Waits until the leases of the old etcd have expired. */
static void begin(struct advance *advance)
{
    int64_t now_ms = clock_now().boot.ms;
    int64_t from_ms = advance->store->epoch.halted_ms + LEASES_OUT_MS;
    int64_t wait_ms = from_ms > now_ms ? from_ms - now_ms : 0;
    advance->now_ms += wait_ms;
    loop_timer_set(advance->timer, wait_ms);
}

enum status store_kv_advance(struct store *base, int64_t now_ms, const char *by,
                             store_kv_advanced *done, void *context)
{
    struct store_kv *store = (struct store_kv *)base;
    if (store->advance)
        return E_BUSY;
    if (!store->mirror.halt || !store->is_loaded)
        return store->is_loaded && !epoch_is_halted(store) ? E_NOT_FOUND : E_UNREACHABLE;
    struct advance *advance = calloc(1, sizeof(*advance));
    if (!advance)
        return E_NOMEM;
    advance->store = store;
    advance->done = done;
    advance->context = context;
    advance->now_ms = now_ms;
    snprintf(advance->by, sizeof(advance->by), "%s", by);
    advance->finishes = calloc(CHUNK, sizeof(*advance->finishes));
    advance->claims = calloc(CHUNK, sizeof(*advance->claims));
    advance->entries = calloc(CHUNK, sizeof(*advance->entries));
    advance->marks = calloc(CHUNK, sizeof(*advance->marks));
    advance->jsons = calloc(CHUNK, sizeof(*advance->jsons));
    advance->cluster_id = store->loading_sign.cluster_id;
    if (!advance->finishes || !advance->claims || !advance->entries || !advance->marks ||
        !advance->jsons || loop_timer_new(store->loop, on_timer, advance, &advance->timer) != OK) {
        release(advance);
        return E_NOMEM;
    }
    store->advance = advance;
    begin(advance);
    return OK;
}

void advance_release(struct store_kv *store)
{
    if (store->advance)
        end(store->advance, E_UNKNOWN);
}
