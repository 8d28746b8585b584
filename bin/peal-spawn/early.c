#include "early.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "serve/low_fds.h"
#include "spawner.h"

#define MANY            4 /* that are let go at once are a burst, see start.c */
#define LISTEN_LATER_MS 20
#define HELD_BATCH      128
#define SAME_TICK_US    1000 /* times that lie no further apart are of one tick */
#define FIRST_HELD      4    /* of a tick are held ... */
#define FEW             128  /* ... and all, if it has more than these */

static void early_free(struct early *early)
{
    if (early->stdin_fd >= 0)
        close(early->stdin_fd);
    free(early->block);
    explicit_bzero(early->message, early->length); /* it may have secrets */
    free(early);
}

static void take_out(struct spawner *s, struct early *early)
{
    TAILQ_REMOVE(&s->early, early, link);
    s->early_left -= early->is_left;
    early->run->early = NULL;
}

/* ---- coming ---- */

/* By their times; most come in that order. */
static void enqueue(struct spawner *s, struct early *early)
{
    struct early *before = TAILQ_LAST(&s->early, early_queue);
    while (before && before->request.at_boot_us > early->request.at_boot_us)
        before = TAILQ_PREV(before, early_queue, link);
    if (before)
        TAILQ_INSERT_AFTER(&s->early, before, early, link);
    else
        TAILQ_INSERT_HEAD(&s->early, early, link);
}

/* A copy of the message, with a descriptor of its own. NULL: out of memory or descriptors. */
static struct early *keep(const struct spawn_message *message, int stdin_fd)
{
    struct early *early = calloc(1, sizeof(*early) + message->body_length);
    if (!early)
        return NULL;
    memcpy(early->message, message->body, message->body_length);
    early->length = message->body_length;
    struct spawn_message copy = *message;
    copy.body = early->message;
    early->stdin_fd = stdin_fd >= 0 ? fcntl(stdin_fd, F_DUPFD_CLOEXEC, LOW_FDS) : -1;
    if ((stdin_fd >= 0 && early->stdin_fd < 0) ||
        spawn_decode_start(&copy, &early->request, &early->block) != OK) {
        early_free(early);
        return NULL;
    }
    return early;
}

/* Its deadline comes before its time. */
static bool is_never(const struct spawn_request *request)
{
    int64_t deadline_ms = request->deadline_boot_ms;
    return deadline_ms && request->at_boot_us / 1000 >= deadline_ms;
}

static bool hold(struct spawner *s, struct early *early)
{
    if (s->launches.held < LAUNCH_HELD &&
        start_hold(s, early->run, &early->request, early->stdin_fd, &early->held))
        return true;
    early->held = NULL; /* it is made at its time */
    return false;
}

static bool is_of_tick(const struct early *early, int64_t at_us)
{
    int64_t apart_us = early->request.at_boot_us - at_us;
    return apart_us < SAME_TICK_US && apart_us > -SAME_TICK_US;
}

/* The tick is a large one: those that were left for their time are held, too. */
static void hold_others(struct spawner *s)
{
    struct early *early;
    TAILQ_FOREACH (early, &s->early, link) {
        if (!early->is_left || !is_of_tick(early, s->tick.at_boot_us))
            continue;
        early->is_left = false;
        s->early_left--;
        (void)hold(s, early);
    }
}

/* How many of its tick came before it, without another tick between them. */
static size_t count_in(struct early_tick *tick, const struct early *early)
{
    if (!is_of_tick(early, tick->at_boot_us))
        *tick = (struct early_tick){.at_boot_us = early->request.at_boot_us};
    return tick->count++;
}

/* A process that is held costs half as much again as one that is made and runs at once: it waits,
 * and is woken on a processor that knows nothing of it any more. The first of a tick are on time by
 * it, and a large burst is begun before its time. Some hundred are made as fast as they run, so
 * that nothing is gained by holding them; the agent is told that they are ready all the same. */
static void prepare(struct spawner *s, struct early *early)
{
    size_t place = count_in(&s->tick, early);
    early->is_left = place >= FIRST_HELD && place < FEW && s->early_left < FEW;
    s->early_left += early->is_left;
    if (place == FEW)
        hold_others(s);
    if (early->is_left || hold(s, early))
        agent_report(s, early->run, REPORT_HELD);
}

enum status early_add(struct spawner *s, const struct spawn_message *message, int stdin_fd)
{
    struct early *early = keep(message, stdin_fd);
    if (!early)
        return E_NOMEM;
    struct run *run = start_new(s, &early->request);
    if (!run) { /* known, or out of memory: that is told */
        early_free(early);
        return OK;
    }
    if (is_never(&early->request)) {
        early_free(early);
        life_fail(s, run, SPAWN_EXPIRED, SPAWN_STEP_DEADLINE, 0);
        return OK;
    }
    early->run = run;
    run->early = early;
    enqueue(s, early);
    prepare(s, early);
    return OK;
}

/* ---- not to start, or not like this ---- */

/* The process is gone, or is told to go. */
static void let_down(struct spawner *s, struct early *early)
{
    if (!early->held)
        return;
    launch_drop(&s->launches, early->held);
    early->held = NULL;
    start_unhold(s, early->run);
}

void early_reaped(struct spawner *s, struct run *run)
{
    let_down(s, run->early);
}

void early_drop(struct spawner *s, struct run *run)
{
    struct early *early = run->early;
    let_down(s, early);
    take_out(s, early);
    early_free(early);
}

void early_orphan(struct spawner *s)
{
    struct early *early;
    TAILQ_FOREACH (early, &s->early, link) {
        early->is_told = true;
    }
}

bool early_clear(struct spawner *s)
{
    struct early *early;
    TAILQ_FOREACH (early, &s->early, link) {
        if (early->is_told || !agent_link_is_up(&s->link))
            return false;
    }
    if (!TAILQ_EMPTY(&s->early))
        agent_link_drop(&s->link);
    while ((early = TAILQ_FIRST(&s->early))) {
        struct run *run = early->run;
        early_drop(s, run);
        life_drop_masks(s, run);
        run_move(&s->runs, run, RUN_ENDED);
        agent_link_forget(&s->link, &run->reported);
        run_bury(&s->runs, run);
    }
    run_sweep(&s->runs);
    return true;
}

/* ---- their time ---- */

/* How many are due. Of those whose deadline has passed, too, nothing is let go. */
static size_t look_at_deadlines(struct spawner *s, int64_t now_us)
{
    struct early *early;
    size_t due = 0;
    TAILQ_FOREACH (early, &s->early, link) {
        int64_t deadline_ms = early->request.deadline_boot_ms;
        if (early->request.at_boot_us > now_us)
            break;
        if (deadline_ms && now_us / 1000 >= deadline_ms)
            let_down(s, early);
        due++;
    }
    return due;
}

/* Writes the first of those that are due and held to the journal, HELD_BATCH at most: a spawner
 * that is killed right then can't tell which of them have run. From here on these ids never start
 * again. Returns their number; *ret_error is an errno, or 0. */
static size_t write_held(struct spawner *s, int64_t now_us, int *ret_error)
{
    const struct early *early;
    enum status st = OK;
    size_t count = 0;
    TAILQ_FOREACH (early, &s->early, link) {
        if (early->request.at_boot_us > now_us || count == HELD_BATCH)
            break;
        if (!early->held)
            continue;
        early->run->info.started_wall_ms = clock_now().wall.ms;
        struct journal_record record = run_record(early->run);
        if (st == OK)
            st = journal_append(&s->journal, JOURNAL_STARTED, &record);
        count++;
    }
    if (st == OK)
        st = journal_write(&s->journal);
    *ret_error = st == OK ? 0 : errno;
    return count;
}

/* If its process has failed meanwhile, it stays, and is one of those that are not held. */
static void let_go(struct spawner *s, struct early *early, int error, bool is_many)
{
    struct run *run = early->run;
    if (error) {
        early_drop(s, run);
        life_fail(s, run, SPAWN_START_FAILED, SPAWN_STEP_JOURNAL, error);
        return;
    }
    if (!launch_open(&s->launches, early->held)) {
        let_down(s, early);
        return;
    }
    take_out(s, early);
    early_free(early);
    agent_report(s, run, REPORT_STARTED);
    life_began(s, run, is_many ? LISTEN_LATER_MS : 0);
}

static void release_held(struct spawner *s, int64_t now_us, bool is_many)
{
    struct early *early, *next;
    int error;
    life_write(s);
    for (size_t written; (written = write_held(s, now_us, &error));) {
        for (early = TAILQ_FIRST(&s->early); early && written; early = next) {
            next = TAILQ_NEXT(early, link);
            if (!early->held)
                continue;
            let_go(s, early, error, is_many);
            written--;
        }
    }
}

int64_t early_due_us(const struct spawner *s)
{
    const struct early *first = TAILQ_FIRST(&s->early);
    return first ? first->request.at_boot_us : 0;
}

/* Those that are held first: they only have to be told. */
void early_release(struct spawner *s)
{
    if (TAILQ_EMPTY(&s->early))
        return;
    int64_t now_us = clock_boot_us();
    if (early_due_us(s) > now_us)
        return;
    struct early_queue others = TAILQ_HEAD_INITIALIZER(others);
    struct early *early;
    size_t due = look_at_deadlines(s, now_us);
    release_held(s, now_us, due >= MANY);
    s->reaped_boot_us = clock_boot_us(); /* none has ended yet */
    while ((early = TAILQ_FIRST(&s->early)) && early->request.at_boot_us <= now_us) {
        void *block = early->block;
        take_out(s, early);
        TAILQ_INSERT_TAIL(&others, early, link);
        early->block = NULL;
        start_go(s, early->run, &early->request, block, early->stdin_fd);
    }
    start_batch(s);
    while ((early = TAILQ_FIRST(&others))) {
        TAILQ_REMOVE(&others, early, link);
        early_free(early);
    }
}
