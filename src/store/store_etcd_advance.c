/* Going on after a restore: what is open is lost, what was due until now is missed, fences go on
 * above all that were ever given, and the halt is lifted. In this order, in batches; whoever
 * starts it again after an interruption only does what is left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "store_etcd_internal.h"

enum { CHUNK = 500 };

struct advance {
    struct store_request request; /* first: it is what comes back */
    struct store_etcd *store;
    store_etcd_advanced *done;
    void *context;
    int64_t now_ms;
    char by[64];
    struct store_finish *finishes;
    struct store_claim *claims;
    struct ledger_entry *entries;
};

static void end(struct advance *advance, enum status st)
{
    store_etcd_advanced *done = advance->done;
    void *context = advance->context;
    advance->store->advance = NULL;
    free(advance->finishes);
    free(advance->claims);
    free(advance->entries);
    free(advance);
    done(context, st);
}

bool advance_owns(const struct store_etcd *store, const struct store_request *request)
{
    return store->advance && request == &store->advance->request;
}

/* ---- what is open is lost ---- */

static size_t collect_runs(struct advance *advance)
{
    const struct mirror_run *run;
    size_t count = 0;
    for (size_t at = 0; count < CHUNK && (run = table_next(&advance->store->mirror.runs, &at));) {
        if (!state_is_open(run->row.run.state))
            continue;
        struct run lost = run->row.run;
        lost.state = RUN_LOST;
        lost.reason = REASON_RESTORED;
        lost.finished_ms = advance->now_ms;
        lost.exit_code = -1;
        memcpy(lost.by, advance->by, sizeof(lost.by));
        snprintf(lost.detail, sizeof(lost.detail),
                 "etcd was restored from a backup; it may have run to its end");
        advance->finishes[count++] = (struct store_finish){.run = lost};
    }
    return count;
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
                                 .count = 0, /* nobody knows which of them ran */
                                 .state = RUN_MISSED,
                                 .reason = REASON_RESTORED,
                                 .recorded_ms = advance->now_ms};
    snprintf(ret->job_name, sizeof(ret->job_name), "%s", job->name);
    snprintf(ret->detail, sizeof(ret->detail),
             "etcd was restored from a backup: ticks until then may have run or not (%.40s)",
             advance->by);
    return OK;
}

static enum status collect_jobs(struct advance *advance, size_t *ret)
{
    const struct mirror_job *job;
    size_t count = 0;
    for (size_t at = 0; count < CHUNK && (job = table_next(&advance->store->mirror.jobs, &at));) {
        if (!job->mod_revision || job->row.deleted || job->row.cursor_ms >= advance->now_ms)
            continue;
        enum status st = make_entry(advance, job, &advance->entries[count]);
        if (st != OK)
            return st;
        advance->claims[count] = (struct store_claim){.job_uid = job->row.uid,
                                                      .job_revision = job->row.revision,
                                                      .cursor_ms = job->row.cursor_ms,
                                                      .tick_ms = advance->now_ms,
                                                      .without_run = true,
                                                      .passed = &advance->entries[count],
                                                      .passed_count = 1};
        count++;
    }
    *ret = count;
    return OK;
}

/* ---- the halt is lifted ---- */

static void on_lifted(void *context, const struct etcd_result *result)
{
    struct advance *advance = context;
    enum status st = result->status;
    if (st == OK && !result->op.txn.succeeded)
        st = E_CONFLICT; /* somebody else has */
    end(advance, st);
}

static enum status lift(struct advance *advance)
{
    struct store_etcd *store = advance->store;
    struct epoch next = store->mirror.epoch;
    struct strbuf keys[2], value;
    struct etcd_txn *txn = NULL;
    if (next.generation < store->epoch.generation) /* the backup is older than the last restore */
        next.generation = store->epoch.generation;
    next.generation++;
    strbuf_init(&keys[0]);
    strbuf_init(&keys[1]);
    strbuf_init(&value);
    strbuf_addf(&keys[0], "%s/halt", store->prefix);
    strbuf_addf(&keys[1], "%s/epoch", store->prefix);
    value_write_epoch(&value, &next);
    enum status st = etcd_txn_new(&txn);
    if (st != OK)
        goto out;
    etcd_txn_if_mod_revision(txn, etcd_text(keys[0].text), ETCD_EQUAL, store->mirror.halt_revision);
    etcd_txn_if_mod_revision(txn, etcd_text(keys[1].text), ETCD_EQUAL, next.mod_revision);
    etcd_txn_delete(txn, &(struct etcd_delete){.key = etcd_text(keys[0].text)});
    etcd_txn_put(txn, &(struct etcd_put){.key = etcd_text(keys[1].text),
                                         .value = {value.text, value.length}});
    st = etcd_txn_send(store->client, txn, &(struct etcd_reply){on_lifted, advance, 0}, NULL);
out:
    etcd_txn_free(txn);
    strbuf_release(&keys[0]);
    strbuf_release(&keys[1]);
    strbuf_release(&value);
    return st;
}

/* ---- one after the other ---- */

static void on_chunk(struct store_request *request, enum status st);

static void submit(struct advance *advance, enum store_op op, void *items, size_t count)
{
    advance->request =
        (struct store_request){.op = op, .count = count, .items.claims = items, .done = on_chunk};
    store_submit(&advance->store->base, &advance->request);
}

static void go_on(struct advance *advance)
{
    size_t count = collect_runs(advance);
    if (count > 0) {
        submit(advance, STORE_FINISH, advance->finishes, count);
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

enum status store_etcd_advance(struct store *base, int64_t now_ms, const char *by,
                               store_etcd_advanced *done, void *context)
{
    struct store_etcd *store = (struct store_etcd *)base;
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
    if (!advance->finishes || !advance->claims || !advance->entries) {
        free(advance->finishes);
        free(advance->claims);
        free(advance->entries);
        free(advance);
        return E_NOMEM;
    }
    store->advance = advance;
    go_on(advance);
    return OK;
}

void advance_release(struct store_etcd *store)
{
    if (store->advance)
        end(store->advance, E_UNKNOWN);
}
