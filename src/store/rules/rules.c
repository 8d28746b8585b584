#include "rules/rules_internal.h"

#include <stdio.h>
#include <string.h>

enum status rules_make_run(struct rules *rules, const struct run *run, enum run_state state)
{
    struct run made = *run;
    made.state = state;
    if (state == RUN_QUEUED || state == RUN_DUE) {
        made.node[0] = '\0';
        made.owner = (struct incarnation){.home = 0};
        made.nonce = 0;
        if (!run_is_step(run)) /* of a step that is when it became due */
            made.claimed_ms = 0;
    }
    enum status st = rules->ops->add_run(rules->tables, &made);
    if (st == OK)
        feed_add_run(rules->feed, STORE_CHANGE_RUN, &made);
    return st;
}

enum status rules_add_entry(struct rules *rules, const struct ledger_entry *entry)
{
    enum status st = rules->ops->add_entry(rules->tables, entry);
    if (st == OK)
        feed_add_entry(rules->feed, entry);
    return st;
}

enum status rules_skip_tick(struct rules *rules, const struct run *run, const struct id *entry_id,
                            enum overlap_decision decision)
{
    struct ledger_entry entry = {
        .id = *entry_id,
        .job_uid = run->job_uid,
        .from_ms = run->tick_ms,
        .to_ms = run->tick_ms,
        .count = 1,
        .state = RUN_SKIPPED,
        .reason = decision == DECIDE_FULL ? REASON_QUEUE_FULL : REASON_OVERLAP,
        .recorded_ms = run->claimed_ms,
    };
    snprintf(entry.job_name, sizeof(entry.job_name), "%s", run->job_name);
    snprintf(entry.node, sizeof(entry.node), "%s", run->node);
    entry.owner = run->owner;
    return rules_add_entry(rules, &entry);
}

enum status rules_set_run(struct rules *rules, const struct run_row *row)
{
    enum status st = rules->ops->set_run(rules->tables, row);
    if (st == OK)
        feed_add_run(rules->feed, STORE_CHANGE_RUN, &row->run);
    return st;
}

enum status rules_next_open(struct rules *rules, const struct id *job_uid, struct run_row *row)
{
    return rules->ops->next_open(rules->tables, job_uid, row->seq, row->run.part, row);
}

enum status rules_skip_run(struct rules *rules, struct run_row *row, enum run_reason reason,
                           const char *by)
{
    bool is_last, has_waited = run_waits_for_turn(&row->run);
    row->run.state = RUN_SKIPPED;
    row->run.reason = reason;
    if (*by)
        snprintf(row->run.by, sizeof(row->run.by), "%s", by);
    enum status st =
        reason == REASON_NOT_NEEDED ? OK : rules_end_part(rules, &row->run, has_waited, &is_last);
    return st == OK ? rules_set_run(rules, row) : st;
}

void rules_feed_cursor(struct rules *rules, const struct job_row *job)
{
    feed_add(rules->feed, &(struct store_change){.kind = STORE_CHANGE_CURSOR,
                                                 .job_uid = job->uid,
                                                 .job_revision = job->revision,
                                                 .cursor_ms = job->cursor_ms,
                                                 .rewinds = job->rewinds,
                                                 .last = job->last,
                                                 .last_node = job->last_node,
                                                 .job_deleted = job->deleted});
}

void run_row_to_kill(struct run_row *row)
{
    row->run.reason = row->kill_reason;
    memcpy(row->run.by, row->kill_by, sizeof(row->run.by));
}

void rules_feed_kill(struct rules *rules, const struct run_row *row)
{
    struct run_row kill = *row;
    run_row_to_kill(&kill);
    feed_add_run(rules->feed, STORE_CHANGE_KILL, &kill.run);
}

/* A step waits for what its instance does. `finally` goes on, but not without its workflow: the
 * begin would be refused, and may be long to come. */
static bool is_waiting(const struct run_row *row, enum run_reason reason)
{
    if (run_is_step(&row->run))
        return row->run.state == RUN_DUE && (!row->run.joins.is_final || reason == REASON_DELETED);
    return row->run.state == RUN_QUEUED || row->run.state == RUN_DUE;
}

/* Nodes that boot together each run the job: `overlap` applies to the runs of one node's boots, and
 * to runs of ticks. A step goes with its instance. */
static bool is_in_the_way(const struct run *run, const char *booted)
{
    if (!booted)
        return true;
    return !run_is_step(run) && (run->cause != CAUSE_REBOOT || strcmp(run->by, booted) == 0);
}

enum status rules_skip_waiting(struct rules *rules, const struct id *job_uid, const char *booted,
                               enum run_reason reason)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = rules_next_open(rules, job_uid, &row)) == OK) {
        if (!is_waiting(&row, reason) || !is_in_the_way(&row.run, booted))
            continue;
        st = rules_skip_run(rules, &row, reason, "");
        if (st != OK)
            return st;
    }
    return st == E_NOT_FOUND ? OK : st;
}

/* Orders a kill of every open run of the job that blocks, once. Steps go with their instance. */
static enum status kill_open(struct rules *rules, const struct id *job_uid, const char *booted,
                             enum run_reason reason)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = rules_next_open(rules, job_uid, &row)) == OK) {
        if (row.kill_reason != REASON_NONE || !is_in_the_way(&row.run, booted) ||
            !run_state_is_known(row.run.state) || run_is_step(&row.run))
            continue;
        row.kill_reason = reason;
        st = rules->ops->set_run(rules->tables, &row);
        if (st != OK)
            return st;
        rules_feed_kill(rules, &row);
    }
    return st == E_NOT_FOUND ? OK : st;
}

/* Counts the open runs that block, and the queued ones. */
static enum status count_rivals(struct rules *rules, const struct id *job_uid, const char *booted,
                                int64_t *ret_open, int64_t *ret_queued)
{
    struct run_row row = {.seq = 0};
    enum status st = rules->ops->count_open(rules->tables, job_uid, ret_open, ret_queued);
    if (st != OK || !booted || !*ret_open)
        return st;
    *ret_open = 0;
    while ((st = rules_next_open(rules, job_uid, &row)) == OK)
        *ret_open += is_in_the_way(&row.run, booted);
    return st == E_NOT_FOUND ? OK : st;
}

/* Ticks of the job that are open: neither steps nor further parts count. */
static enum status count_ticks(struct rules *rules, const struct id *job_uid, int *ret)
{
    struct run_row row = {.seq = 0};
    int64_t last_ms = INT64_MIN; /* the parts of a tick follow each other */
    enum status st;
    *ret = 0;
    while ((st = rules_next_open(rules, job_uid, &row)) == OK) {
        if (run_is_step(&row.run) || (row.run.parts && row.run.tick_ms == last_ms))
            continue;
        last_ms = row.run.tick_ms;
        ++*ret;
    }
    return st == E_NOT_FOUND ? OK : st;
}

static enum status allow(struct rules *rules, const struct id *job_uid, int at_once,
                         enum overlap_decision *ret)
{
    int open = 0;
    enum status st = at_once ? count_ticks(rules, job_uid, &open) : OK;
    if (st == OK && at_once && open >= at_once)
        *ret = DECIDE_SKIP;
    return st;
}

enum status rules_overlap(struct rules *rules, const struct id *job_uid,
                          const struct overlap_rule *rule, const char *booted,
                          enum overlap_decision *ret)
{
    int64_t open, queued;
    *ret = DECIDE_START;
    if (rule->policy == OVERLAP_ALLOW)
        return allow(rules, job_uid, rule->at_once, ret);
    enum status st = count_rivals(rules, job_uid, booted, &open, &queued);
    if (st != OK || !open)
        return st;
    if (rule->policy == OVERLAP_SKIP) {
        *ret = DECIDE_SKIP;
        return OK;
    }
    if (rule->policy == OVERLAP_QUEUE) {
        *ret = queued < rule->queue_limit ? DECIDE_QUEUE : DECIDE_FULL;
        return OK;
    }
    st = rules_skip_waiting(rules, job_uid, booted, REASON_REPLACED);
    if (st == OK)
        st = kill_open(rules, job_uid, booted, REASON_REPLACED);
    if (st == OK)
        st = count_rivals(rules, job_uid, booted, &open, &queued);
    if (st == OK && open)
        *ret = DECIDE_QUEUE;
    return st;
}

/* A manual run, or one of another boot, may have this very tick. */
enum status rules_find_free_tick(struct rules *rules, struct run *run)
{
    struct id same;
    enum status st;
    while ((st = rules->ops->find_run(rules->tables, &run->job_uid, run->tick_ms, run->attempt,
                                      ANY_PART, &same)) == OK)
        run->tick_ms++;
    return st == E_NOT_FOUND ? OK : st;
}

enum status rules_release_queue(struct rules *rules, const struct id *job_uid)
{
    int64_t open, queued;
    struct run_row row;
    enum status st = rules->ops->count_open(rules->tables, job_uid, &open, &queued);
    if (st != OK || !queued || open > queued)
        return st;
    st = rules->ops->oldest_queued(rules->tables, job_uid, &row);
    if (st != OK)
        return st;
    row.run.state = RUN_DUE;
    return rules_set_run(rules, &row);
}

static enum status forget(struct rules *rules, const struct store_forget *forget)
{
    bool is_kept = false;
    enum status st = forget->is_entry ? OK : rules_drop_docs(rules, &forget->id, &is_kept);
    if (is_kept)
        return st;
    if (st == OK)
        st = forget->is_entry ? rules->ops->remove_entry(rules->tables, &forget->id)
                              : rules->ops->remove_ended_run(rules->tables, &forget->id);
    if (st == OK)
        feed_add_gone(rules->feed, &forget->id);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status drain(struct rules *rules, const struct store_drain *drain)
{
    enum status st = rules->ops->set_drain(rules->tables, drain);
    if (st == OK)
        feed_add(rules->feed, &(struct store_change){.kind = STORE_CHANGE_DRAIN, .drain = drain});
    return st;
}

enum status rules_put_large_doc(struct rules *rules, struct store_put_doc *put, size_t max)
{
    struct store_doc doc = {.json = put->json};
    int64_t now = 0;
    put->revision = 0;
    if (put->json && strlen(put->json) > max)
        return E_TOO_LARGE;
    enum status st = rules->ops->get_doc(rules->tables, put->kind, put->name, &now);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    bool exists = st == OK;
    if (!exists && (put->expected_revision > 0 || !put->json)) {
        put->result = PUT_MISSING;
        return OK;
    }
    if (exists && put->expected_revision != -1 && put->expected_revision != now) {
        put->result = PUT_CONFLICT;
        put->revision = now;
        return OK;
    }
    memcpy(doc.kind, put->kind, sizeof(doc.kind));
    memcpy(doc.name, put->name, sizeof(doc.name));
    doc.revision = now + 1;
    st = rules->ops->put_doc(rules->tables, &doc);
    if (st != OK)
        return st;
    put->result = PUT_OK;
    put->revision = doc.revision;
    feed_add(rules->feed, &(struct store_change){.kind = STORE_CHANGE_DOC, .doc = &doc});
    return OK;
}

enum status rules_put_doc(struct rules *rules, struct store_put_doc *put)
{
    return rules_put_large_doc(rules, put, DOC_JSON_MAX);
}

static enum status apply_item(struct rules *rules, struct store_request *request, size_t i)
{
    switch (request->op) {
    case STORE_CLAIM:
        return rules_claim(rules, &request->items.claims[i]);
    case STORE_TAKE:
        return rules_take(rules, &request->items.takes[i]);
    case STORE_BEGIN:
        return rules_begin(rules, &request->items.begins[i]);
    case STORE_FINISH:
        return rules_finish(rules, &request->items.finishes[i]);
    case STORE_FORGET:
        return forget(rules, &request->items.forgets[i]);
    case STORE_PUT_JOB:
        return rules_put_job(rules, &request->items.puts[i]);
    case STORE_ADD_RUN:
        return rules_add_run(rules, &request->items.adds[i]);
    case STORE_ORDER:
        return rules_order(rules, &request->items.orders[i]);
    case STORE_SET_META:
        return rules->ops->set_meta(rules->tables, &request->items.metas[i]);
    case STORE_DRAIN:
        return drain(rules, &request->items.drains[i]);
    case STORE_PUT_DOC:
        return rules_put_doc(rules, &request->items.docs[i]);
    case STORE_REWIND:
        return rules_rewind(rules, &request->items.rewinds[i]);
    case STORE_CONFIRM:
        return rules->ops->confirm ? rules->ops->confirm(rules->tables) : OK;
    }
    return E_INVALID;
}

/* ---- records ---- */

enum status rules_records_write(struct tables *tables, struct feed *feed,
                                struct rules_records *records)
{
    struct store_doc doc = {.kind = RECORDS_DOC, .revision = 1};
    if (!records->text.length)
        return OK;
    strbuf_addc(&records->text, ']');
    enum status st = strbuf_status(&records->text);
    doc.json = records->text.text;
    id_format(&records->first, doc.name);
    if (st == OK)
        st = tables->ops->put_doc(tables, &doc);
    if (st == OK)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DOC, .doc = &doc});
    strbuf_reset(&records->text);
    return st;
}

enum status rules_add_record(struct rules *rules, const struct id *id, const char *record)
{
    struct rules_records *records = rules->records;
    struct strbuf *text = &records->text;
    size_t length = strlen(record);
    enum status st = OK;
    if (length > RECORD_MAX)
        return E_TOO_LARGE;
    if (text->length && text->length + 2 + length + 1 > DOC_JSON_MAX)
        st = rules_records_write(rules->tables, rules->feed, records);
    if (st != OK)
        return st;
    if (!text->length)
        records->first = *id;
    strbuf_adds(text, text->length ? "\n," : "[");
    strbuf_add(text, record, length);
    return strbuf_status(text);
}

/* ---- requests ---- */

enum status rules_apply_one(struct tables *tables, struct feed *feed, struct rules_records *records,
                            struct store_request *request)
{
    struct rules rules = {tables, tables->ops, feed, records};
    for (size_t i = 0; i < request->count; i++) {
        enum status st = apply_item(&rules, request, i);
        if (st != OK)
            return st;
    }
    return feed->failed ? E_NOMEM : OK;
}

enum status rules_apply(struct tables *tables, struct feed *feed, struct store_request *request)
{
    struct rules_records records = {.first = {{0}}};
    strbuf_init(&records.text);
    enum status st = rules_apply_one(tables, feed, &records, request);
    if (st == OK)
        st = rules_records_write(tables, feed, &records);
    strbuf_release(&records.text);
    return st == OK && feed->failed ? E_NOMEM : st;
}
