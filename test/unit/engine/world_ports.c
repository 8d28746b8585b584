/* What is around the engine: the store's door, the executor, and the history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attendance.h"
#include "world.h"

static struct world *of_executor(struct executor *executor)
{
    return (struct world *)((char *)executor - offsetof(struct world, executor));
}

static struct world *of_history(struct history *history)
{
    return (struct world *)((char *)history - offsetof(struct world, history));
}

/* ---- the store's door ---- */

static struct world *of_front(struct store *front)
{
    return (struct world *)((char *)front - offsetof(struct world, front));
}

/* Now and then, that somebody is there: it passes by what waits, unless it is what is held. */
static bool is_mark(const struct store_request *request)
{
    return request->op == STORE_PUT_DOC && strcmp(request->items.docs[0].kind, ATTENDANCE_DOC) == 0;
}

static void submit(struct store *front, struct store_request *request)
{
    struct world *world = of_front(front);
    if (is_mark(request) && world->door_op != STORE_PUT_DOC) {
        store_submit(world->store, request);
        return;
    }
    struct world_sent *sent = &world->sent[request->op];
    sent->requests++;
    sent->items += request->count;
    sent->most = request->count > sent->most ? request->count : sent->most;
    assert_true(world->submitted_count < sizeof(world->submitted) / sizeof(world->submitted[0]));
    world->applied_ms[world->submitted_count] = 0;
    world->submitted[world->submitted_count++] = request;
}

static void ignore(struct store_request *request, enum status st)
{
    (void)request;
    assert_int_equal(st, OK);
}

/* The store does the request; its owner is not told yet. */
static void apply(struct world *world, struct store_request *request)
{
    void (*done)(struct store_request *, enum status) = request->done;
    request->done = ignore;
    store_submit(world->store, request);
    store_dispatch(world->store);
    request->done = done;
}

void world_apply(struct world *world, size_t place)
{
    assert_true(place < world->submitted_count && !world->applied_ms[place]);
    apply(world, world->submitted[place]);
    world->applied_ms[place] = world->now.wall.ms;
}

static void answer(struct world *world, struct store_request *request, bool is_applied)
{
    enum door door = request->op == world->door_op ? world->door : DOOR_OPEN;
    if (door != DOOR_BROKEN && !is_applied)
        apply(world, request);
    world->answered++;
    request->done(request, door == DOOR_BROKEN    ? world->door_status
                           : door == DOOR_ONE_WAY ? E_UNKNOWN
                                                  : OK);
}

/* The first is not to be answered in this turn. */
static bool must_wait(struct world *world)
{
    struct store_request *first = world->submitted[0];
    if (first->op != world->door_op || (world->door != DOOR_HELD && world->door != DOOR_SLOW))
        return false;
    if (world->door == DOOR_HELD || world->applied_ms[0])
        return world->door == DOOR_HELD ||
               world->now.wall.ms < world->applied_ms[0] + WORLD_SLOW_MS;
    apply(world, first);
    world->applied_ms[0] = world->now.wall.ms;
    return true;
}

static void dispatch(struct store *front)
{
    struct world *world = of_front(front);
    store_dispatch(world->store);
    for (size_t left = world->submitted_count; left; left--) {
        if (must_wait(world))
            return;
        struct store_request *first = world->submitted[0];
        bool is_applied = world->applied_ms[0] != 0;
        size_t rest = --world->submitted_count;
        memmove(world->submitted, world->submitted + 1, rest * sizeof(world->submitted[0]));
        memmove(world->applied_ms, world->applied_ms + 1, rest * sizeof(world->applied_ms[0]));
        answer(world, first, is_applied);
    }
}

static bool next_change(struct store *front, struct store_change *ret)
{
    struct world *world = of_front(front);
    if (!id_is_zero(&world->gone)) {
        *ret = (struct store_change){.kind = STORE_CHANGE_FORGET, .gone_id = world->gone};
        world->gone = (struct id){{0}};
        return true;
    }
    if (world->fed) {
        *ret = (struct store_change){
            .kind = STORE_CHANGE_RUN, .job_uid = world->fed->job_uid, .run = world->fed};
        world->fed = NULL;
        return true;
    }
    if (world->changed) {
        *ret = *world->changed;
        world->changed = NULL;
        return true;
    }
    while (!world->silent && store_next_change(world->store, ret)) {
        bool is_job = ret->kind == STORE_CHANGE_JOB || ret->kind == STORE_CHANGE_CURSOR;
        bool is_peer = ret->kind == STORE_CHANGE_PEER;
        bool is_self = is_peer && strcmp(ret->peer->name, world->config.node) == 0;
        if (!(world->deaf && is_job) && !(world->alone && is_peer && !is_self) &&
            !(world->unheard && is_self))
            return true;
    }
    return false;
}

static enum status health(struct store *front, struct strbuf *why)
{
    struct world *world = of_front(front);
    return world->health != OK ? world->health : store_health(world->store, why);
}

static enum status announce(struct store *front, const struct peer *self)
{
    return store_announce(of_front(front)->store, self);
}

static bool leads(const struct store *front)
{
    return store_leads(of_front((struct store *)front)->store);
}

static void beat(struct store *front, bool is_often)
{
    of_front(front)->beats_often = is_often;
}

static void suspect(struct store *front, const char *node)
{
    struct world *world = of_front(front);
    snprintf(world->suspected, sizeof(world->suspected), "%s", node);
    world->suspicions++;
}

static const struct store_ops front_ops = {
    .submit = submit,
    .dispatch = dispatch,
    .next_change = next_change,
    .announce = announce,
    .beat = beat,
    .suspect = suspect,
    .leads = leads,
    .health = health,
};

/* ---- executor ---- */

static struct world_process *find_process(struct world *world, const struct id *run_id)
{
    for (size_t i = 0; i < world->process_count; i++) {
        if (id_compare(&world->processes[i].run_id, run_id) == 0)
            return &world->processes[i];
    }
    return NULL;
}

static enum status start(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct world *world = of_executor(executor);
    if (world->executor_away)
        return E_BUSY;
    assert_true(world->now.boot.ms < deadline.ms);
    assert_true(at.ms <= world->now.boot.ms + world->ahead_ms);
    if (at.ms < world->now.boot.ms)
        at = world->now.boot;
    assert_null(find_process(world, &run->id));
    assert_true(world->process_count < WORLD_ROWS);
    struct world_process *process = &world->processes[world->process_count++];
    *process = (struct world_process){
        .run_id = run->id,
        .tick_ms = run->tick_ms,
        .attempt = run->attempt,
        .part = run->part,
        .asked_ms = world->now.wall.ms,
        .at = at,
        .started_ms = wall_at(world->now, at),
        .ends_ms = at.ms + world->duration_ms,
        .fence = run->fence,
        .exit_code = world->exit_code,
    };
    snprintf(process->job_name, sizeof(process->job_name), "%s", job->name);
    snprintf(process->command, sizeof(process->command), "%s",
             job->command ? job->command[0] : job->function.program);
    snprintf(process->step, sizeof(process->step), "%s", run->step);
    if (job->command && job->command[1])
        snprintf(process->argument, sizeof(process->argument), "%s", job->command[1]);
    if (world->exits)
        process->exit_code = world->exits(run->step, run->attempt);
    return OK;
}

static void kill_process(struct executor *executor, const struct id *run_id, enum run_reason reason)
{
    struct world *world = of_executor(executor);
    struct world_process *process = find_process(world, run_id);
    assert_non_null(process);
    world->kills++;
    if (world->executor_away)
        return;
    process->killed = true;
    process->kill_reason = reason;
    process->ends_ms = world->now.boot.ms;
    if (process->at.ms > world->now.boot.ms) {
        process->was_dropped = true;
        process->at = world->now.boot;
        process->started_ms = 0;
    }
}

static void acknowledge(struct executor *executor, const struct id *run_id)
{
    struct world_process *process = find_process(of_executor(executor), run_id);
    if (process)
        process->acknowledged = true;
}

static enum status values(struct executor *executor, const struct id *run_id, char **ret,
                          size_t *ret_length)
{
    struct world *world = of_executor(executor);
    const struct world_process *process = find_process(world, run_id);
    assert_non_null(process);
    assert_true(process->ended && !process->acknowledged);
    const char *text = world->writes ? world->writes(process->step, process->attempt) : NULL;
    *ret = text ? strdup(text) : NULL;
    *ret_length = text ? strlen(text) : 0;
    return OK;
}

static enum status look(struct executor *executor, const struct id *run_id, const struct job *job,
                        const struct run *end)
{
    struct world *world = of_executor(executor);
    struct world_process *process = find_process(world, run_id);
    assert_non_null(process);
    assert_non_null(job->expect.file);
    assert_true(process->ended && !process->acknowledged);
    world->looks++;
    process->is_looked_at = true;
    process->finished_ms = end->finished_ms;
    return OK;
}

static void fill_end(const struct world *world, const struct world_process *process,
                     struct run *end)
{
    end->started_ms = process->started_ms;
    end->finished_ms = world->now.wall.ms;
    end->output_bytes = world->output_bytes;
    end->exit_code = process->killed ? -1 : process->exit_code;
    end->state = process->killed ? RUN_KILLED : process->exit_code ? RUN_FAILED : RUN_OK;
    end->reason = process->killed      ? process->kill_reason
                  : process->exit_code ? REASON_EXIT_CODE
                                       : REASON_NONE;
}

/* What waits for its time, for an engine that comes meanwhile. */
static bool name_early(struct world *world, struct executor_event *ret)
{
    for (size_t i = 0; i < world->process_count; i++) {
        struct world_process *process = &world->processes[i];
        if (process->is_named || process->ended || process->at.ms <= world->now.boot.ms)
            continue;
        process->is_named = true;
        ret->kind = EXECUTOR_STARTED;
        ret->run_id = process->run_id;
        return true;
    }
    return false;
}

/* The next one whose time has come, if it became a process. */
static bool tell_start(struct world *world, struct executor_event *ret)
{
    while (world->ready_sent < world->process_count &&
           world->processes[world->ready_sent].at.ms <= world->now.boot.ms) {
        const struct world_process *process = &world->processes[world->ready_sent++];
        if (process->was_dropped)
            continue;
        ret->kind = EXECUTOR_STARTED;
        ret->run_id = process->run_id;
        ret->end.started_ms = process->started_ms;
        return true;
    }
    return false;
}

/* The next one that is ready, and waits for its time. */
static bool tell_held(struct world *world, struct executor_event *ret)
{
    for (size_t i = world->ready_sent; world->tells_held && i < world->process_count; i++) {
        struct world_process *process = &world->processes[i];
        if (process->is_told_held || process->at.ms <= world->now.boot.ms)
            continue;
        process->is_told_held = true;
        ret->kind = EXECUTOR_HELD;
        ret->run_id = process->run_id;
        return true;
    }
    return false;
}

/* The next end whose file could be looked at. */
static bool tell_file(struct world *world, struct executor_event *ret)
{
    for (size_t i = 0; world->file.state != FILE_NOT_LOOKED_AT && i < world->process_count; i++) {
        struct world_process *process = &world->processes[i];
        if (!process->is_looked_at)
            continue;
        process->is_looked_at = false;
        ret->kind = EXECUTOR_ENDED;
        ret->run_id = process->run_id;
        fill_end(world, process, &ret->end);
        ret->end.finished_ms = process->finished_ms;
        ret->file = world->file;
        return true;
    }
    return false;
}

static bool next_event(struct executor *executor, struct executor_event *ret)
{
    struct world *world = of_executor(executor);
    *ret = (struct executor_event){0};
    if (world->tell_gone) {
        world->tell_gone = false;
        ret->kind = EXECUTOR_GONE;
        return true;
    }
    if (world->executor_away)
        return false;
    if (tell_start(world, ret) || tell_held(world, ret) || tell_file(world, ret))
        return true;
    for (size_t i = 0; i < world->process_count; i++) {
        struct world_process *process = &world->processes[i];
        if (process->ended || process->ends_ms > world->now.boot.ms || i >= world->ready_sent)
            continue;
        process->ended = true;
        ret->kind = EXECUTOR_ENDED;
        ret->run_id = process->run_id;
        fill_end(world, process, &ret->end);
        return true;
    }
    if (!world->tell_ready)
        return false;
    if (name_early(world, ret))
        return true;
    world->tell_ready = false;
    ret->kind = EXECUTOR_READY;
    return true;
}

static int64_t ahead_ms(const struct executor *executor, const struct job *job)
{
    (void)job;
    return of_executor((struct executor *)executor)->ahead_ms;
}

static unsigned enforces(const struct executor *executor)
{
    return of_executor((struct executor *)executor)->enforces;
}

static const struct executor_ops executor_ops = {.start = start,
                                                 .kill = kill_process,
                                                 .acknowledge = acknowledge,
                                                 .values = values,
                                                 .look = look,
                                                 .enforces = enforces,
                                                 .next_event = next_event,
                                                 .ahead_ms = ahead_ms};

/* ---- history ---- */

static void keep_append(struct history *history, struct history_request *request)
{
    struct world *world = of_history(history);
    assert_true(world->append_count < sizeof(world->appends) / sizeof(world->appends[0]));
    world->appends[world->append_count++] = history_request_of(request, history_append);
}

static void keep(struct world *world, const struct history_record *record)
{
    if (record->entry) {
        world->entries[world->entry_count++] = *record->entry;
        return;
    }
    world->recorded_outputs += record->chunk_count;
    for (size_t i = 0; i < world->run_count; i++) {
        if (id_compare(&world->runs[i].id, &record->run->id) == 0) {
            world->runs[i] = *record->run;
            return;
        }
    }
    world->runs[world->run_count++] = *record->run;
}

static void answer_appends(struct history *history)
{
    struct world *world = of_history(history);
    while (world->append_count) {
        struct history_append *request = world->appends[--world->append_count];
        for (size_t i = 0; !world->history_away && i < request->count; i++)
            keep(world, &request->records[i]);
        request->done(request, world->history_away ? E_UNREACHABLE : OK);
    }
}

static const struct history_ops history_ops = {.submit = keep_append, .dispatch = answer_appends};

void world_open_ports(struct world *world)
{
    world->front_ops = front_ops;
    world->front.ops = &world->front_ops;
    world->executor.ops = &executor_ops;
    world->history.ops = &history_ops;
}
