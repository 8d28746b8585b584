/* Where the simulated cluster plays: one time for all, a queue of what happens next, one stream of
 * random numbers, and machines with clocks of their own. It stands in for src/loop and for the
 * clocks of src/base, under the same headers: a `struct loop` is a machine, and whatever the code
 * under test asks of its loop and of its clocks is answered for the machine that is running.
 *
 * The same seed is the same play, to the last message: `hash` is over everything that happened. */
#ifndef PEAL_SIM_STAGE_H
#define PEAL_SIM_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "clock.h"
#include "heap.h"
#include "loop.h"

enum { STAGE_LOG_LINES = 80, STAGE_LOG_TEXT = 220 };

struct net;
struct task;
TAILQ_HEAD(task_list, task);
TAILQ_HEAD(timer_list, loop_timer);

/* Something that happens once, at a time. Embedded in what it is about. */
struct task {
    void (*run)(struct task *task);
    struct loop *machine; /* NULL: nobody's */
    uint32_t place;       /* in the heap */
    bool is_put_off;      /* its machine is paused */
    TAILQ_ENTRY(task) link;
};

struct stage {
    uint64_t seed, random, hash;
    int64_t now_ms; /* grows evenly, whatever is done to the clocks */
    struct heap tasks;
    uint64_t task_count; /* ever */
    uint64_t at_once;    /* tasks since time last passed */
    uint64_t overdue;    /* of those, tasks of machines that went on */
    int depth;           /* of machines that wait within a call for something to happen */
    bool is_quiet;       /* nothing is written down, nor printed: that takes its time */
    bool is_shown;       /* each line as it is written down */
    char log[STAGE_LOG_LINES][STAGE_LOG_TEXT];
    size_t log_count;
    /* Prints what it likes, and ends the program. */
    void (*failed)(void *context, const char *what);
    void *context;
};

/* A machine. Its boot clock runs a little fast or slow; its wall clock can be set. */
struct loop {
    struct stage *stage;
    struct net *net;
    int number;
    int drift_ppm;
    int64_t boot_base_ms, since_ms; /* what the boot clock showed at that time of the stage */
    int64_t ahead_ms;               /* wall clock minus boot clock */
    bool is_paused;
    void (*stands)(
        struct loop *machine); /* whom it is told, each time that changes; NULL: nobody */
    struct task_list put_off;
    struct timer_list timers;
    bool is_ghost; /* its program was killed: what it still does in order to free its memory is
                      heard by nobody, and takes no time */
    int64_t ghost_ms;
    uint64_t turns;
    int crash_in; /* with so many more messages or starts; 0: never */
    struct task *crash;
};

void stage_init(struct stage *stage, uint64_t seed);
void stage_release(struct stage *stage);

/* ---- chance ---- */

uint64_t stage_random(struct stage *stage);
int64_t stage_below(struct stage *stage, int64_t limit); /* 0 <= result < limit */
bool stage_chance(struct stage *stage, int per_mille);

/* ---- what happened ---- */

void stage_log(struct stage *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void stage_fail(struct stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- what happens ---- */

void task_init(struct task *task, struct loop *machine, void (*run)(struct task *task));
void task_at(struct stage *stage, struct task *task, int64_t at_ms); /* moves it, if need be */
void task_now(struct stage *stage, struct task *task); /* before all else that happens now */
void task_stop(struct stage *stage, struct task *task);
bool task_is_set(const struct task *task);

/* Lets everything happen until then. */
void stage_play(struct stage *stage, int64_t until_ms);

/* ---- machines ---- */

void machine_init(struct loop *machine, struct stage *stage, int number, int64_t wall_ms);
struct now machine_now(const struct loop *machine);
void machine_pause(struct loop *machine);
void machine_resume(struct loop *machine);
void machine_set_wall(struct loop *machine, int64_t wall_ms);
void machine_reboot(struct loop *machine); /* its boot clock starts anew */

/* The program sends or hears something, or starts a process: perhaps its last act. */
void machine_act(struct loop *machine);

/* The machine that runs from now on; returns the one before. */
struct loop *machine_enter(struct loop *machine);
void machine_leave(struct loop *before);

#endif
