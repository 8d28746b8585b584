#include "stages/runner/runner_internal.h"

#include <stdio.h>
#include <string.h>

#include "definition/job_codec.h"
#include "function/job_function.h"
#include "params/run_input.h"
#include "state/inputs.h"
#include "workflow/step_job.h"

/* At most STARTS_AHEAD runs are between their begin and their process: the start window counts from
 * the begin, so runs that are begun faster than processes can be made miss it. A machine that
 * starts some fifty per second keeps every window. One that is seen to start thousands may be ahead
 * by the starts of STARTS_AHEAD_MS, so that it does not wait for the store. Those whose process the
 * executor holds ready do not count: it has shown that it can make them. When more wait, half of
 * them are begun together, since a commit costs the same for one as for many. */
enum { STARTS_AHEAD = 256, STARTS_AHEAD_MAX = 1024, STARTS_AHEAD_MS = 125, RATE_EVERY_MS = 100 };

/* A claimed run of a node that dies is taken over by another one, a begun one is lost: so where
 * there are other nodes a run is begun only this many round trips, and this long at least, before
 * its start. */
enum { BEGIN_LEAD_TRIPS = 4, BEGIN_LEAD_MIN_MS = 20 };

/* No machine boots twice in so short a time, and clocks are corrected by less. */
enum { BOOT_SLACK_MS = 10000 };

/* Some 1.5 KB each. An agent keeps those of jobs that run again within this time. */
enum { DEFINITIONS_OF_PROGRAM = 65536, DEFINITIONS_OF_AGENT = 1024, AGAIN_SOON_MS = 60000 };

static void start_moved(void *item, uint32_t place)
{
    ((struct open_run *)item)->heap_place = place;
}

void runner_init(struct runner *runner, const struct engine_ports *ports, struct outbox *outbox,
                 const struct peer *self, const char *boot_id, struct catalog *catalog,
                 struct marks *marks, struct open_runs *runs)
{
    *runner = (struct runner){.ports = ports,
                              .self = self,
                              .boot_id = boot_id,
                              .catalog = catalog,
                              .marks = marks,
                              .runs = runs,
                              .latency_ms = 5};
    outbox_sender_init(&runner->sender, outbox, runner);
    heap_init(&runner->starts, start_moved);
    definitions_init(&runner->definitions,
                     peer_is_program(self) ? DEFINITIONS_OF_PROGRAM : DEFINITIONS_OF_AGENT);
}

void runner_release(struct runner *runner)
{
    heap_release(&runner->starts);
    definitions_release(&runner->definitions);
    unsettled_release(&runner->unsettled);
}

void runner_end(struct runner *runner, struct now now, struct open_run *open, enum run_state state,
                enum run_reason reason, const char *detail)
{
    if (open->heap_place != HEAP_NONE)
        heap_remove(&runner->starts, open->heap_place);
    open_runs_end(runner->runs, open, state, reason, detail, now.wall);
}

/* ---- begin ---- */

/* When to start, on the boot clock: a step of the wall clock no longer moves it. Runs are claimed
 * shortly before their time: one that would have to wait beyond its window was claimed before the
 * clock was set back, and starts now. */
static struct boot_ms start_at(const struct runner *runner, struct now now,
                               const struct open_run *open)
{
    int64_t start_ms = now.boot.ms + open->start_at_ms - now.wall.ms;
    bool within_window = start_ms < open->begin_sent.ms + runner->start_window_ms;
    return (struct boot_ms){within_window ? start_ms : now.boot.ms};
}

/* The executor is asked for it so much before its time, if the definition is known by then. */
static int64_t ahead_ms(const struct runner *runner, const struct open_run *open)
{
    const struct executor *executor = runner->ports->executor;
    bool is_possible = open->job && executor->ops->ahead_ms;
    return is_possible ? executor->ops->ahead_ms(executor, open->job) : 0;
}

static enum status plan_start(struct runner *runner, struct now now, struct open_run *open)
{
    open->start_at = start_at(runner, now, open);
    return heap_push(&runner->starts, open->start_at.ms - ahead_ms(runner, open), open);
}

/* Decodes the definition, if the catalog has the revision of the begin: changes between begin and
 * start then do not matter. Else, or out of memory, it is decoded at the start. That of a step does
 * not change. */
static void keep_definition(struct runner *runner, struct open_run *open)
{
    struct job_error error;
    char why[sizeof(open->run.detail)];
    if (run_is_step(&open->run)) {
        if (step_job(runner->instances, &open->run, &open->job, why, sizeof(why)) != OK)
            open->job = NULL;
        return;
    }
    const struct catalog_job *job = catalog_by_uid(runner->catalog, &open->run.job_uid);
    if (!job || job->revision != open->run.job_revision)
        return;
    open->job = definitions_take(&runner->definitions, &job->uid, job->revision);
    if (!open->job && job_decode_stored(job->json, NULL, &open->job, &error) != OK)
        open->job = NULL;
}

void runner_begun(struct runner *runner, struct now now, struct open_run *open, int64_t fence,
                  int64_t job_revision)
{
    open->run.state = RUN_BEGUN;
    open->run.fence = fence;
    open->run.job_revision = job_revision;
    open_runs_move(runner->runs, open, OPEN_BEGUN);
    if (open->kill != REASON_NONE) {
        runner_end(runner, now, open, RUN_KILLED, open->kill, "killed before it started");
        return;
    }
    keep_definition(runner, open);
    if (plan_start(runner, now, open) != OK)
        runner_end(runner, now, open, RUN_FAILED, REASON_NO_START, "out of memory");
}

void runner_begun_before(struct runner *runner, struct now now, struct open_run *open)
{
    open_runs_move(runner->runs, open, OPEN_BEGUN);
    runner_end(runner, now, open, RUN_MISSED, REASON_START_WINDOW,
               "begun, but the answer was lost");
}

/* Another node has the run, or nobody: a store restored from a backup may not have it, and then the
 * feed shows no end. `@after` counts from now. */
static void drop(struct runner *runner, struct open_run *open)
{
    marks_plan(runner->marks, &open->run.job_uid, INT64_MIN);
    open_runs_remove(runner->runs, open);
}

/* A state BEGUN means: by us, with a lost answer; or by a node that has taken the run over. The
 * feed shows which, unless it has shown already that the run is gone. */
static void refused(struct runner *runner, struct now now, struct open_run *open,
                    enum run_state state)
{
    if (state == RUN_BEGUN && open->run.state == RUN_BEGUN) {
        runner_begun_before(runner, now, open);
        return;
    }
    open_runs_move(runner->runs, open, OPEN_REFUSED);
    if (open->is_forgotten || (!run_state_is_end(state) && state != RUN_BEGUN)) /* no longer ours */
        drop(runner, open);
}

/* A repeated begin may have been done by its first request: the start window counts from that. */
static void begun(struct runner *runner, struct now now, struct open_run *open,
                  const struct store_begin *begin)
{
    if (begin->is_repeat)
        open->begin_sent = open->first_begin;
    runner_begun(runner, now, open, begin->fence, begin->job_revision);
}

/* The begin is sent again; only after an unknown outcome may the run be begun already. */
static void not_begun(struct runner *runner, struct open_run *open, enum status st)
{
    open->begins -= st != E_UNKNOWN;
    open_runs_move(runner->runs, open, OPEN_CLAIMED);
}

static void begins_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct runner *runner = stage;
    outbox_note_outage(batch, st, now, runner->away);
    outbox_learn_latency(batch, now, &runner->latency_ms);
    for (size_t i = 0; i < outbox_count(batch); i++) {
        const struct store_begin *begin = &batch->request.items.begins[i];
        struct open_run *open = open_runs_find(runner->runs, &begin->run_id);
        if (!open || open->phase != OPEN_BEGINNING || open->run.nonce != begin->nonce)
            continue; /* the feed was faster, and another begin may be under way */
        if (st != OK && open->run.state == RUN_BEGUN)
            runner_begun_before(runner, now, open);
        else if (st != OK)
            not_begun(runner, open, st);
        else if (begin->begun)
            begun(runner, now, open, begin);
        else
            refused(runner, now, open, begin->refused);
    }
}

static const struct outbox_kind begins_kind = {
    .op = STORE_BEGIN, .item_size = sizeof(struct store_begin), .answered = begins_answered};

void runner_note_started(struct runner *runner, struct now now)
{
    runner->started++;
    int64_t took_ms = now.boot.ms - runner->started_since.ms;
    if (took_ms < RATE_EVERY_MS)
        return;
    runner->starts_ahead = (size_t)(runner->started * STARTS_AHEAD_MS / took_ms);
    runner->started = 0;
    runner->started_since = now.boot;
}

static size_t starts_ahead(const struct runner *runner)
{
    const struct executor *executor = runner->ports->executor;
    if (executor->ops->starts_ahead)
        return executor->ops->starts_ahead(executor);
    return runner->starts_ahead < STARTS_AHEAD       ? STARTS_AHEAD
           : runner->starts_ahead < STARTS_AHEAD_MAX ? runner->starts_ahead
                                                     : STARTS_AHEAD_MAX;
}

/* How many more runs may be between their begin and their process. */
static size_t starts_left(const struct runner *runner)
{
    const size_t *counts = runner->runs->counts;
    size_t ahead = counts[OPEN_BEGINNING] + counts[OPEN_BEGUN] + counts[OPEN_STARTING] +
                   runner->claims_beginning;
    size_t most = starts_ahead(runner);
    return ahead < most ? most - ahead : 0;
}

/* How many runs may be begun now, in one request. */
static size_t begins_left(const struct runner *runner)
{
    const size_t *counts = runner->runs->counts;
    size_t most = starts_ahead(runner), left = starts_left(runner);
    if (left > STARTS_AHEAD_MAX)
        return STARTS_AHEAD_MAX;
    return left < most / 2 && left < counts[OPEN_CLAIMED] ? 0 : left;
}

/* A run of this node, for a boot before this one. The id of a boot's run tells which; a further
 * attempt has another, but its tick is the time of the boot, by a clock that may have been
 * corrected since. */
static bool is_of_earlier_boot(const struct runner *runner, struct now now, const struct run *run)
{
    const char *node = runner->self->name;
    if (run->cause != CAUSE_REBOOT || strcmp(run->by, node) != 0)
        return false;
    if (run->attempt > 1)
        return run->tick_ms < now.wall.ms - now.boot.ms - BOOT_SLACK_MS;
    return !boot_has_run(runner->boot_id, node, &run->job_uid, &run->id);
}

/* Ends a claimed run that must no longer begin. */
static bool end_stale(struct runner *runner, struct now now, struct open_run *open)
{
    if (is_of_earlier_boot(runner, now, &open->run))
        runner_end(runner, now, open, RUN_MISSED, REASON_CATCH_UP, RUNNER_BOOTED);
    else if (open_run_is_too_late(open, runner->on_time_ms, now.wall))
        runner_end(runner, now, open, RUN_MISSED, REASON_DEADLINE, RUNNER_TOO_LATE);
    else
        return false;
    return true;
}

static int64_t end_at(const struct runner *runner, struct now now)
{
    if (runner->ends_from.ms == INT64_MAX)
        return NEVER_MS;
    int64_t from_ms = wall_at(now, runner->ends_from);
    return from_ms > now.wall.ms ? from_ms : now.wall.ms;
}

/* When to begin a claimed run, or to end one that is too late. One whose time is further ahead than
 * claims go was claimed before the clock was set back. */
static int64_t begin_at(const struct runner *runner, struct now now, const struct open_run *open)
{
    if (open_run_is_too_late(open, runner->on_time_ms, now.wall))
        return end_at(runner, now);
    double trips_ms = BEGIN_LEAD_TRIPS * runner->latency_ms;
    int64_t lead_ms = trips_ms > BEGIN_LEAD_MIN_MS ? (int64_t)trips_ms : BEGIN_LEAD_MIN_MS;
    int64_t at_ms = open->start_at_ms - lead_ms;
    bool is_to_wait = runner->is_shared && at_ms - now.wall.ms <= STORE_AHEAD_MS;
    return is_to_wait && at_ms > now.wall.ms ? at_ms : now.wall.ms;
}

/* Begins a claimed run, or ends it if it must not begin. False: out of memory. */
static bool begin_or_end(struct runner *runner, struct now now, struct open_run *open,
                         struct outbox_batch **batch)
{
    if (open->kill != REASON_NONE) {
        runner_end(runner, now, open, RUN_KILLED, open->kill, "killed before it started");
        return true;
    }
    if (end_stale(runner, now, open))
        return true;
    struct store_begin *begin = outbox_add(batch, &runner->sender, &begins_kind);
    if (!begin)
        return false;
    begin->run_id = open->run.id;
    begin->nonce = open->run.nonce;
    open->begin_sent = now.boot;
    if (open->begins++ == 0)
        open->first_begin = open->begin_sent;
    open_runs_move(runner->runs, open, OPEN_BEGINNING);
    return true;
}

static void send_begins(struct runner *runner, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct open_run *next, *open = open_runs_first(runner->runs, OPEN_CLAIMED);
    size_t left = begins_left(runner);
    for (; open && outbox_count(batch) < left; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (begin_at(runner, now, open) <= now.wall.ms && !begin_or_end(runner, now, open, &batch))
            break;
    }
    outbox_send(&batch, now);
}

/* ---- start ---- */

/* The definition to start from: that of the begin, or a newer one. E_BUSY: the feed has not
 * delivered it yet, or out of memory. Otherwise `why` says what is wrong. */
static enum status find_definition(struct runner *runner, struct open_run *open, char *why,
                                   size_t size)
{
    struct job_error error;
    const struct catalog_job *job = catalog_by_uid(runner->catalog, &open->run.job_uid);
    if (open->job)
        return OK;
    snprintf(why, size, "the job's definition can't be read");
    if (run_is_step(&open->run))
        return step_job(runner->instances, &open->run, &open->job, why, size);
    if (!job)
        return E_NOT_FOUND;
    if (job->revision < open->run.job_revision)
        return E_BUSY;
    open->run.job_revision = job->revision;
    enum status st = job_decode_stored(job->json, NULL, &open->job, &error);
    return st == E_NOMEM ? E_BUSY : st;
}

/* Applies what the request of the run has handed over to the definition. E_INVALID: `why` says what
 * does not fit, since the definition may have been changed after the request. */
static enum status fit_input(const struct runner *runner, struct open_run *open, char *why,
                             size_t size)
{
    struct input_error error = {0};
    if (run_is_step(&open->run)) /* the input is the plan, which its job was made from */
        return OK;
    const char *text = inputs_find(runner->inputs, &open->run.input);
    if (!text && !id_is_zero(&open->run.input)) {
        snprintf(why, size, "what was handed over with the request is gone");
        return E_INVALID;
    }
    enum status st = input_apply(open->job, text, &error);
    if (st == E_INVALID)
        snprintf(why, size, "%s%.63s%s%.80s", *error.name ? "parameter " : "", error.name,
                 *error.name ? ": " : "", error.why);
    return st;
}

/* When the run could have started, if only its node had been ready: at its tick, or when it was
 * taken after the runs of its tick that go before it. */
static int64_t could_start_ms(const struct open_run *open)
{
    return open->run.rolling & ROLLING_WAITED ? open->run.claimed_ms : open->start_at_ms;
}

/* The run waited, in its job's queue or for the store, longer than its job's deadline. */
static bool is_past_deadline(const struct runner *runner, struct now now,
                             const struct open_run *open)
{
    int64_t late_ms = now.wall.ms - could_start_ms(open);
    return !run_is_asked_for(&open->run) && !runner->is_doubted && open->job->deadline_s &&
           late_ms > open->job->deadline_s * 1000;
}

/* The definition may be of another kind than the one that was claimed, or the function gone. NULL:
 * it is for this node. */
static const char *why_not_here(const struct runner *runner, const struct job *job)
{
    bool is_function = job->kind == JOB_FUNCTION;
    const char *program = is_function ? job->function.program : "";
    if (strcmp(program, runner->self->program) != 0)
        return RUNNER_OF_ANOTHER_KIND;
    bool has_it = !is_function || ports_can_run(runner->ports, job_function_name(job));
    return has_it ? NULL : RUNNER_FORGOTTEN;
}

/* A workflow has no process of its own: a run of it that is begun could not be opened. */
static bool end_unopened(struct runner *runner, struct now now, struct open_run *open)
{
    char why[sizeof(open->run.detail)];
    if (open->job->kind != JOB_WORKFLOW)
        return false;
    step_tell_unopened(runner->ports, runner->instances, now, &open->run, why, sizeof(why));
    runner_end(runner, now, open, RUN_FAILED, REASON_NO_START, why);
    return true;
}

/* Its definition has no values of this run, and is needed again soon. */
static bool is_worth_keeping(const struct runner *runner, struct now now,
                             const struct open_run *open)
{
    if (!id_is_zero(&open->run.input) || run_is_step(&open->run))
        return false;
    if (peer_is_program(runner->self))
        return true;
    const struct catalog_job *job = catalog_by_uid(runner->catalog, &open->run.job_uid);
    return job && job->next_ms < now.wall.ms + AGAIN_SOON_MS;
}

static void start(struct runner *runner, struct now now, struct open_run *open)
{
    char why[sizeof(open->run.detail)];
    struct executor *executor = runner->ports->executor;
    struct boot_ms deadline = {open->begin_sent.ms + runner->start_window_ms};
    if (now.boot.ms >= deadline.ms) {
        runner_end(runner, now, open, RUN_MISSED, REASON_START_WINDOW,
                   "not started within its window");
        return;
    }
    enum status st = find_definition(runner, open, why, sizeof(why));
    if (st != OK && st != E_BUSY) {
        runner_end(runner, now, open, RUN_FAILED, REASON_NO_START, why);
        return;
    }
    if (st == OK && end_unopened(runner, now, open))
        return;
    const char *why_not = st == OK ? why_not_here(runner, open->job) : NULL;
    if (why_not) {
        runner_end(runner, now, open, RUN_MISSED, REASON_NO_NODE, why_not);
        return;
    }
    if (st == OK && is_past_deadline(runner, now, open)) {
        runner_end(runner, now, open, RUN_MISSED, REASON_DEADLINE,
                   "its deadline passed while it waited");
        return;
    }
    if (st == OK && fit_input(runner, open, why, sizeof(why)) == E_INVALID) {
        runner_end(runner, now, open, RUN_FAILED, REASON_NO_START, why);
        return;
    }
    if (st == OK)
        st = executor->ops->start(executor, &open->run, open->job, open->start_at, deadline);
    if (st == E_BUSY)
        return; /* tried again with the next turn, within the window */
    heap_remove(&runner->starts, open->heap_place);
    if (st != OK) {
        runner_end(runner, now, open, RUN_FAILED, REASON_NO_START, status_text(st));
        return;
    }
    open_runs_move(runner->runs, open, OPEN_STARTING);
    if (is_worth_keeping(runner, now, open))
        definitions_put(&runner->definitions, &open->run.job_uid, open->run.job_revision,
                        open->job);
    else
        job_free(open->job);
    open->job = NULL;
}

/* The start window opens with the begin: nothing is begun while the executor is away. */
static bool is_able(const struct runner *runner)
{
    return runner->executor_ready && !runner->is_held;
}

static bool may_begin(const struct runner *runner)
{
    return is_able(runner) && open_runs_first(runner->runs, OPEN_CLAIMED);
}

size_t runner_claims_may_begin(const struct runner *runner, struct now now)
{
    size_t left = starts_left(runner), waiting = runner->runs->counts[OPEN_CLAIMED];
    bool is_free = is_able(runner) && !runner->is_shared &&
                   store_begins_claims(runner->ports->store) &&
                   runner->sender.retry_at.ms <= now.boot.ms;
    return is_free && waiting < left ? left - waiting : 0;
}

/* While nothing may be begun, claims may become too late. */
static void end_late_claims(struct runner *runner, struct now now)
{
    struct open_run *next, *open = open_runs_first(runner->runs, OPEN_CLAIMED);
    for (; open && end_at(runner, now) <= now.wall.ms; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        end_stale(runner, now, open);
    }
}

void runner_start(struct runner *runner, struct now now)
{
    if (may_begin(runner) && runner->sender.retry_at.ms <= now.boot.ms)
        send_begins(runner, now);
    if (runner->is_held && !runner->is_doubted)
        end_late_claims(runner, now);
    while (runner->starts.count && runner->starts.entries[0].key <= now.boot.ms) {
        struct open_run *open = runner->starts.entries[0].item;
        start(runner, now, open);
        if (open->phase == OPEN_BEGUN) {
            /* Not possible yet: try again soon, until the window closes. */
            heap_update(&runner->starts, open->heap_place, now.boot.ms + 100);
        }
    }
}

/* Wall time of the next begin; NEVER_MS: none. */
static int64_t next_begin_at(const struct runner *runner, struct now now)
{
    int64_t first_ms = NEVER_MS, retry_ms = wall_at(now, runner->sender.retry_at);
    const struct open_run *open;
    TAILQ_FOREACH (open, &runner->runs->phases[OPEN_CLAIMED], in_phase) {
        int64_t at_ms = begin_at(runner, now, open);
        first_ms = at_ms < first_ms ? at_ms : first_ms;
        if (first_ms <= now.wall.ms)
            break;
    }
    return first_ms < retry_ms ? retry_ms : first_ms;
}

int64_t runner_wake_at(const struct runner *runner, struct now now)
{
    int64_t first_ms = NEVER_MS;
    if (runner->starts.count)
        first_ms = wall_at(now, (struct boot_ms){runner->starts.entries[0].key});
    if (may_begin(runner) && begins_left(runner)) {
        int64_t begin_ms = next_begin_at(runner, now);
        first_ms = begin_ms < first_ms ? begin_ms : first_ms;
    }
    return first_ms;
}
