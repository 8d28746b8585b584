/* The tables of the rules, over the mirror. Nothing is changed here: see store_kv_plan.h. */
#include "kv/store_kv_tables.h"

#include <stdio.h>
#include <string.h>

#include "group/group.h"
#include "kv/store_kv.h"
#include "params/run_input.h"

/* ---- jobs ---- */

static const struct mirror_job *defined_job(const struct store_plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    return job && job->mod_revision ? job : NULL;
}

/* Is a part of the job set aside? */
static bool is_job_aside(const struct store_plan *plan, const struct id *uid)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    return job && (job->is_definition_aside || job->is_cursor_aside);
}

/* The cursor is not compared here, only where it is written: it only grows, so an old one does no
 * harm. */
static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct store_plan *plan = (struct store_plan *)tables;
    if (is_job_aside(plan, uid))
        return E_SET_ASIDE;
    const struct mirror_job *job = defined_job(plan, uid);
    enum status st = plan_compare_definition(plan, uid, job ? job->mod_revision : 0);
    if (st != OK)
        return st;
    if (!job)
        return E_NOT_FOUND;
    *ret = job->row;
    return OK;
}

static enum status hold_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct store_plan *plan = (struct store_plan *)tables;
    if (is_job_aside(plan, uid))
        return E_SET_ASIDE;
    enum status st = plan_compare_guard(plan, uid);
    return st == OK ? get_job(tables, uid, ret) : st;
}

static enum status find_name(struct tables *tables, const char *text, struct id *ret)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_name *name = mirror_find_name(plan->mirror, text);
    if (mirror_is_aside(&plan->mirror->asides, "names/", text))
        return E_SET_ASIDE;
    enum status st =
        plan_compare_key(plan, plan_key(plan, "names", text), name ? name->mod_revision : 0);
    if (st != OK)
        return st;
    if (!name)
        return E_NOT_FOUND;
    *ret = name->uid;
    return OK;
}

/* Frees the job's old name, if the new one differs or is NULL. */
static enum status change_name(struct store_plan *plan, const struct mirror_job *job,
                               const struct id *uid, const char *name)
{
    const char *old = job && !job->row.deleted ? job->name : NULL;
    enum status st = OK;
    if (old && name && strcmp(old, name) == 0)
        return OK;
    if (old && !mirror_is_aside(&plan->mirror->asides, "names/", old))
        st = plan_delete(plan, plan_key(plan, "names", old));
    if (!name || st != OK)
        return st;
    struct plan_key key = plan_key(plan, "names", name);
    size_t value_at = plan->bytes.length;
    value_write_name(&plan->bytes, uid);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_job *job = defined_job(plan, &row->uid);
    enum status st;
    if (!job || job->row.cursor_ms != row->cursor_ms)
        st = plan_write_cursor(plan, row, TELL_NOTHING); /* fed with the job */
    else
        st = plan_touch_guard(plan, &row->uid);
    if (st == OK)
        st = change_name(plan, job, &row->uid, row->deleted ? NULL : name);
    if (st != OK)
        return st;
    struct plan_key key = plan_id_key(plan, "jobs", &row->uid);
    size_t value_at = plan->bytes.length;
    value_write_job(&plan->bytes, row, name, json);
    return plan_put(plan, (struct plan_write){.key = key, .is_last = true}, value_at);
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    return plan_write_cursor((struct store_plan *)tables, row, TELL_CHANGE);
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct store_plan *plan = (struct store_plan *)tables;
    enum status st = plan_delete_cursor(plan, uid);
    if (st == OK)
        st = change_name(plan, defined_job(plan, uid), uid, NULL);
    if (st == OK)
        st = plan_delete(plan, plan_id_key(plan, "jobs", uid));
    return st;
}

/* ---- runs ---- */

/* A run that is set aside can't be compared: nothing may depend on it. */
static bool is_run_aside(const struct store_plan *plan, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return mirror_is_aside(&plan->mirror->asides, "runs/", text);
}

static enum status get_run(struct tables *tables, const struct id *id, struct run_row *ret)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_run *run = mirror_find_run(plan->mirror, id);
    if (!run && is_run_aside(plan, id))
        return E_NOT_FOUND;
    enum status st = plan_compare_run(plan, id, run);
    if (st != OK)
        return st;
    if (!run)
        return E_NOT_FOUND;
    *ret = run->row;
    return OK;
}

/* The first run of the job, under its guard; NULL: none. */
static enum status first_run(struct store_plan *plan, const struct id *uid,
                             const struct mirror_run **ret)
{
    const struct mirror_job *job = mirror_find_job(plan->mirror, uid);
    enum status st = plan_compare_guard(plan, uid);
    if (st == OK)
        *ret = job ? TAILQ_FIRST(&job->runs) : NULL;
    return st;
}

static enum status find_run(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, int part, struct id *ret)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_run *run;
    enum status st = first_run(plan, job_uid, &run);
    if (st != OK)
        return st;
    if (run && run->job->last_tick_ms < tick_ms) /* as that of most claims */
        return E_NOT_FOUND;
    for (; run; run = TAILQ_NEXT(run, of_job)) {
        if (run_row_is(&run->row, tick_ms, attempt, part)) {
            *ret = run->row.run.id;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status find_row(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, int part, struct run_row *ret)
{
    struct store_plan *plan = (struct store_plan *)tables;
    struct id id;
    enum status st = find_run(tables, job_uid, tick_ms, attempt, part, &id);
    if (st == OK)
        *ret = mirror_find_run(plan->mirror, &id)->row;
    return st;
}

/* A cursor that is set aside is a weak guard: this version does not write it, so two ends of one
 * job do not conflict there. But nodes that can decode it write it with each run that they make. */
static enum status compare_aside_cursor(struct store_plan *plan, const struct id *uid)
{
    char text[ID_TEXT + 1];
    id_format(uid, text);
    return plan_compare_key(plan, plan_id_key(plan, "cursors", uid),
                            mirror_aside_revision(&plan->mirror->asides, "cursors/", text));
}

static enum status count_open(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued)
{
    const struct mirror_run *run;
    enum status st = first_run((struct store_plan *)tables, job_uid, &run);
    if (st != OK)
        return st;
    *ret_open = *ret_queued = 0;
    if (run && run->job->is_cursor_aside)
        st = compare_aside_cursor((struct store_plan *)tables, job_uid);
    for (; st == OK && run; run = TAILQ_NEXT(run, of_job)) {
        *ret_open += state_is_open(run->row.run.state);
        *ret_queued += run_row_is_queued(&run->row);
    }
    return st;
}

static enum status next_open(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             int after_part, struct run_row *ret)
{
    const struct mirror_run *run;
    enum status st = first_run((struct store_plan *)tables, job_uid, &run);
    if (st != OK)
        return st;
    for (; run; run = TAILQ_NEXT(run, of_job)) {
        if (run_row_is_after(&run->row, after_seq, after_part) &&
            state_is_open(run->row.run.state)) {
            *ret = run->row;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status oldest_queued(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret)
{
    const struct mirror_run *run;
    enum status st = first_run((struct store_plan *)tables, job_uid, &run);
    if (st != OK)
        return st;
    while (run && !run_row_is_queued(&run->row))
        run = TAILQ_NEXT(run, of_job);
    if (!run)
        return E_NOT_FOUND;
    *ret = run->row;
    return OK;
}

/* Who holds a slot is certain by the guard of its group; of those that wait nothing is. */
static enum status each_grouped(struct tables *tables,
                                bool (*visit)(void *context, const struct run_row *row),
                                void *context)
{
    const struct mirror *mirror = ((struct store_plan *)tables)->mirror;
    const struct mirror_run *run;
    for (int holds = 1; holds >= 0; holds--)
        for (run = mirror->grouped; run; run = run->next_grouped)
            if (run_holds_slots(&run->row.run) == (holds != 0) && !visit(context, &run->row))
                return OK;
    return OK;
}

static struct plan_key plan_doc_key(struct store_plan *plan, const char *kind, const char *name)
{
    char rest[DOC_KIND_SIZE + DOC_NAME_SIZE];
    snprintf(rest, sizeof(rest), "%s/%s", kind, name);
    return plan_key(plan, "docs", rest);
}

/* Has the request of the run handed over a body, in a document that is there, or is made with it?
 * No other text in a document has this key with an object. */
static bool has_body(struct store_plan *plan, const struct run *run)
{
    static const char mark[] = "\"body\":{";
    char name[ID_TEXT + 1];
    if (id_is_zero(&run->input) || !id_is_zero(&run->instance)) /* a workflow's has its plan */
        return false;
    id_format(&run->input, name);
    const struct mirror_doc *known = mirror_find_doc(&plan->mirror->docs, INPUT_DOC, name);
    if (known)
        return known->doc.json && strstr(known->doc.json, mark);
    struct plan_key key = plan_doc_key(plan, INPUT_DOC, name);
    const struct plan_write *write = plan_find_write(plan, &key);
    return write && !plan->bytes.failed &&
           memmem(plan->bytes.text + write->value_at, write->value_length, mark, sizeof(mark) - 1);
}

/* The value at the end of the plan's bytes, from `at` on. An older peal would start the run by a
 * definition that it does not know all of, or without the body that goes with it. */
static void leave_to_newer(struct store_plan *plan, size_t at, const struct run *run,
                           bool with_body)
{
    const struct mirror_job *job = run->state == RUN_DUE && !run_is_step(run)
                                       ? mirror_find_job(plan->mirror, &run->job_uid)
                                       : NULL;
    if (job && job->json)
        value_leave_to_newer(&plan->bytes, at, job->json);
    if (with_body)
        value_leave_body_to_newer(&plan->bytes, at);
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct store_plan *plan = (struct store_plan *)tables;
    struct run_row row = {.run = *run};
    if (mirror_find_run(plan->mirror, &run->id))
        return E_INVALID;
    bool with_body = has_body(plan, run);
    struct plan_key key = plan_run_key(plan, &run->id);
    size_t value_at = plan->bytes.length;
    value_write_run(&plan->bytes, &row, TELL_CHANGE, plan->place);
    leave_to_newer(plan, value_at, run, with_body);
    enum status st = plan_put(plan, (struct plan_write){.key = key, .tell = TELL_CHANGE}, value_at);
    if (st == OK)
        st = plan_overlay_new_run(plan, &row);
    return st == OK ? plan_touch_guard(plan, &run->job_uid) : st;
}

static bool is_waiting(enum run_state state)
{
    return state == RUN_QUEUED || state == RUN_DUE;
}

/* A run that is new in this plan gets its number with the transaction, as if it were written when
 * it was made. */
static void write_run(struct store_plan *plan, const struct mirror_run *run,
                      const struct run_row *row, enum tell tell)
{
    struct run_row written = *row;
    if (!run->mod_revision)
        written.seq = 0;
    value_write_run(&plan->bytes, &written, tell, plan_place_of(plan, run));
}

/* Of a workflow: has one more ended that the run waits for, or the first failed? */
static bool is_counted(const struct run *was, const struct run *run)
{
    return !id_is_zero(&run->instance) &&
           (run->joins.met != was->joins.met || run->joins.unmet != was->joins.unmet ||
            run->outcome != was->outcome);
}

/* Writes of a run that do not change its state or its owner, nor amend its end: what ended parts of
 * its tick leave to it, which nobody is told of; that it is a part now; a kill. */
static enum tell tell_of(const struct run_row *before, const struct run_row *row)
{
    const struct run *was = &before->run, *run = &row->run;
    if (run->state != was->state || !state_is_open(was->state) || run->nonce != was->nonce ||
        run->parts != was->parts || is_counted(was, run))
        return TELL_CHANGE;
    return run->outcome != was->outcome ? TELL_NOTHING : TELL_KILL;
}

/* An earlier item of the plan, or the item itself, may have made or changed the run: then only its
 * last state is written. */
static enum status set_run(struct tables *tables, const struct run_row *row)
{
    struct store_plan *plan = (struct store_plan *)tables;
    struct mirror_run *run = mirror_find_run(plan->mirror, &row->run.id);
    enum run_state before = run->row.run.state;
    bool is_guarded = is_waiting(before) && run->job->mod_revision && !run->job->is_cursor_aside;
    enum status st = is_guarded ? plan_compare_guard(plan, &row->run.job_uid)
                                : plan_compare_run(plan, &row->run.id, run);
    if (st != OK)
        return st;
    struct plan_key key = plan_run_key(plan, &row->run.id);
    enum tell tell = tell_of(&run->row, row);
    bool is_kill = tell == TELL_KILL;
    struct plan_write *earlier = plan_find_write(plan, &key);
    if (earlier && earlier->tell == TELL_CHANGE && is_kill)
        return E_CONFLICT; /* the feed would tell of the order, and not of the change before it */
    if (earlier && tell == TELL_NOTHING)
        tell = earlier->tell;
    if (earlier)
        plan_drop_write(plan, earlier);
    /* Ending a DUE run is no step: it goes with the last part, so that a queue always has a run
     * that releases it. Nor is ending a part that waits for its turn: the others must know. */
    bool is_step =
        is_kill || (before == RUN_QUEUED && !row->run.parts && row->run.state == RUN_SKIPPED);
    bool with_body = has_body(plan, &row->run);
    size_t value_at = plan->bytes.length;
    write_run(plan, run, row, tell);
    leave_to_newer(plan, value_at, &row->run, with_body);
    st =
        plan_put(plan, (struct plan_write){.key = key, .is_step = is_step, .tell = tell}, value_at);
    if (st == OK)
        st = plan_overlay_run(plan, run, row);
    if (st == OK &&
        (is_waiting(before) || (state_is_open(before) && !state_is_open(row->run.state))))
        st = plan_touch_guard(plan, &row->run.job_uid);
    return st;
}

static enum status remove_ended_run(struct tables *tables, const struct id *id)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_run *run = mirror_find_run(plan->mirror, id);
    if (!run && is_run_aside(plan, id))
        return E_NOT_FOUND;
    enum status st = plan_compare_run(plan, id, run);
    if (st != OK)
        return st;
    if (!run || state_is_open(run->row.run.state))
        return E_NOT_FOUND;
    return plan_delete(plan, plan_run_key(plan, id));
}

/* ---- the rest ---- */

static enum status add_entry(struct tables *tables, const struct ledger_entry *entry)
{
    struct store_plan *plan = (struct store_plan *)tables;
    if (mirror_find_entry(plan->mirror, &entry->id))
        return OK;
    struct plan_key key = plan_id_key(plan, "entries", &entry->id);
    size_t value_at = plan->bytes.length;
    value_write_entry(&plan->bytes, entry);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

/* Compared, since deleting a missing key writes nothing, and the feed would never deliver it. */
static enum status remove_entry(struct tables *tables, const struct id *id)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_entry *entry = mirror_find_entry(plan->mirror, id);
    if (!entry)
        return E_NOT_FOUND;
    struct plan_key key = plan_id_key(plan, "entries", id);
    enum status st = plan_compare_key(plan, key, entry->mod_revision);
    return st == OK ? plan_delete(plan, key) : st;
}

/* The fence follows from the transaction's revision and place: see value_write_run. */
static enum status next_fence(struct tables *tables, int64_t *ret)
{
    (void)tables;
    *ret = 0;
    return OK;
}

static enum status set_meta(struct tables *tables, const struct store_set_meta *meta)
{
    struct store_plan *plan = (struct store_plan *)tables;
    char rest[256];
    snprintf(rest, sizeof(rest), "%s/%s", plan->mirror->node, meta->key);
    struct plan_key key = plan_key(plan, "metas", rest);
    size_t value_at = plan->bytes.length;
    strbuf_adds(&plan->bytes, meta->value);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

static enum status set_drain(struct tables *tables, const struct store_drain *drain)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_drain *known = mirror_find_drain(&plan->mirror->nodes, drain->node);
    struct plan_key key = plan_key(plan, "drains", drain->node);
    enum status st = plan_compare_key(plan, key, known ? known->mod_revision : 0);
    if (st != OK || (!drain->drained && !known))
        return st;
    if (!drain->drained)
        return plan_delete(plan, key);
    size_t value_at = plan->bytes.length;
    strbuf_adds(&plan->bytes, drain->by);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

static enum status get_doc(struct tables *tables, const char *kind, const char *name,
                           int64_t *ret_revision)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_doc *known = mirror_find_doc(&plan->mirror->docs, kind, name);
    char rest[DOC_KIND_SIZE + DOC_NAME_SIZE];
    snprintf(rest, sizeof(rest), "%s/%s", kind, name);
    if (mirror_is_aside(&plan->mirror->asides, "docs/", rest))
        return E_SET_ASIDE;
    enum status st =
        plan_compare_key(plan, plan_doc_key(plan, kind, name), known ? known->mod_revision : 0);
    if (st != OK)
        return st;
    if (!known)
        return E_NOT_FOUND;
    *ret_revision = known->doc.revision;
    return OK;
}

static enum status put_doc(struct tables *tables, const struct store_doc *doc)
{
    struct store_plan *plan = (struct store_plan *)tables;
    struct plan_key key = plan_doc_key(plan, doc->kind, doc->name);
    if (!doc->json)
        return plan_delete(plan, key);
    size_t value_at = plan->bytes.length;
    value_write_doc(&plan->bytes, doc);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

/* Written once, however many items of the plan take slots. */
static enum status guard_group(struct tables *tables, const char *group)
{
    struct store_plan *plan = (struct store_plan *)tables;
    const struct mirror_doc *known = mirror_find_doc(&plan->mirror->docs, SLOTS_DOC, group);
    struct store_doc doc = {.json = "{}", .revision = 1 + (known ? known->doc.revision : 0)};
    struct plan_key key = plan_doc_key(plan, SLOTS_DOC, group);
    enum status st = plan_compare_key(plan, key, known ? known->mod_revision : 0);
    if (st != OK || plan_find_write(plan, &key))
        return st;
    size_t value_at = plan->bytes.length;
    value_write_doc(&plan->bytes, &doc);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

/* A write, which the watch tells behind all that was written before it. The value is for people. */
static enum status confirm(struct tables *tables)
{
    struct store_plan *plan = (struct store_plan *)tables;
    struct plan_key key = plan_key(plan, "confirm", "last");
    size_t value_at = plan->bytes.length;
    strbuf_adds(&plan->bytes, plan->mirror->node);
    return plan_put(plan, (struct plan_write){.key = key}, value_at);
}

const struct tables_ops plan_tables_ops =
    TABLES_OPS(hold_job, NULL, find_row, guard_group, confirm);
