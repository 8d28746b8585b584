/* Performs one action on the jobs of a page that jobs_match.c chose: prepares them in slices,
 * submits one store request, records what was done, and reports each failure. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "confirm.h"
#include "handlers.h"
#include "hash.h"
#include "jobs/jobs_act.h"
#include "note.h"
#include "params/run_input.h"
#include "server.h"

enum { SLICE = 50 }; /* definitions decoded per turn, so that due jobs do not wait */

static const enum change_action changes[] = {
    [ACT_RUN] = CHANGE_RUN,   [ACT_PAUSE] = CHANGE_PAUSE,  [ACT_RESUME] = CHANGE_RESUME,
    [ACT_KILL] = CHANGE_KILL, [ACT_LABEL] = CHANGE_CHANGE, [ACT_DELETE] = CHANGE_DELETE,
};

static void end_page(struct call *call)
{
    struct job_act *act = call->state;
    act->touched = 0;
    for (size_t i = 0; i < act->count; i++) {
        if (!act->items[i].is_done)
            continue;
        act->touched++;
        job_act_name(act, act->names, act->items[i].name);
    }
    note_write(call, job_act_reply);
}

/* ---- changes of the definition ---- */

static void pause(struct job *definition, int64_t now_ms)
{
    set_paused(definition, true, now_ms);
}

static void resume(struct job *definition, int64_t now_ms)
{
    set_paused(definition, false, now_ms);
}

static enum status prepare_labels(const struct job_act *act, const struct catalog_job *job,
                                  struct job_write *ret)
{
    struct job *old = NULL;
    struct job_error error;
    enum status st = job_decode_stored(job->json, act->call->api->ports.zones, &old, &error);
    if (st != OK)
        return st;
    json_t *patch = json_pack("{s:O}", "labels", act->labels);
    json_t *definition = patch ? job_encode_json(old, false) : NULL;
    bool is_patched = definition && job_patch(definition, patch);
    const struct job_author author = {.seen = SECRETS_CLEAR};
    st = is_patched ? job_write_prepare_json(act->call, definition, &author, ret, &error) : E_NOMEM;
    json_decref(patch);
    json_decref(definition);
    job_free(old);
    return st;
}

static enum status prepare_put(struct job_act *act, struct catalog_job *job, struct act_item *item)
{
    static job_edit *const edits[] = {
        [ACT_PAUSE] = pause,
        [ACT_RESUME] = resume,
        [ACT_DELETE] = mark_deleted,
    };
    enum status st = act->act == ACT_LABEL
                         ? prepare_labels(act, job, &item->write)
                         : job_write_edit(act->call, job, edits[act->act], &item->write);
    if (st != OK)
        return st;
    if (item->write.kind == WRITE_NOTHING) {
        job_act_leave(act, LEAVE_LABELLED, item->name); /* meanwhile, by another call */
        return OK;
    }
    item->place = act->asked_count++;
    act->asked.puts[item->place] = job_write_put(&item->write);
    act->asked.puts[item->place].deleted = act->act == ACT_DELETE;
    return OK;
}

static void puts_done(struct call *call)
{
    struct job_act *act = call->state;
    for (size_t i = 0; i < act->count; i++) {
        struct act_item *item = &act->items[i];
        if (item->place == SIZE_MAX)
            continue;
        const struct store_put_job *put = &act->asked.puts[item->place];
        switch (put->result) {
        case PUT_OK:
            item->is_done = true;
            job_write_note(call, changes[act->act], &item->write, put->revision);
            break;
        case PUT_MISSING:
            job_act_leave(act, LEAVE_GONE, item->name);
            break;
        case PUT_CONFLICT:
        case PUT_EXISTS:
            job_act_fail(act, item->name, "somebody else changed it meanwhile; try again");
            break;
        }
    }
}

/* ---- runs ---- */

/* Deterministic: a repeated call can't start a second run. */
static struct id run_id(const struct call *call, const struct id *job_uid)
{
    struct id id = idempotency_run_id(call);
    uint64_t mixed = hash_bytes(0, job_uid->bytes, sizeof(job_uid->bytes));
    for (size_t i = 0; i < sizeof(mixed); i++)
        id.bytes[sizeof(id.bytes) - 1 - i] ^= (uint8_t)(mixed >> 8 * i);
    return id;
}

static enum status prepare_run(struct job_act *act, const struct catalog_job *job,
                               struct act_item *item)
{
    struct job *definition = NULL;
    struct job_error error;
    const struct call *call = act->call;
    enum status st = job_decode_stored(job->json, call->api->ports.zones, &definition, &error);
    if (st != OK)
        return st;
    struct input_error why = {0};
    json_t *params = NULL;
    st = input_choose_params(definition, NULL, &params, &why);
    json_decref(params);
    if (st != OK) {
        if (st == E_INVALID)
            job_act_fail(act, item->name, "it has a parameter without a default; run it by itself");
        job_free(definition);
        return st == E_INVALID ? OK : st;
    }
    int64_t tick_ms = run_tick_of_now(call->now_ms);
    item->place = act->asked_count++;
    struct store_add_run *add = &act->asked.adds[item->place];
    *add = (struct store_add_run){.is_for_now = true,
                                  .overlap = definition->overlap,
                                  .queue_limit = definition->queue_limit,
                                  .at_once = definition->overlap_at_once};
    fill_run(call, job, CAUSE_MANUAL, tick_ms, &add->run);
    add->run.id = run_id(call, &job->uid);
    job_free(definition);
    return OK;
}

static void runs_done(struct call *call)
{
    struct job_act *act = call->state;
    for (size_t i = 0; i < act->count; i++) {
        struct act_item *item = &act->items[i];
        if (item->place == SIZE_MAX)
            continue;
        const struct store_add_run *add = &act->asked.adds[item->place];
        if (!add->added) {
            job_act_leave(act, id_is_zero(&add->open_run) ? LEAVE_GONE : LEAVE_BUSY, item->name);
            continue;
        }
        item->is_done = true;
        act->runs++;
        note_run(call, CHANGE_RUN, &add->run);
    }
}

/* ---- kills: of all runs that the jobs of the page have open ---- */

static int by_uid(const void *a, const void *b)
{
    return id_compare(&((const struct act_item *)a)->uid, &((const struct act_item *)b)->uid);
}

/* NULL: not of these jobs, or a step: that ends with its instance. */
static struct act_item *item_of(const struct job_act *act, const struct run *run)
{
    struct act_item key = {.uid = run->job_uid};
    return run_is_step(run) ? NULL : bsearch(&key, act->items, act->count, sizeof(key), by_uid);
}

static void count_order(void *context, const struct run *run)
{
    struct job_act *act = context;
    act->asked_count += item_of(act, run) != NULL;
}

static void add_order(void *context, const struct run *run)
{
    struct job_act *act = context;
    struct act_item *item = item_of(act, run);
    if (!item || run_state_is_end(run->state))
        return;
    if (run_is_out_of_reach(act->call, run)) {
        job_act_leave(act, LEAVE_AWAY, item->name);
        return;
    }
    struct store_order *order = &act->asked.orders[act->asked_count];
    *order = (struct store_order){.run_id = run->id, .reason = REASON_USER};
    snprintf(order->by, sizeof(order->by), "%s", act->call->principal.name);
    act->killed[act->asked_count++] = *run;
}

static bool prepare_kills(struct call *call)
{
    struct job_act *act = call->state;
    qsort(act->items, act->count, sizeof(*act->items), by_uid);
    call_each_open_run(call, count_order, act);
    act->asked.orders = calloc(act->asked_count + 1, sizeof(*act->asked.orders));
    act->killed = calloc(act->asked_count + 1, sizeof(*act->killed));
    act->asked_count = 0;
    if (!act->asked.orders || !act->killed)
        return false;
    call_each_open_run(call, add_order, act);
    return true;
}

static void kills_done(struct call *call)
{
    struct job_act *act = call->state;
    for (size_t i = 0; i < act->asked_count; i++) {
        struct act_item *item = item_of(act, &act->killed[i]);
        if (!act->asked.orders[i].known || !item)
            continue; /* it has ended by itself */
        item->is_done = true;
        act->runs++;
        note_run(call, CHANGE_KILL, &act->killed[i]);
    }
}

/* ---- the way of a page ---- */

static void store_answered(struct call *call)
{
    const struct job_act *act = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    if (act->act == ACT_KILL)
        kills_done(call);
    else if (act->act == ACT_RUN)
        runs_done(call);
    else
        puts_done(call);
    end_page(call);
}

static void submit(struct call *call)
{
    struct job_act *act = call->state;
    struct quota_excess excess;
    if (!act->asked_count) {
        end_page(call);
        return;
    }
    if (act->act == ACT_RUN || act->act == ACT_KILL) {
        call_submit(call, act->act == ACT_RUN ? STORE_ADD_RUN : STORE_ORDER, act->asked.any,
                    act->asked_count, store_answered);
        return;
    }
    enum status st = job_puts_submit(call, act->asked.puts, act->asked_count,
                                     act->act == ACT_LABEL ? PUT_TO_DEFINE : PUT_TO_NOTE,
                                     store_answered, &excess);
    if (st != OK)
        call_fail_put(call, st, &excess);
}

/* E_NOMEM, or OK: an impossible action is reported in the answer. */
static enum status prepare(struct job_act *act, struct act_item *item)
{
    struct catalog_job *job =
        catalog_by_uid(engine_catalog(act->call->api->ports.engine), &item->uid);
    if (!job || job->deleted) {
        job_act_leave(act, LEAVE_GONE, item->name);
        return OK;
    }
    enum status st =
        act->act == ACT_RUN ? prepare_run(act, job, item) : prepare_put(act, job, item);
    if (st == E_NOMEM)
        return st;
    if (st != OK)
        job_act_leave(act, LEAVE_BROKEN, item->name);
    return OK;
}

static void prepare_slice(struct call *call)
{
    struct job_act *act = call->state;
    for (int i = 0; i < SLICE && act->prepared < act->count; i++) {
        if (prepare(act, &act->items[act->prepared++]) != OK) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    if (act->prepared < act->count)
        call_later(call, prepare_slice);
    else
        submit(call);
}

void job_act_do(struct call *call)
{
    struct job_act *act = call->state;
    if (act->act == ACT_KILL) {
        if (prepare_kills(call))
            submit(call);
        else
            call_fail(call, 500, "out of memory");
        return;
    }
    act->asked.any = act->act == ACT_RUN ? calloc(act->count + 1, sizeof(*act->asked.adds))
                                         : calloc(act->count + 1, sizeof(*act->asked.puts));
    if (act->asked.any)
        prepare_slice(call);
    else
        call_fail(call, 500, "out of memory");
}

/* From here on what is left out, as it is so already, is so in the store; a dry run that has found
 * nothing to do is the last that the client asks. */
static void confirmed(struct call *call)
{
    if (call->answer == OK)
        job_act_look(call);
    else
        call_fail_unconfirmed(call);
}

void act_on_jobs(struct call *call)
{
    struct job_act *act = call_state(call, sizeof(*act), job_act_release);
    if (!act || !job_act_read(call, act))
        return;
    act->items = calloc((size_t)act->limit, sizeof(*act->items));
    act->names = json_array();
    act->failed = json_array();
    bool has_all = act->items && act->names && act->failed;
    for (size_t i = 0; i < LEAVE_COUNT; i++) {
        act->left[i].names = json_array();
        has_all &= act->left[i].names != NULL;
    }
    if (has_all)
        call_confirm(call, confirmed);
    else
        call_fail(call, 500, "out of memory");
}
