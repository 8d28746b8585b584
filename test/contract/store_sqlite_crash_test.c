/* SQLite only: a process that is killed in the middle of thousands of requests. What it was told is
 * done is there afterwards, and nothing is half done. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sqlite_place.h"
#include "store_world.h"

enum { JOBS = 16 };

/* Each job goes claim, begin, finish, claim ... for ticks 1, 2, 3 ...; what it has done is counted.
 * Every claim also writes an entry. */
struct progress {
    int32_t job, steps;
};

static struct id numbered_id(int kind, int job, int64_t tick)
{
    struct id id = {{(uint8_t)kind, (uint8_t)job}};
    for (int i = 15; i > 7; i--, tick >>= 8)
        id.bytes[i] = (uint8_t)tick;
    return id;
}

/* ---- the process that is killed ---- */

struct worker {
    struct store_request request; /* first */
    struct store *store;
    int report_fd, job, steps;
    struct store_claim claim;
    struct store_begin begin;
    struct store_finish finish;
    struct ledger_entry passed;
};

static void next_step(struct worker *w)
{
    int64_t tick = w->steps / 3 + 1;
    struct id job = numbered_id(1, w->job, 0), run = numbered_id(2, w->job, tick);
    w->request.count = 1;
    switch (w->steps % 3) {
    case 0:
        w->passed = (struct ledger_entry){.id = numbered_id(3, w->job, tick), .job_uid = job};
        w->claim = (struct store_claim){.job_uid = job,
                                        .job_revision = 1,
                                        .cursor_ms = tick - 1,
                                        .tick_ms = tick,
                                        .passed = &w->passed,
                                        .passed_count = 1};
        w->claim.run = (struct run){
            .id = run, .job_uid = job, .tick_ms = tick, .attempt = 1, .nonce = 5, .node = "n"};
        w->request.op = STORE_CLAIM;
        w->request.items.claims = &w->claim;
        break;
    case 1:
        w->begin = (struct store_begin){.run_id = run, .nonce = 5};
        w->request.op = STORE_BEGIN;
        w->request.items.begins = &w->begin;
        break;
    default:
        w->finish.run = (struct run){.id = run, .nonce = 5, .state = RUN_OK, .finished_ms = tick};
        w->request.op = STORE_FINISH;
        w->request.items.finishes = &w->finish;
    }
    store_submit(w->store, &w->request);
}

static void on_step(struct store_request *request, enum status st)
{
    struct worker *w = (struct worker *)request;
    bool good[] = {w->claim.result == CLAIM_WON, w->begin.begun, w->finish.accepted};
    if (st != OK || !good[w->steps % 3])
        _exit(3);
    w->steps++;
    struct progress progress = {w->job, w->steps};
    if (write(w->report_fd, &progress, sizeof(progress)) != sizeof(progress))
        _exit(4);
    next_step(w);
}

static void on_wake(void *context)
{
    uint64_t one = 1;
    if (write(*(int *)context, &one, sizeof(one)) != sizeof(one))
        _exit(5);
}

static void work_until_killed(const char *place, const int *steps, int report_fd)
{
    static struct worker workers[JOBS];
    int wake_fd = eventfd(0, 0);
    struct store *store = NULL;
    struct store_change change;
    uint64_t count;
    if (sqlite_backend.open(place, (struct store_wake){on_wake, &wake_fd}, &store) != OK)
        _exit(2);
    for (int i = 0; i < JOBS; i++) {
        workers[i] =
            (struct worker){.store = store, .report_fd = report_fd, .job = i, .steps = steps[i]};
        workers[i].request.done = on_step;
        next_step(&workers[i]);
    }
    while (read(wake_fd, &count, sizeof(count)) == sizeof(count)) {
        store_dispatch(store);
        while (store_next_change(store, &change))
            ;
    }
}

/* ---- the one that looks afterwards ---- */

/* The steps of each job as the store has them, which must be whole. */
static void count_steps(struct world *world, int steps[JOBS])
{
    for (int job = 0; job < JOBS; job++) {
        struct seen_job *seen = see_job(world, numbered_id(1, job, 0));
        int ticks = (int)seen->cursor_ms, entries = 0, runs = 0, finished = 0;
        enum run_state last = RUN_OK;
        for (size_t i = 0; i < world->picture.entry_count; i++)
            entries += id_compare(&world->picture.entries[i].job_uid, &seen->uid) == 0;
        for (size_t i = 0; i < world->picture.run_count; i++) {
            const struct run *run = &world->picture.runs[i].run;
            if (id_compare(&run->job_uid, &seen->uid) != 0)
                continue;
            runs++;
            finished += run->state == RUN_OK;
            if (run->tick_ms == ticks)
                last = run->state;
            else
                assert_int_equal(run->state, RUN_OK);
        }
        assert_int_equal(entries, ticks);
        assert_int_equal(runs, ticks);
        assert_int_equal(seen->last.ended_ms, finished);
        steps[job] = ticks * 3 - (last == RUN_CLAIMED ? 2 : last == RUN_BEGUN ? 1 : 0);
    }
}

static void make_jobs(struct world *world)
{
    char name[16];
    for (int job = 0; job < JOBS; job++) {
        snprintf(name, sizeof(name), "job-%d", job);
        struct store_put_job put = a_put(numbered_id(1, job, 0), name, 0);
        put.cursor_ms = 0;
        world_do_one(world, STORE_PUT_JOB, &put);
        assert_int_equal(put.result, PUT_OK);
    }
}

/* Lets the child report `reports` times, kills it, and notes the last that it said of each job. */
static int kill_after(pid_t child, int fd, int reports, int acknowledged[JOBS])
{
    struct progress progress;
    int count = 0, status;
    while (read(fd, &progress, sizeof(progress)) == sizeof(progress)) {
        acknowledged[progress.job] = progress.steps;
        if (++count == reports)
            kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return count;
}

static void what_is_acknowledged_survives_a_kill(void **state)
{
    (void)state;
    struct world *world = world_new(&sqlite_backend);
    int steps[JOBS] = {0}, acknowledged[JOBS], total = 0;
    time_t start = time(NULL);
    unsigned seed = (unsigned)start;
    printf("seed %u\n", seed);
    srand(seed);
    world_open(world);
    make_jobs(world);
    for (int round = 0; round < 25 && time(NULL) - start < 8; round++) {
        int fds[2];
        world->store = store_free(world->store);
        memcpy(acknowledged, steps, sizeof(steps));
        assert_int_equal(pipe(fds), 0);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            close(fds[0]);
            work_until_killed(world->place, steps, fds[1]);
            _exit(6);
        }
        close(fds[1]);
        total += kill_after(child, fds[0], 1 + rand() % 700, acknowledged);
        close(fds[0]);
        free(world->picture.jobs);
        free(world->picture.runs);
        free(world->picture.entries);
        memset(&world->picture, 0, sizeof(world->picture));
        world_open(world);
        count_steps(world, steps);
        for (int job = 0; job < JOBS; job++) /* and at most the one that was under way is more */
            assert_in_range(steps[job], acknowledged[job], acknowledged[job] + 1);
    }
    printf("%d acknowledged steps\n", total);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_acknowledged_survives_a_kill),
    };
    return cmocka_run_group_tests_name("sqlite crash", tests, NULL, NULL);
}
