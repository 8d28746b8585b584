#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"

enum { OLD_JOB_NUMBER = JOBS - 1, OLD_NODE_ROWS = 20 * 1000, OLD_KILLED_ROWS = 5000 };

/* What is drawn for a row; each purpose has draws of its own. */
enum purpose { OF_ID = 1, OF_JOB, OF_END, OF_NODE, OF_DURATION, OF_TICK, OF_NONCE };

static uint64_t draw(enum purpose purpose, uint32_t number)
{
    return hash_bytes((uint64_t)purpose, &number, sizeof(number));
}

/* `many` is a prime, so that one does not tell the other. */
static bool one_of(enum purpose purpose, uint32_t number, uint64_t many)
{
    return draw(purpose, number) % many == 0;
}

static struct id make_id(int64_t made_ms, uint32_t number)
{
    uint8_t random[10] = {0};
    uint64_t hash = draw(OF_ID, number);
    memcpy(random, &hash, sizeof(hash));
    return id_make((struct wall_ms){made_ms}, random);
}

/* ---- jobs ---- */

struct id row_job_uid(uint32_t job)
{
    return make_id(FIRST_MS - 1000, job);
}

void row_job_name(uint32_t job, char name[64])
{
    static const char *const kinds[] = {"backup", "report",  "sync",    "mail",
                                        "index",  "cleanup", "invoice", "probe"};
    if (job == OLD_JOB_NUMBER)
        snprintf(name, 64, OLD_JOB);
    else
        snprintf(name, 64, "%s-%04u", kinds[job % 8], (unsigned)job);
}

/* A fifth of the jobs has more than half of the runs. */
uint32_t row_job(uint32_t number)
{
    if (number == 50 || number == 700 || number == 3000)
        return OLD_JOB_NUMBER;
    uint64_t u = hash_below(draw(OF_JOB, number), 1u << 20);
    return (uint32_t)((JOBS - 1) * (u * u * u >> 40) >> 20);
}

/* ---- runs ---- */

static void end_run(struct run *run, uint32_t number)
{
    run->state = RUN_OK;
    if (number == 100 || number == 2000 || number == 4500) {
        run->state = RUN_FAILED;
        run->reason = REASON_NO_START;
        snprintf(run->detail, sizeof(run->detail), "open /srv/archive: Disk quota exceeded");
    } else if (number < OLD_KILLED_ROWS && one_of(OF_END, number, 53)) {
        run->state = RUN_KILLED;
        run->reason = REASON_USER;
        snprintf(run->by, sizeof(run->by), "ada");
    } else if (one_of(OF_END, number, 61)) {
        run->state = RUN_FAILED;
        run->reason = REASON_EXIT_CODE;
        run->exit_code = 1;
    } else if (one_of(OF_END, number, 1009)) {
        run->state = RUN_TIMED_OUT;
        run->reason = REASON_TIMEOUT;
    } else if (one_of(OF_END, number, 3001)) {
        run->state = RUN_FAILED;
        run->reason = REASON_NO_START;
        snprintf(run->detail, sizeof(run->detail),
                 "execve /opt/app-%u/bin/run: No such file or directory", (unsigned)number % 97);
    } else if (one_of(OF_END, number, 20011)) {
        run->state = RUN_LOST;
        run->reason = REASON_NODE_DIED;
        snprintf(run->detail, sizeof(run->detail), "node worker-%u was not heard of for 30 s",
                 (unsigned)number % 12);
    }
}

/* 100 ms to 25 s; seldom an hour, twice a day. */
static int64_t duration_of(uint32_t number)
{
    uint64_t hash = draw(OF_DURATION, number);
    if (number == 150 || number == 2500)
        return INT64_C(90000000) + number;
    if (one_of(OF_DURATION, number, 200003))
        return 3600000 + (int64_t)(hash % 14400000);
    if (one_of(OF_DURATION, number, 5003))
        return 600000 + (int64_t)(hash % 3000000);
    return (INT64_C(100) << (hash >> 32) % 8) + (int64_t)(hash % 100);
}

/* Retries, and what was made good after an outage, have their tick a while ago. */
static int64_t tick_of(uint32_t number, int64_t made_ms)
{
    if (one_of(OF_TICK, number, 101))
        return made_ms - 60000;
    if (one_of(OF_TICK, number, 5003))
        return made_ms - 3600000 * (int64_t)(1 + draw(OF_TICK, number) % 24);
    return made_ms;
}

struct run row_make(uint32_t number)
{
    uint32_t job = row_job(number);
    int64_t made_ms = FIRST_MS + (int64_t)number * STEP_MS;
    struct run run = {
        .id = make_id(made_ms, number),
        .job_uid = row_job_uid(job),
        .tick_ms = tick_of(number, made_ms),
        .nonce = draw(OF_NONCE, number),
        .fence = number,
        .job_revision = 3,
        .claimed_ms = made_ms - 50,
        .started_ms = made_ms + 1,
        .finished_ms = made_ms + 1 + duration_of(number),
        .user_ms = 20,
        .system_ms = 10,
        .max_rss_kb = 3400,
    };
    run.attempt = run.tick_ms == made_ms ? 1 : 2;
    row_job_name(job, run.job_name);
    if (number < OLD_NODE_ROWS && number % 2)
        snprintf(run.node, sizeof(run.node), OLD_NODE);
    else
        snprintf(run.node, sizeof(run.node), "worker-%u.example",
                 (unsigned)hash_below(draw(OF_NODE, number), 12));
    end_run(&run, number);
    return run;
}

int row_stray_class(const struct run *run)
{
    int64_t distance_ms = run->started_ms - 1 - run->tick_ms, bound_ms = 10000;
    int class = 0;
    for (; distance_ms > bound_ms; bound_ms *= 8)
        class ++;
    return class;
}

struct ledger_entry row_make_entry(uint32_t number)
{
    struct run run = row_make(number);
    struct ledger_entry entry = {
        .id = make_id(FIRST_MS + (int64_t)number * STEP_MS + 1, number),
        .job_uid = run.job_uid,
        .from_ms = FIRST_MS + (int64_t)number * STEP_MS,
        .to_ms = FIRST_MS + (int64_t)number * STEP_MS,
        .count = 1,
        .state = number % 3 ? RUN_SKIPPED : RUN_MISSED,
        .reason = number % 3 ? REASON_OVERLAP : REASON_DEADLINE,
        .recorded_ms = FIRST_MS + (int64_t)number * STEP_MS + 1,
    };
    snprintf(entry.job_name, sizeof(entry.job_name), "%s", run.job_name);
    return entry;
}
