#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "sim.h"

enum { TURNS_AT_ONCE = 3000 }; /* without time passing; more is a busy loop */

struct now sim_now(const struct sim *sim)
{
    return (struct now){{sim->time_ms + sim->wall_offset_ms}, {sim->time_ms + sim->boot_offset_ms}};
}

static void enqueue(struct sim *sim, struct sim_queue *queue, struct sim_queued item,
                    int64_t latency_ms)
{
    if (queue->count == SIM_QUEUE)
        sim_fail(sim, "%d requests wait", SIM_QUEUE);
    item.ready_at_ms = sim->time_ms + (latency_ms ? sim_below(sim, latency_ms) : 0);
    if (queue->count && item.ready_at_ms < queue->items[queue->count - 1].ready_at_ms)
        item.ready_at_ms = queue->items[queue->count - 1].ready_at_ms; /* answers keep the order */
    queue->items[queue->count++] = item;
    sim->submitted++;
}

static struct sim_queued dequeue(struct sim_queue *queue)
{
    struct sim_queued first = queue->items[0];
    memmove(queue->items, queue->items + 1, --queue->count * sizeof(first));
    return first;
}

/* ---- the store: in memory, behind a connection that is slow, fails and loses answers ---- */

static struct sim *of_store(struct store *store)
{
    return (struct sim *)((char *)store - offsetof(struct sim, store));
}

static void inner_done(struct store_request *request, enum status st)
{
    ((struct sim *)request->context)->inner_answer = st;
}

void sim_apply(struct sim *sim, struct store_request *request)
{
    void (*done)(struct store_request *, enum status) = request->done;
    void *context = request->context;
    request->done = inner_done;
    request->context = sim;
    store_submit(sim->inner, request);
    store_dispatch(sim->inner);
    request->done = done;
    request->context = context;
    if (sim->inner_answer != OK)
        sim_fail(sim, "the store in memory failed: %s", status_text(sim->inner_answer));
    sim_observe(sim, request);
}

static void submit(struct store *store, struct store_request *request)
{
    struct sim *sim = of_store(store);
    enqueue(sim, &sim->requests, (struct sim_queued){.request = request}, sim->store_latency_ms);
}

static void answer_request(struct sim *sim, struct store_request *request)
{
    enum status st = OK;
    sim->hiccups -= sim->hiccups > 0;
    if (sim->store_down || (sim->hiccups && sim_chance(sim, 60)))
        st = sim_chance(sim, 50) ? E_UNKNOWN : sim_chance(sim, 50) ? E_IO : E_UNREACHABLE;
    if (st == OK || (st == E_UNKNOWN && sim_chance(sim, 50)))
        sim_apply(sim, request);
    sim->delivered++;
    request->done(request, st);
}

static void dispatch(struct store *store)
{
    struct sim *sim = of_store(store);
    for (size_t left = sim->requests.count; left; left--) {
        if (sim->requests.items[0].ready_at_ms > sim->time_ms)
            return;
        answer_request(sim, dequeue(&sim->requests).request);
    }
}

static bool next_change(struct store *store, struct store_change *ret)
{
    struct sim *sim = of_store(store);
    if (!store_next_change(sim->inner, ret))
        return false;
    sim->delivered++;
    sim_observe_change(sim, ret);
    return true;
}

static enum status health(struct store *store, struct strbuf *why)
{
    struct sim *sim = of_store(store);
    (void)why;
    return sim->store_down && sim->store_says_so ? E_UNREACHABLE : OK;
}

static enum status announce(struct store *store, const struct peer *self)
{
    return store_announce(of_store(store)->inner, self);
}

static bool leads(const struct store *store)
{
    return store_leads(of_store((struct store *)store)->inner);
}

static const struct store_ops store_ops = {
    .submit = submit,
    .dispatch = dispatch,
    .next_change = next_change,
    .announce = announce,
    .leads = leads,
    .health = health,
};

/* ---- the executor ---- */

static struct sim *of_executor(struct executor *executor)
{
    return (struct sim *)((char *)executor - offsetof(struct sim, executor));
}

static struct sim_process *find_process(struct sim *sim, const struct id *run_id)
{
    for (size_t i = sim->process_count; i-- > sim->oldest_open;) {
        if (id_compare(&sim->processes[i].run_id, run_id) == 0)
            return &sim->processes[i];
    }
    return NULL;
}

static int64_t duration_ms(struct sim *sim)
{
    if (sim_chance(sim, 60))
        return sim_below(sim, 3 * SIM_SECOND);
    return sim_below(sim, sim_chance(sim, 80) ? SIM_MINUTE : 12 * SIM_MINUTE);
}

static enum status start(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms deadline)
{
    struct sim *sim = of_executor(executor);
    sim->submitted++;
    if (sim->ghost)
        sim_fail(sim, "a dead engine starts something");
    if (sim->executor_away)
        return E_BUSY;
    if (sim_now(sim).boot.ms >= deadline.ms)
        sim_fail(sim, "a start of %s after its window", run->job_name);
    if (sim_chance(sim, 1))
        return E_TOO_LARGE;
    sim_observe_start(sim, run, job);
    if (sim->process_count == sim->process_room) {
        sim->process_room = sim->process_room ? 2 * sim->process_room : 256;
        sim->processes = realloc(sim->processes, sim->process_room * sizeof(*sim->processes));
        if (!sim->processes)
            abort();
    }
    struct sim_process *process = &sim->processes[sim->process_count++];
    *process = (struct sim_process){
        .run_id = run->id,
        .job = (size_t)(sim_find_job(sim, &run->job_uid) - sim->jobs),
        .tick_ms = run->tick_ms,
        .attempt = run->attempt,
        .started_ms = sim_now(sim).wall.ms,
        .ends_at_ms = sim->time_ms + duration_ms(sim),
        .exit_code = sim_chance(sim, 20) ? (int)sim_below(sim, 255) + 1 : 0,
        .expired = sim_chance(sim, 2),
    };
    if (process->expired)
        process->ended = process->told_start = true;
    sim->starts++;
    return OK;
}

static void kill_process(struct executor *executor, const struct id *run_id, enum run_reason reason)
{
    struct sim *sim = of_executor(executor);
    struct sim_process *process = find_process(sim, run_id);
    (void)reason;
    sim->submitted++;
    if (sim->ghost || sim->executor_away || !process || process->ended)
        return;
    process->killed = true;
    process->ends_at_ms = sim->time_ms + sim_below(sim, 3 * SIM_SECOND);
}

static void acknowledge(struct executor *executor, const struct id *run_id)
{
    struct sim *sim = of_executor(executor);
    struct sim_process *process = find_process(sim, run_id);
    if (sim->ghost || sim->executor_away || !process)
        return;
    if (!process->ended)
        sim_fail(sim, "an acknowledgement for a process that runs");
    process->acknowledged = true;
    while (sim->oldest_open < sim->process_count && sim->processes[sim->oldest_open].acknowledged)
        sim->oldest_open++;
}

static void fill_end(const struct sim_process *process, struct run *end)
{
    end->started_ms = process->started_ms;
    end->finished_ms = process->finished_ms;
    end->exit_code = process->killed || process->lost ? -1 : process->exit_code;
    end->state = process->lost        ? RUN_LOST
                 : process->killed    ? RUN_KILLED
                 : process->exit_code ? RUN_FAILED
                                      : RUN_OK;
    end->reason = process->lost        ? REASON_SPAWNER_DIED
                  : process->killed    ? REASON_SHUTDOWN
                  : process->exit_code ? REASON_EXIT_CODE
                                       : REASON_NONE;
}

static bool tell(struct sim_process *process, struct executor_event *ret)
{
    if (process->acknowledged || (process->told_start && (process->told_end || !process->ended)))
        return false;
    ret->run_id = process->run_id;
    if (!process->told_start) {
        process->told_start = true;
        ret->kind = EXECUTOR_STARTED;
        ret->end.started_ms = process->started_ms;
        return true;
    }
    process->told_end = true;
    ret->kind = process->expired ? EXECUTOR_EXPIRED : EXECUTOR_ENDED;
    if (!process->expired)
        fill_end(process, &ret->end);
    return true;
}

static bool next_event(struct executor *executor, struct executor_event *ret)
{
    struct sim *sim = of_executor(executor);
    *ret = (struct executor_event){0};
    sim->delivered++;
    if (sim->tell_gone) {
        sim->tell_gone = false;
        ret->kind = EXECUTOR_GONE;
        return true;
    }
    for (size_t i = sim->oldest_open; !sim->executor_away && i < sim->process_count; i++) {
        if (tell(&sim->processes[i], ret))
            return true;
    }
    if (!sim->executor_away && sim->tell_ready) {
        sim->tell_ready = false;
        ret->kind = EXECUTOR_READY;
        return true;
    }
    sim->delivered--;
    return false;
}

/* A new connection: everything that is not acknowledged is told again. */
static void attach_executor(struct sim *sim)
{
    for (size_t i = sim->oldest_open; i < sim->process_count; i++) {
        struct sim_process *process = &sim->processes[i];
        process->told_end = false;
        process->told_start = process->ended;
    }
    sim->tell_ready = true;
}

static const struct executor_ops executor_ops = {start, kill_process, acknowledge, next_event};

/* ---- the history ---- */

static struct sim *of_history(struct history *history)
{
    return (struct sim *)((char *)history - offsetof(struct sim, history));
}

static void append(struct history *history, struct history_append *request)
{
    struct sim *sim = of_history(history);
    enqueue(sim, &sim->appends, (struct sim_queued){.append = request}, sim->history_latency_ms);
}

static void answer_append(struct sim *sim, struct history_append *request)
{
    enum status st = OK;
    if (sim->history_down)
        st = sim_chance(sim, 30) ? E_UNKNOWN : E_IO;
    for (size_t i = 0; (st == OK || st == E_UNKNOWN) && i < request->count; i++)
        sim_observe_record(sim, &request->records[i]);
    sim->delivered++;
    request->done(request, st);
}

static void dispatch_appends(struct history *history)
{
    struct sim *sim = of_history(history);
    while (sim->appends.count && sim->appends.items[0].ready_at_ms <= sim->time_ms)
        answer_append(sim, dequeue(&sim->appends).append);
}

static const struct history_ops history_ops = {.append = append, .dispatch = dispatch_appends};

/* ---- the engine's life ---- */

static void fill_entropy(void *context, void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(sim_random(context) >> 32);
}

static void log_event(void *context, const char *event, const char *particulars)
{
    sim_log(context, "engine: %s %s", event, particulars);
}

static void start_engine(struct sim *sim)
{
    struct engine_ports ports = {
        .store = &sim->store,
        .executor = &sim->executor,
        .history = &sim->history,
        .zones = sim->zones,
        .entropy = {fill_entropy, sim},
        .log = {log_event, sim},
    };
    snprintf(sim->config.boot_id, sizeof(sim->config.boot_id), "boot-%d", sim->boots);
    if (engine_new(&sim->config, &ports, &sim->engine) != OK)
        sim_fail(sim, "no engine");
    store_memory_reload(sim->inner);
    attach_executor(sim);
}

/* kill -9: of what is on its way, a part still arrives; nobody hears the answers. */
static void kill_engine(struct sim *sim)
{
    sim->ghost = true;
    bool lost = false;
    while (sim->requests.count) {
        struct store_request *request = dequeue(&sim->requests).request;
        lost = lost || sim_chance(sim, 40);
        if (!lost)
            sim_apply(sim, request);
        request->done(request, E_UNKNOWN);
    }
    while (sim->appends.count) {
        struct history_append *request = dequeue(&sim->appends).append;
        for (size_t i = 0, kept = (size_t)sim_below(sim, 2); kept && i < request->count; i++)
            sim_observe_record(sim, &request->records[i]);
        request->done(request, E_UNKNOWN);
    }
    sim->engine = engine_free(sim->engine);
    sim->ghost = false;
}

static void no_wake(void *context)
{
    (void)context;
}

static uint64_t record_hash(const void *item)
{
    return hash_bytes(0, ((const struct sim_record *)item)->id.bytes, sizeof(struct id));
}

static bool record_has_id(const void *item, const void *key)
{
    return id_compare(&((const struct sim_record *)item)->id, key) == 0;
}

void sim_machine_init(struct sim *sim, int64_t wall_ms)
{
    static const struct table_type by_id = {record_hash, record_has_id};
    table_init(&sim->records, &by_id);
    sim->wall_offset_ms = wall_ms;
    sim->boot_offset_ms = sim_below(sim, 100 * SIM_SECOND);
    sim->boots = 1;
    sim->store.ops = &store_ops;
    sim->executor.ops = &executor_ops;
    sim->history.ops = &history_ops;
    sim->config = engine_config_default();
    sim->config.max_running = sim_chance(sim, 20) ? 3 : 0;
    snprintf(sim->config.node, sizeof(sim->config.node), "node-1");
    if (zone_db_new(NULL, &sim->zones) != OK ||
        store_memory_new((struct store_wake){no_wake, NULL}, &sim->inner) != OK)
        abort();
    start_engine(sim);
}

void sim_machine_release(struct sim *sim)
{
    kill_engine(sim);
    store_free(sim->inner);
    zone_db_free(sim->zones);
    size_t at = 0;
    for (void *record; (record = table_next(&sim->records, &at));)
        free(record);
    table_release(&sim->records);
    free(sim->processes);
    free(sim->open_runs);
}

/* ---- time ---- */

static void end_processes(struct sim *sim)
{
    for (size_t i = sim->oldest_open; i < sim->process_count; i++) {
        struct sim_process *process = &sim->processes[i];
        if (process->ended || process->ends_at_ms > sim->time_ms)
            continue;
        process->ended = true;
        process->finished_ms = sim_now(sim).wall.ms;
    }
}

/* A turn that was given nothing and did nothing would be the same again, and again. */
static int64_t turn(struct sim *sim)
{
    struct now now = sim_now(sim);
    sim->delivered = sim->submitted = 0;
    sim->turns++;
    end_processes(sim);
    engine_step(sim->engine, now);
    int64_t wake_ms = engine_wake_at(sim->engine).ms;
    if (!sim->delivered && !sim->submitted && wake_ms <= now.wall.ms)
        sim_fail(sim, "the engine wants a turn at once after one in which it did nothing");
    return wake_ms == NEVER_MS ? NEVER_MS : sim->time_ms + wake_ms - now.wall.ms;
}

static void sooner(int64_t *first_ms, int64_t other_ms)
{
    if (other_ms < *first_ms)
        *first_ms = other_ms;
}

/* All turns of this instant; when the next one is. */
static int64_t turns(struct sim *sim)
{
    for (int i = 0; i < TURNS_AT_ONCE; i++) {
        int64_t next_ms = turn(sim);
        if (sim->requests.count)
            sooner(&next_ms, sim->requests.items[0].ready_at_ms);
        if (sim->appends.count)
            sooner(&next_ms, sim->appends.items[0].ready_at_ms);
        for (size_t k = sim->oldest_open; k < sim->process_count; k++) {
            const struct sim_process *process = &sim->processes[k];
            if (!process->ended)
                sooner(&next_ms, process->ends_at_ms);
            else if (!process->told_end && !process->acknowledged && !sim->executor_away)
                sooner(&next_ms, sim->time_ms);
        }
        if (next_ms > sim->time_ms)
            return next_ms;
    }
    sim_fail(sim, "%d turns at one instant", TURNS_AT_ONCE);
}

void sim_pass(struct sim *sim, int64_t ms)
{
    int64_t until_ms = sim->time_ms + ms;
    for (;;) {
        if (sim->heal_at_ms && sim->heal_at_ms <= sim->time_ms)
            sim_heal(sim);
        int64_t next_ms = turns(sim);
        if (sim->heal_at_ms)
            sooner(&next_ms, sim->heal_at_ms);
        if (next_ms >= until_ms) {
            sim->time_ms = until_ms;
            return;
        }
        sim->time_ms = next_ms;
    }
}

/* ---- faults ---- */

void sim_heal(struct sim *sim)
{
    sim_log(sim, "all is well again");
    sim->heal_at_ms = 0;
    sim->store_down = sim->history_down = false;
    sim->hiccups = 0;
    if (sim->executor_away) {
        sim->executor_away = false;
        attach_executor(sim);
    }
}

static void for_a_while(struct sim *sim)
{
    int64_t ms =
        sim_chance(sim, 70) ? sim_below(sim, 10 * SIM_SECOND) : sim_below(sim, 5 * SIM_MINUTE);
    if (sim->time_ms + ms > sim->heal_at_ms)
        sim->heal_at_ms = sim->time_ms + ms + 1;
}

static void away_for(struct sim *sim, int64_t ms)
{
    sim->time_ms += ms;
    end_processes(sim);
}

static void restart(struct sim *sim)
{
    int64_t away_ms = sim_chance(sim, 60) ? 0 : sim_below(sim, 20 * SIM_MINUTE);
    if (sim_chance(sim, 30)) {
        sim_log(sim, "drain");
        engine_drain(sim->engine);
        sim_pass(sim, sim_below(sim, 20 * SIM_SECOND));
    }
    sim_log(sim, "kill -9; away for %lld ms", (long long)away_ms);
    kill_engine(sim);
    away_for(sim, away_ms);
    start_engine(sim);
}

static void reboot(struct sim *sim)
{
    int64_t away_ms = 10 * SIM_SECOND + sim_below(sim, 10 * SIM_MINUTE);
    sim_log(sim, "the machine reboots for %lld ms", (long long)away_ms);
    kill_engine(sim);
    for (size_t i = sim->oldest_open; i < sim->process_count; i++) {
        struct sim_process *process = &sim->processes[i];
        if (process->ended)
            continue;
        process->ended = process->lost = true;
        process->finished_ms = sim_now(sim).wall.ms;
    }
    away_for(sim, away_ms);
    sim->boots++;
    sim->boot_offset_ms = sim_below(sim, 20 * SIM_SECOND) - sim->time_ms;
    start_engine(sim);
}

static void set_clock(struct sim *sim)
{
    int64_t by_ms =
        sim_chance(sim, 70) ? sim_below(sim, 20 * SIM_SECOND) : sim_below(sim, 90 * SIM_MINUTE);
    if (sim_chance(sim, 50))
        by_ms = -by_ms;
    sim_log(sim, "the clock is set by %lld ms", (long long)by_ms);
    sim->wall_offset_ms += by_ms;
}

void sim_fault(struct sim *sim)
{
    sim->faults++;
    switch (sim_below(sim, 11)) {
    case 0:
    case 1:
        restart(sim);
        break;
    case 2:
        sim_chance(sim, 30) ? reboot(sim) : restart(sim);
        break;
    case 3:
        sim->executor_away = sim->tell_gone = true;
        for_a_while(sim);
        sim_log(sim, "the executor is away");
        break;
    case 4:
        sim->history_down = true;
        for_a_while(sim);
        sim_log(sim, "the history is away");
        break;
    case 5:
        sim->store_down = true;
        sim->store_says_so = sim_chance(sim, 50);
        for_a_while(sim);
        sim_log(sim, "the store is away");
        break;
    case 6:
        set_clock(sim);
        break;
    case 7: {
        int64_t ms = sim_below(sim, sim_chance(sim, 70) ? 30 * SIM_SECOND : SIM_HOUR);
        sim_log(sim, "the machine sleeps for %lld ms", (long long)ms);
        away_for(sim, ms);
        break;
    }
    case 8:
    case 9:
        sim->hiccups = 2 + sim_below(sim, 20);
        sim_log(sim, "the store hiccups");
        break;
    default:
        sim->store_latency_ms = sim_chance(sim, 50) ? 0 : sim_below(sim, 800) + 1;
        sim->history_latency_ms = sim_chance(sim, 50) ? 0 : sim_below(sim, 5000) + 1;
        sim_log(sim, "latency: store %lld, history %lld ms", (long long)sim->store_latency_ms,
                (long long)sim->history_latency_ms);
        break;
    }
}
