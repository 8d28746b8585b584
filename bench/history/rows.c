#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"

static struct id make_id(int64_t made_ms, uint32_t number)
{
    uint8_t random[10] = {0};
    uint64_t hash = hash_bytes(1, &number, sizeof(number));
    memcpy(random, &hash, sizeof(hash));
    return id_make((struct wall_ms){made_ms}, random);
}

struct id row_job_uid(uint32_t job)
{
    return make_id(FIRST_MS - 1000, job);
}

struct run row_make(uint32_t number)
{
    uint32_t job = (uint32_t)hash_below(hash_bytes(2, &number, sizeof(number)), JOBS);
    int64_t tick_ms = FIRST_MS + (int64_t)number * STEP_MS;
    bool failed = hash_below(hash_bytes(3, &number, sizeof(number)), FAILED_EVERY) == 0;
    struct run run = {
        .id = make_id(tick_ms, number),
        .job_uid = row_job_uid(job),
        .tick_ms = tick_ms,
        .attempt = 1,
        .state = failed ? RUN_FAILED : RUN_OK,
        .reason = failed ? REASON_EXIT_CODE : REASON_NONE,
        .node = "worker-17.example",
        .nonce = hash_bytes(4, &number, sizeof(number)),
        .fence = number,
        .job_revision = 3,
        .claimed_ms = tick_ms - 50,
        .started_ms = tick_ms + 1,
        .finished_ms = tick_ms + 1234,
        .exit_code = failed,
        .user_ms = 20,
        .system_ms = 10,
        .max_rss_kb = 3400,
        .output_bytes = 0,
    };
    snprintf(run.job_name, sizeof(run.job_name), "nightly-report-%u", (unsigned)job);
    return run;
}
