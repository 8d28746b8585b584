#include "stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hash.h"

/* The clocks have no argument to say whose they are. */
static struct loop *running;

enum {
    SEQUENCE_BITS = 30, /* of a key in the heap: so many tasks; the time is above: a hundred days */
    AT_ONCE = 200000,   /* tasks at one instant; more is a busy loop */
    GHOST_MS = 600000,  /* until a program that was killed is freed */
    OVERDUE = 1 << 20,  /* numbers of tasks before which others can be put */
};

static const int64_t LATEST_MS = (INT64_MAX >> SEQUENCE_BITS) - 1;

static void task_moved(void *item, uint32_t place)
{
    ((struct task *)item)->place = place;
}

void stage_init(struct stage *stage, uint64_t seed)
{
    *stage = (struct stage){.seed = seed,
                            .random = seed,
                            .task_count = OVERDUE,
                            .is_shown = getenv("PEAL_SIM_LOG") != NULL};
    running = NULL; /* a play that failed may have left somebody there */
    heap_init(&stage->tasks, task_moved);
}

void stage_release(struct stage *stage)
{
    heap_release(&stage->tasks);
}

/* ---- chance ---- */

uint64_t stage_random(struct stage *stage)
{
    uint64_t z = stage->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t stage_below(struct stage *stage, int64_t limit)
{
    return (int64_t)hash_below(stage_random(stage), (uint64_t)limit);
}

bool stage_chance(struct stage *stage, int per_mille)
{
    return stage_below(stage, 1000) < per_mille;
}

/* The product asks the system for a seed of its jitter. */
ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)buffer)[i] = (uint8_t)(running ? stage_random(running->stage) >> 32 : i);
    return (ssize_t)length;
}

/* ---- what happened ---- */

void stage_log(struct stage *stage, const char *format, ...)
{
    if (stage->is_quiet)
        return;
    char *line = stage->log[stage->log_count++ % STAGE_LOG_LINES];
    int length = snprintf(line, STAGE_LOG_TEXT, "%9lld.%03d ", (long long)stage->now_ms / 1000,
                          (int)(stage->now_ms % 1000));
    va_list args;
    va_start(args, format);
    vsnprintf(line + length, STAGE_LOG_TEXT - (size_t)length, format, args);
    va_end(args);
    stage->hash = hash_text(stage->hash, line);
    if (stage->is_shown)
        puts(line);
}

static void print_end(const struct stage *stage, const char *what)
{
    size_t first = stage->log_count > STAGE_LOG_LINES ? stage->log_count - STAGE_LOG_LINES : 0;
    for (size_t i = first; i < stage->log_count; i++)
        printf("%s\n", stage->log[i % STAGE_LOG_LINES]);
    printf("FAILED with seed %llu at %lld.%03d s: %s\n", (unsigned long long)stage->seed,
           (long long)stage->now_ms / 1000, (int)(stage->now_ms % 1000), what);
    fflush(stdout);
}

void stage_fail(struct stage *stage, const char *format, ...)
{
    char what[STAGE_LOG_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (!stage->is_quiet)
        print_end(stage, what);
    stage->failed(stage->context, what);
    _Exit(1);
}

/* ---- tasks ---- */

void task_init(struct task *task, struct loop *machine, void (*run)(struct task *task))
{
    *task = (struct task){.run = run, .machine = machine, .place = HEAP_NONE};
}

bool task_is_set(const struct task *task)
{
    return task->place != HEAP_NONE || task->is_put_off;
}

void task_stop(struct stage *stage, struct task *task)
{
    if (task->is_put_off)
        TAILQ_REMOVE(&task->machine->put_off, task, link);
    task->is_put_off = false;
    if (task->place != HEAP_NONE)
        heap_remove(&stage->tasks, task->place);
}

void task_at(struct stage *stage, struct task *task, int64_t at_ms)
{
    if (at_ms < stage->now_ms)
        at_ms = stage->now_ms;
    if (at_ms > LATEST_MS) /* nobody lives so long */
        at_ms = LATEST_MS;
    int64_t key = at_ms << SEQUENCE_BITS | (int64_t)++stage->task_count;
    if (task->is_put_off)
        task_stop(stage, task);
    if (task->place != HEAP_NONE)
        heap_update(&stage->tasks, task->place, key);
    else if (heap_push(&stage->tasks, key, task) != OK)
        abort();
}

void task_now(struct stage *stage, struct task *task)
{
    task_stop(stage, task);
    if (heap_push(&stage->tasks, stage->now_ms << SEQUENCE_BITS, task) != OK)
        abort();
}

/* The first task, if it is due by then. */
static bool play_one(struct stage *stage, int64_t until_ms)
{
    if (!stage->tasks.count || stage->tasks.entries[0].key >> SEQUENCE_BITS > until_ms)
        return false;
    struct task *task = stage->tasks.entries[0].item;
    int64_t at_ms = stage->tasks.entries[0].key >> SEQUENCE_BITS;
    stage->at_once = at_ms == stage->now_ms ? stage->at_once + 1 : 0;
    if (stage->now_ms != at_ms)
        stage->overdue = 0;
    stage->now_ms = at_ms;
    if (stage->at_once > AT_ONCE)
        stage_fail(stage, "time stands still: somebody is busy with nothing");
    heap_remove(&stage->tasks, 0);
    struct loop *machine = task->machine;
    if (machine && machine->is_paused) {
        task->is_put_off = true;
        TAILQ_INSERT_TAIL(&machine->put_off, task, link);
        return true;
    }
    if (machine)
        machine->turns++;
    struct loop *before = machine_enter(machine);
    task->run(task);
    machine_leave(before);
    return true;
}

void stage_play(struct stage *stage, int64_t until_ms)
{
    while (play_one(stage, until_ms))
        continue;
    if (stage->now_ms < until_ms)
        stage->now_ms = until_ms;
}

/* ---- machines ---- */

void machine_init(struct loop *machine, struct stage *stage, int number, int64_t wall_ms)
{
    *machine = (struct loop){.stage = stage, .number = number, .since_ms = stage->now_ms};
    machine->boot_base_ms = stage_below(stage, 100000);
    machine->ahead_ms = wall_ms - machine->boot_base_ms;
    TAILQ_INIT(&machine->put_off);
    TAILQ_INIT(&machine->timers);
}

struct now machine_now(const struct loop *machine)
{
    int64_t passed_ms = machine->stage->now_ms - machine->since_ms;
    int64_t boot_ms = machine->boot_base_ms + machine->ghost_ms + passed_ms +
                      passed_ms * machine->drift_ppm / 1000000;
    return (struct now){{boot_ms + machine->ahead_ms}, {boot_ms}};
}

void machine_pause(struct loop *machine)
{
    machine->is_paused = true;
    if (machine->stands)
        machine->stands(machine);
}

/* What was to happen before comes first, and in its order: a message does not overtake those that
 * were sent before it. */
void machine_resume(struct loop *machine)
{
    struct stage *stage = machine->stage;
    machine->is_paused = false;
    for (struct task *task; (task = TAILQ_FIRST(&machine->put_off));) {
        task_stop(stage, task);
        int64_t key = stage->now_ms << SEQUENCE_BITS | (int64_t)++stage->overdue;
        if (heap_push(&stage->tasks, key, task) != OK)
            abort();
    }
    if (machine->stands)
        machine->stands(machine);
}

void machine_set_wall(struct loop *machine, int64_t wall_ms)
{
    machine->ahead_ms = wall_ms - machine_now(machine).boot.ms;
}

void machine_reboot(struct loop *machine)
{
    int64_t wall_ms = machine_now(machine).wall.ms;
    machine->boot_base_ms = stage_below(machine->stage, 20000);
    machine->since_ms = machine->stage->now_ms;
    machine_set_wall(machine, wall_ms);
}

void machine_act(struct loop *machine)
{
    if (!machine->crash_in || --machine->crash_in || machine->is_ghost)
        return;
    task_now(machine->stage, machine->crash);
}

struct loop *machine_enter(struct loop *machine)
{
    struct loop *before = running;
    running = machine;
    return before;
}

void machine_leave(struct loop *before)
{
    running = before;
}

struct now clock_now(void)
{
    if (!running) { /* nobody's code may ask */
        fputs("a clock is read outside of any machine\n", stderr);
        abort();
    }
    return machine_now(running);
}

/* ---- loop.h ---- */

struct loop_timer {
    struct task task;
    struct loop *loop;
    loop_timer_fired *fired;
    void *context;
    int64_t ghost_at_ms; /* by the boot clock of a ghost; INT64_MAX: not set */
    TAILQ_ENTRY(loop_timer) link;
};

static void fire(struct task *task)
{
    struct loop_timer *timer = (struct loop_timer *)task;
    timer->ghost_at_ms = INT64_MAX;
    timer->fired(timer->context);
}

enum status loop_timer_new(struct loop *loop, loop_timer_fired *fired, void *context,
                           struct loop_timer **ret)
{
    struct loop_timer *timer = calloc(1, sizeof(*timer));
    if (!timer)
        return E_NOMEM;
    task_init(&timer->task, loop, fire);
    timer->loop = loop;
    timer->fired = fired;
    timer->context = context;
    timer->ghost_at_ms = INT64_MAX;
    TAILQ_INSERT_TAIL(&loop->timers, timer, link);
    *ret = timer;
    return OK;
}

void loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    struct loop *loop = timer->loop;
    int64_t delay = delay_ms > 0 ? delay_ms : 0;
    timer->ghost_at_ms = machine_now(loop).boot.ms + delay;
    if (loop->is_ghost)
        return;
    /* By the stage's time, and never too early by the machine's. */
    int64_t stage_ms = delay - delay * loop->drift_ppm / 1000000;
    task_at(loop->stage, &timer->task, loop->stage->now_ms + stage_ms + (delay && loop->drift_ppm));
}

void loop_timer_stop(struct loop_timer *timer)
{
    timer->ghost_at_ms = INT64_MAX;
    task_stop(timer->loop->stage, &timer->task);
}

struct loop_timer *loop_timer_free(struct loop_timer *timer)
{
    if (!timer)
        return NULL;
    loop_timer_stop(timer);
    TAILQ_REMOVE(&timer->loop->timers, timer, link);
    free(timer);
    return NULL;
}

/* A ghost has nothing but its timers, and all the time of the world. */
static void run_ghost(struct loop *loop)
{
    struct loop_timer *timer, *first = NULL;
    TAILQ_FOREACH (timer, &loop->timers, link) {
        if (timer->ghost_at_ms != INT64_MAX && (!first || timer->ghost_at_ms < first->ghost_at_ms))
            first = timer;
    }
    if (!first || loop->ghost_ms > GHOST_MS)
        stage_fail(loop->stage, "a program that was killed waits for ever while it is freed");
    int64_t wait_ms = first->ghost_at_ms - machine_now(loop).boot.ms;
    loop->ghost_ms += wait_ms > 0 ? wait_ms : 0;
    task_stop(loop->stage, &first->task);
    fire(&first->task);
}

/* Waits inside a call: meanwhile the others go on. */
void loop_run_once(struct loop *loop)
{
    struct stage *stage = loop->stage;
    if (loop->is_ghost) {
        run_ghost(loop);
        return;
    }
    uint64_t turns = loop->turns;
    stage->depth++;
    while (loop->turns == turns) {
        if (!play_one(stage, INT64_MAX >> SEQUENCE_BITS))
            stage_fail(stage, "a program waits, and nothing will ever happen");
    }
    stage->depth--;
}

/* For names to be looked up: here all servers have addresses. */
struct event_base *loop_base(struct loop *loop)
{
    stage_fail(loop->stage, "a name is looked up");
}
