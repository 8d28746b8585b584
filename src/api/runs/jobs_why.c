/* Why did it (not) run? First what is known of the tick: an open run, a recorded run or ledger
 * entry, or that it was taken out and is not in the store yet. Without that, the schedule and the
 * job's state explain why. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "cluster/nodes.h"
#include "definition/job_warning.h"
#include "function/eligible.h"
#include "function/lacks.h"
#include "groups/slots.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "live/health.h"
#include "runs/encode.h"
#include "runs/pending.h"
#include "runs/why_text.h"
#include "server.h"
#include "workflow/waits.h"

enum {
    ROWS = 200,
    READS = 20, /* pages of the history that are searched for one tick */
};

struct why {
    struct id job_uid;
    int64_t tick_ms;
    bool any_tick;  /* the schedule has no past tick: use the newest run or entry */
    bool with_next; /* no tick was asked for */
    int reads;
    struct run open;
    bool has_open;
};

/* ---- ticks of the schedule ---- */

static struct schedule_set set_of(const struct catalog_job *job)
{
    return (struct schedule_set){job->schedules, job->schedule_count};
}

static bool is_tick(const struct catalog_job *job, int64_t tick_ms)
{
    struct schedule_set set = set_of(job);
    return tick_ms % 1000 == 0 &&
           schedule_set_next(&set, tick_ms / 1000 - 1, NULL) == tick_ms / 1000;
}

/* Strictly before, in milliseconds: for 12:00:00.3 that may be 12:00:00. */
static int64_t tick_before(const struct catalog_job *job, int64_t at_ms)
{
    struct schedule_set set = set_of(job);
    int64_t tick_s = schedule_set_prev(&set, at_ms / 1000 + (at_ms % 1000 > 0), NULL);
    return tick_s == NEVER_BEFORE ? NEVER_MS : tick_s * 1000;
}

static const struct maintenance *maintenance_at(const struct call *call,
                                                const struct catalog_job *job, int64_t tick_ms)
{
    if (tick_ms == NEVER_MS)
        return NULL;
    return known_maintenance_at(&engine_catalog(call->api->ports.engine)->maintenance, job->name,
                                tick_ms + catalog_job_jitter_ms(job));
}

/* NULL: the job has no conditions. */
static const struct conditions_look *look_at(const struct call *call, const struct catalog_job *job,
                                             int64_t tick_ms, struct conditions_look *look)
{
    if (!job->conditions || tick_ms == NEVER_MS)
        return NULL;
    *look = conditions_look(engine_catalog(call->api->ports.engine), job, tick_ms);
    return look;
}

/* ---- answers ---- */

static json_t *encode_answer(const struct call *call, const struct why_answer *answer)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "tick", json_tick(answer->tick_ms), "state",
                     answer->state, "reason", json_words_or_null(run_reason_name(answer->reason)),
                     "text", json_words(answer->text.text), "run",
                     answer->run ? encode_open_run(call, answer->run) : json_null(), "entry",
                     answer->entry ? encode_entry(answer->entry) : json_null());
}

static void tell_after(const struct call *call, const struct why_facts *facts,
                       struct why_answer *answer)
{
    const struct catalog_job *others[JOB_AFTER_MAX];
    const struct job *definition = facts->definition;
    for (size_t i = 0; i < definition->after_count; i++)
        others[i] =
            catalog_awaited(engine_catalog(call->api->ports.engine), definition->after[i].job);
    why_tell_after(facts, others, answer);
}

/* The next tick, explained likewise, or what the job waits for instead. */
static json_t *encode_next(const struct call *call, const struct why_facts *facts)
{
    struct why_facts next = *facts;
    bool has_ticks = !facts->definition->after_count;
    next.any_tick = false;
    next.is_tick = true;
    next.tick_ms = catalog_job_coming(facts->job, facts->now_ms);
    if (next.tick_ms == NEVER_MS && has_ticks)
        return json_null();
    next.out = catalog_job_out(facts->job, next.tick_ms);
    next.maintenance = maintenance_at(call, facts->job, next.tick_ms);
    struct conditions_look look;
    next.look = look_at(call, facts->job, next.tick_ms, &look);
    struct why_answer answer;
    why_answer_init(&answer, call->language, next.tick_ms);
    if (has_ticks)
        why_explain(&next, &answer);
    else
        tell_after(call, facts, &answer);
    json_t *value = encode_answer(call, &answer);
    strbuf_release(&answer.text);
    return value;
}

static bool fill_facts(struct call *call, struct why_facts *ret, struct job **definition)
{
    const struct why *why = call->state;
    struct engine *engine = call->api->ports.engine;
    struct why_facts facts = {.tick_ms = why->tick_ms, .now_ms = call->now_ms};
    facts.job = catalog_by_uid(engine_catalog(call->api->ports.engine), &why->job_uid);
    if (!facts.job) {
        call_fail(call, 404, "\"%s\" no longer exists", call->argument);
        return false;
    }
    *definition = stored_job(call, facts.job);
    if (!*definition)
        return false;
    facts.definition = *definition;
    facts.before_ms = facts.after_ms = NEVER_MS;
    if (why->tick_ms != NEVER_MS) {
        facts.is_tick = is_tick(facts.job, why->tick_ms);
        facts.before_ms = tick_before(facts.job, why->tick_ms);
        facts.after_ms = catalog_job_next(facts.job, why->tick_ms);
        facts.out = catalog_job_out(facts.job, why->tick_ms);
        facts.maintenance = maintenance_at(call, facts.job, why->tick_ms);
    }
    facts.missing = catalog_job_missing_calendar(facts.job);
    facts.draining = engine_is_draining(engine);
    facts.hindrance = engine_hindrance(engine, facts.job->where);
    facts.nobody = !engine_has_node(engine, facts.job);
    facts.lacking = facts.unmatched = "";
    facts.any_tick = why->any_tick;
    struct engine_clock clock = engine_clock(engine);
    facts.doubt = clock.doubt == DOUBT_NONE ? NULL : engine_doubt_text(clock.doubt);
    facts.believed_ms = clock.until_ms;
    *ret = facts;
    return true;
}

/* The processes of its program, by their names, that have not the function; some of them, if there
 * are many. */
static void list_lacking(const struct call *call, const struct catalog_job *job, struct strbuf *out)
{
    enum { NAMED = 8 };
    const struct peers *peers = engine_peers(call->api->ports.engine);
    const char *function = catalog_job_function(job);
    size_t at = 0, count = 0;
    for (const struct known_peer *known; function && (known = table_next(&peers->by_name, &at));) {
        const struct peer *peer = &known->peer;
        if (!peer->is_alive || !eligible_matches(job->where, peer->program, peer->labels) ||
            !lacks_has(peer->lacks, function))
            continue;
        if (count++ < NAMED)
            strbuf_addf(out, "%s%s", count > 1 ? ", " : "", peer->name);
        else if (count == NAMED + 1)
            strbuf_adds(out, ", …");
    }
}

/* The run is due, and for one node alone: does that take it? */
static void tell_held(const struct call *call, const struct run *run, struct why_answer *answer)
{
    struct engine *engine = call->api->ports.engine;
    struct now now = clock_now();
    const char *only =
        run->state == RUN_DUE && run->not_before_ms <= now.wall.ms ? open_run_only_node(run) : NULL;
    const struct known_peer *known = only ? peers_find(engine_peers(engine), only) : NULL;
    char text[200];
    if (!known)
        return;
    struct known_peer node = node_as_it_is(engine, known, now);
    if (node_tell_refusal(&node, now, call->language, text, sizeof(text)))
        why_tell_held(only, text, answer);
}

struct holders {
    const struct call *call;
    struct strbuf text;
    size_t count;
};

static bool list_holder(void *context, const struct open_run *open, bool holds)
{
    enum { NAMED = 5 };
    struct holders *list = context;
    const char *job = job_name_now(list->call, &open->run.job_uid, open->run.job_name);
    char id[ID_TEXT + 1];
    if (!holds || list->count == NAMED)
        return false;
    if (!call_sees(list->call, job))
        return true;
    id_format(&open->run.id, id);
    strbuf_addf(&list->text, "%s%s %s", list->count++ ? ", " : "", job, id);
    if (open->run.node[0])
        strbuf_addf(&list->text, " (%s)", open->run.node);
    return true;
}

/* False: it does not wait for a slot. */
static bool tell_slot(const struct call *call, const struct run *run, struct why_answer *answer)
{
    struct engine *engine = call->api->ports.engine;
    struct slot_wait wait = engine_slot_wait(engine, &run->id);
    struct holders list = {.call = call};
    if (!wait.group)
        return false;
    strbuf_init(&list.text);
    slots_each(engine_slots(engine), wait.group->name, list_holder, &list);
    why_tell_slot(&wait, list.text.text, answer);
    strbuf_release(&list.text);
    return true;
}

/* `run` or `entry` is the record, or both are NULL. */
static void answer_why(struct call *call, const struct run *run, const struct ledger_entry *entry)
{
    const struct why *why = call->state;
    struct ledger_entry pending;
    struct why_facts facts;
    struct job *definition = NULL;
    if (!run && !entry && !why->any_tick &&
        pending_find(call, &why->job_uid, why->tick_ms, &pending))
        entry = &pending;
    if (!fill_facts(call, &facts, &definition))
        return;
    struct strbuf trouble, lacking;
    strbuf_init(&trouble);
    strbuf_init(&lacking);
    list_lacking(call, facts.job, &lacking);
    facts.lacking = lacking.text;
    char unmatched[80];
    if (facts.nobody) {
        const struct job_warning warning =
            job_warning(call->api->ports.engine, facts.job, call->now_ms);
        engine_tell_unmatched(call->api->ports.engine, facts.job->where, unmatched,
                              sizeof(unmatched));
        facts.nobody_ms = warning.since_ms;
        facts.unmatched = unmatched;
    }
    bool is_well = health_of_store(call->api, call->language, &trouble) == OK;
    facts.trouble = is_well ? message_in(call->language, "it does not answer") : trouble.text;
    struct conditions_look look;
    facts.look = look_at(call, facts.job, why->tick_ms, &look);
    struct why_answer answer;
    why_answer_init(&answer, call->language, why->tick_ms);
    if (run)
        why_tell_run(run, call->now_ms, &answer);
    else if (entry)
        why_tell_entry(entry, &answer);
    else
        why_explain(&facts, &answer);
    if (run)
        why_tell_function(definition, run, call->now_ms, &answer);
    if (run && run->state == RUN_DUE && facts.nobody)
        why_tell_nobody(&facts, &answer);
    else if (run && !tell_slot(call, run, &answer))
        tell_held(call, run, &answer);
    if (run && why->any_tick)
        answer.tick_ms = run->tick_ms;
    json_t *value = encode_answer(call, &answer);
    json_t *waits = waits_encode(call, &why->job_uid, why->with_next ? NEVER_MS : why->tick_ms);
    if (json_object_set_new(value, "instances", waits) != 0 ||
        (why->with_next && json_object_set_new(value, "next", encode_next(call, &facts)) != 0)) {
        json_decref(value);
        value = NULL;
    }
    strbuf_release(&answer.text);
    strbuf_release(&lacking);
    strbuf_release(&trouble);
    job_free(definition);
    call_reply(call, 200, value);
}

/* ---- what is on record ---- */

static void look_at_open(void *context, const struct run *run)
{
    struct why *why = context;
    if (id_compare(&run->job_uid, &why->job_uid) != 0 || run_is_step(run) ||
        (!why->any_tick && run->tick_ms != why->tick_ms))
        return;
    if (why->has_open && id_compare(&run->id, &why->open.id) < 0)
        return;
    why->open = *run;
    why->has_open = true;
}

/* A range covers its ends, and the ticks of the schedule in between. */
static bool covers(const struct call *call, const struct ledger_entry *entry)
{
    const struct why *why = call->state;
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &why->job_uid);
    if (why->any_tick || entry->from_ms == why->tick_ms || entry->to_ms == why->tick_ms)
        return true;
    return entry->from_ms < why->tick_ms && why->tick_ms < entry->to_ms && job &&
           is_tick(job, why->tick_ms);
}

static void record_read(struct call *call)
{
    struct why *why = call->state;
    const struct ledger_entry *entry = NULL;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    for (size_t i = 0; i < call->read.count; i++) { /* newest first */
        const struct history_row *row = &call->read.rows[i];
        if (!row->is_entry) {
            answer_why(call, &row->run, NULL);
            return;
        }
        if (!entry && covers(call, &row->entry))
            entry = &row->entry;
        if (entry && why->any_tick)
            break;
    }
    if (!entry && call->read.more && ++why->reads < READS) {
        call->read.query.before = call->read.next;
        call_read_history(call, record_read);
        return;
    }
    answer_why(call, NULL, entry);
}

static void look_up(struct call *call)
{
    struct why *why = call->state;
    engine_each_open_run(call->api->ports.engine, look_at_open, why);
    if (why->has_open) {
        answer_why(call, &why->open, NULL);
        return;
    }
    call->read.query = (struct history_query){
        .job_uid = why->job_uid,
        .with_entries = true,
        .limit = ROWS,
    };
    if (!why->any_tick) {
        call->read.query.since_ms = why->tick_ms;
        call->read.query.until_ms = why->tick_ms + 1;
    }
    call_read_history(call, record_read);
}

void why_job(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    struct why *why = job ? call_state(call, sizeof(*why), NULL) : NULL;
    const struct zone *zone =
        job && job->schedule_count ? schedule_zone(job->schedules[0]) : zone_utc();
    if (!why)
        return;
    why->job_uid = job->uid;
    why->tick_ms = NEVER_MS;
    why->with_next = !query_get(&call->query, "tick");
    if (!param_time(call, "tick", zone, &why->tick_ms))
        return;
    if (why->with_next) {
        json_t *definition = json_loads(job->json, 0, NULL);
        why->tick_ms = tick_before(job, call->now_ms + 1);
        why->any_tick =
            why->tick_ms == NEVER_MS || why->tick_ms < stored_time(definition, "created_ms");
        json_decref(definition);
    }
    if (why->any_tick)
        why->tick_ms = NEVER_MS;
    look_up(call);
}
