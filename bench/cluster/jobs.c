/* Fills a store in etcd with jobs, as fast as it takes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_bench.h"
#include "definition/job_codec.h"

enum { BATCH = 1000 };

struct maker {
    struct job job; /* texts are borrowed */
    struct wall_ms now;
    struct store_put_job puts[BATCH];
    char names[BATCH][32];
    bool done;
};

static void put_done(struct store_request *request, enum status st)
{
    struct maker *maker = request->context;
    maker->done = true;
    for (size_t i = 0; i < request->count; i++) {
        if (st != OK || maker->puts[i].result != PUT_OK)
            die("a job was not taken");
    }
}

static void fill(struct maker *maker, struct store_put_job *put, char *name, const char *prefix,
                 long number)
{
    uint8_t random[10] = {0};
    memcpy(random, &number, sizeof(number));
    snprintf(name, sizeof(maker->names[0]), "%s-%07ld", prefix, number);
    maker->job.name = name;
    maker->job.uid = id_make(maker->now, random);
    char *json = job_encode_text(&maker->job);
    if (!json)
        die("encode");
    *put = (struct store_put_job){
        .uid = maker->job.uid, .name = name, .json = json, .cursor_ms = maker->now.ms};
}

static void put_batch(struct maker *maker, struct store *store, struct loop *loop, size_t count)
{
    struct store_change change;
    struct store_request request = {.op = STORE_PUT_JOB,
                                    .count = count,
                                    .items.puts = maker->puts,
                                    .done = put_done,
                                    .context = maker};
    maker->done = false;
    store_submit(store, &request);
    while (!maker->done) {
        loop_run_once(loop);
        store_dispatch(store);
        while (store_next_change(store, &change))
            ;
    }
    for (size_t i = 0; i < count; i++)
        free((char *)maker->puts[i].json);
}

void put_jobs(struct store *store, struct loop *loop, char **argv)
{
    long left = atol(argv[1]), number = 0;
    char *schedules[] = {argv[2], NULL}, *command[] = {(char *)"/bin/true", NULL};
    struct job *defaults = job_new();
    struct maker *maker = calloc(1, sizeof(*maker));
    if (!defaults || !maker)
        die("memory");
    maker->now = clock_now().wall;
    maker->job = *defaults;
    maker->job.schedules = schedules;
    maker->job.schedule_count = 1;
    maker->job.timezone = (char *)"UTC";
    maker->job.jitter_s = atol(argv[3]);
    maker->job.command = command;
    maker->job.overlap = OVERLAP_ALLOW;
    maker->job.created_ms = maker->job.updated_ms = maker->now.ms;
    while (left) {
        long count = left < BATCH ? left : BATCH;
        for (long i = 0; i < count; i++)
            fill(maker, &maker->puts[i], maker->names[i], argv[0], ++number);
        put_batch(maker, store, loop, (size_t)count);
        left -= count;
    }
    job_free(defaults);
    free(maker);
}

static void ignore(void *context)
{
    (void)context;
}

int make_jobs(char **argv)
{
    struct loop *loop;
    if (loop_new(&loop) != OK)
        die("memory");
    struct store *store =
        open_store(argv[0], argv[1], NULL, loop, (struct store_wake){ignore, NULL});
    put_jobs(store, loop, argv + 2);
    store_free(store);
    loop_free(loop);
    return 0;
}
