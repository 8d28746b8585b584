#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

_Noreturn void die(const char *what)
{
    fprintf(stderr, "store_bench: %s failed\n", what);
    exit(1);
}

static struct id numbered_id(int kind, uint64_t number)
{
    struct id id = {{(uint8_t)kind}};
    for (int i = 15; i > 7; i--, number >>= 8)
        id.bytes[i] = (uint8_t)number;
    return id;
}

static void turn(struct lanes *lanes)
{
    struct store_change change;
    lanes->wait(lanes->context);
    store_dispatch(lanes->store);
    while (store_next_change(lanes->store, &change))
        ;
}

static void on_put(struct store_request *request, enum status st)
{
    if (st != OK)
        die("put");
    *(bool *)request->context = true;
}

void lanes_put_jobs(struct lanes *lanes, int count)
{
    enum { BATCH = 1000 };
    static struct store_put_job puts[BATCH];
    static char names[BATCH][24];
    lanes->job_count = count;
    lanes->cursors = calloc((size_t)count, sizeof(*lanes->cursors));
    if (!lanes->cursors)
        die("calloc");
    for (int first = 0; first < count; first += BATCH) {
        bool done = false;
        for (int i = 0; i < BATCH; i++) {
            snprintf(names[i], sizeof(names[i]), "job-%d", first + i);
            puts[i] = (struct store_put_job){
                .uid = numbered_id(1, (uint64_t)(first + i)),
                .name = names[i],
                .json = "{\"schedule\": \"*/5 * * * *\", \"timezone\": \"Europe/Berlin\", "
                        "\"command\": [\"/usr/local/bin/report\", \"--daily\"], "
                        "\"overlap\": \"skip\", \"timeout\": \"10m\", \"owner\": \"ops\"}"};
        }
        struct store_request request = {.op = STORE_PUT_JOB,
                                        .count = BATCH,
                                        .items.puts = puts,
                                        .done = on_put,
                                        .context = &done};
        store_submit(lanes->store, &request);
        while (!done)
            turn(lanes);
    }
}

void lanes_release(struct lanes *lanes)
{
    free(lanes->cursors);
}

/* Jobs that go through their ticks together, one request at a time. */
struct lane {
    struct store_request request; /* first */
    struct lanes *lanes;
    int first_job, job_count, next_job; /* by turns */
    int batch, step, steps;
    int64_t runs;
    bool stop, idle;
    struct store_claim *claims;
    struct store_begin *begins;
    struct store_finish *finishes;
    struct store_forget *forgets;
};

static void fill_claims(struct lane *lane)
{
    for (int i = 0; i < lane->batch; i++) {
        int job = lane->first_job + lane->next_job;
        lane->next_job = (lane->next_job + 1) % lane->job_count;
        int64_t cursor_ms = lane->lanes->cursors[job], tick_ms = cursor_ms + 1;
        struct id uid = numbered_id(1, (uint64_t)job);
        uint64_t number = (uint64_t)tick_ms * (uint64_t)lane->lanes->job_count + (uint64_t)job;
        lane->lanes->cursors[job] = tick_ms;
        lane->claims[i] =
            (struct store_claim){.job_uid = uid,
                                 .job_revision = 1,
                                 .cursor_ms = cursor_ms,
                                 .tick_ms = tick_ms,
                                 .overlap = lane->steps == 1 ? OVERLAP_ALLOW : OVERLAP_SKIP};
        lane->claims[i].run = (struct run){.id = numbered_id(2, number),
                                           .job_uid = uid,
                                           .job_name = "reports/daily",
                                           .tick_ms = tick_ms,
                                           .attempt = 1,
                                           .nonce = number,
                                           .node = "node-1",
                                           .job_revision = 1};
        lane->begins[i] = (struct store_begin){.run_id = lane->claims[i].run.id, .nonce = number};
        lane->finishes[i].run = lane->claims[i].run;
        lane->finishes[i].run.state = RUN_OK;
        lane->finishes[i].run.finished_ms = tick_ms;
        lane->forgets[i] = (struct store_forget){.id = lane->claims[i].run.id};
    }
}

static void submit_step(struct lane *lane)
{
    static const enum store_op ops[LANE_STEPS] = {STORE_CLAIM, STORE_BEGIN, STORE_FINISH,
                                                  STORE_FORGET};
    void *const items[LANE_STEPS] = {lane->claims, lane->begins, lane->finishes, lane->forgets};
    if (lane->step == 0)
        fill_claims(lane);
    lane->request.op = ops[lane->step];
    lane->request.count = (size_t)lane->batch;
    lane->request.items.claims = items[lane->step];
    store_submit(lane->lanes->store, &lane->request);
}

static void on_step(struct store_request *request, enum status st)
{
    struct lane *lane = (struct lane *)request;
    if (st != OK || lane->claims[0].result != CLAIM_WON)
        die("a step");
    lane->step = (lane->step + 1) % lane->steps;
    if (lane->step == 0)
        lane->runs += lane->batch;
    if (lane->step == 0 && lane->stop)
        lane->idle = true;
    else
        submit_step(lane);
}

double lanes_measure(struct lanes *lanes, int batch, int count, int steps, struct lanes_end end)
{
    struct lane all[LANES_MAX] = {0};
    int64_t runs = 0;
    double start = now_s();
    for (int i = 0; i < count; i++) {
        size_t items = (size_t)batch;
        all[i] = (struct lane){.lanes = lanes,
                               .first_job = lanes->job_count / count * i,
                               .job_count = lanes->job_count / count,
                               .batch = batch,
                               .steps = steps,
                               .claims = calloc(items, sizeof(struct store_claim)),
                               .begins = calloc(items, sizeof(struct store_begin)),
                               .finishes = calloc(items, sizeof(struct store_finish)),
                               .forgets = calloc(items, sizeof(struct store_forget))};
        all[i].request.done = on_step;
        submit_step(&all[i]);
    }
    for (int idle = 0; idle < count;) {
        turn(lanes);
        idle = 0;
        for (int i = 0; i < count; i++) {
            all[i].stop = now_s() - start > end.seconds || all[i].runs >= end.runs / count;
            idle += all[i].idle;
        }
    }
    double elapsed = now_s() - start;
    for (int i = 0; i < count; i++) {
        runs += all[i].runs;
        free(all[i].claims);
        free(all[i].begins);
        free(all[i].finishes);
        free(all[i].forgets);
    }
    return (double)runs / elapsed;
}
