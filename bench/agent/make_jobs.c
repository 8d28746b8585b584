/* Fills a data folder with jobs, through the store itself, as fast as it takes them. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent_bench.h"
#include "definition/job_codec.h"
#include "store.h"

enum { BATCH = 1000 };

struct maker {
    struct store *store;
    int wake_fd;
    const char *prefix; /* of names */
    struct job job;     /* texts are borrowed */
    struct wall_ms now;
    struct store_put_job puts[BATCH];
    char names[BATCH][32];
    bool done;
};

static void wake(void *context)
{
    const struct maker *maker = context;
    uint64_t one = 1;
    if (write(maker->wake_fd, &one, sizeof(one)) < 0)
        die("write");
}

static void put_done(struct store_request *request, enum status st)
{
    struct maker *maker = request->context;
    maker->done = true;
    for (size_t i = 0; i < request->count; i++) {
        if (st != OK || maker->puts[i].result != PUT_OK)
            die("a job was not taken");
    }
}

static void fill(struct maker *maker, struct store_put_job *put, char *name, long number)
{
    uint8_t random[10] = {0}; /* ids of jobs ascend in the order in which they are created */
    for (size_t i = 0; i < sizeof(number); i++)
        random[sizeof(random) - 1 - i] = (uint8_t)(number >> 8 * i);
    snprintf(name, sizeof(maker->names[0]), "%s-%07ld", maker->prefix, number);
    maker->job.name = name;
    maker->job.uid = id_make(maker->now, random);
    char *json = job_encode_text(&maker->job);
    if (!json)
        die("encode");
    *put = (struct store_put_job){
        .uid = maker->job.uid, .name = name, .json = json, .cursor_ms = maker->now.ms};
}

static void put_batch(struct maker *maker, long first, long count)
{
    for (long i = 0; i < count; i++)
        fill(maker, &maker->puts[i], maker->names[i], first + i);
    struct store_request request = {.op = STORE_PUT_JOB,
                                    .count = (size_t)count,
                                    .items.puts = maker->puts,
                                    .done = put_done,
                                    .context = maker};
    maker->done = false;
    store_submit(maker->store, &request);
    while (!maker->done) {
        struct pollfd ready = {maker->wake_fd, POLLIN, 0};
        struct store_change change;
        uint64_t times;
        if (poll(&ready, 1, -1) < 0 || read(maker->wake_fd, &times, sizeof(times)) < 0)
            die("poll");
        store_dispatch(maker->store);
        while (store_next_change(maker->store, &change))
            ;
    }
    for (long i = 0; i < count; i++)
        free((char *)maker->puts[i].json);
}

int make_jobs(char **argv)
{
    long count = atol(argv[2]);
    char *schedules[] = {argv[3], NULL};
    struct job *defaults = job_new();
    struct maker *maker = calloc(1, sizeof(*maker));
    struct strbuf why;
    if (!defaults || !maker)
        die("memory");
    strbuf_init(&why);
    maker->wake_fd = eventfd(0, EFD_CLOEXEC);
    maker->now = clock_now().wall;
    maker->prefix = argv[1];
    maker->job = *defaults;
    maker->job.schedules = schedules;
    maker->job.schedule_count = 1;
    maker->job.timezone = (char *)"UTC";
    maker->job.jitter_s = atol(argv[4]);
    maker->job.command = split_words(argv[5]);
    maker->job.overlap = OVERLAP_ALLOW;
    maker->job.created_ms = maker->job.updated_ms = maker->now.ms;
    if (store_sqlite_open(argv[0], (struct store_wake){wake, maker}, &maker->store, &why) != OK)
        die(why.text);
    for (long first = 0; first < count; first += BATCH)
        put_batch(maker, first, count - first < BATCH ? count - first : BATCH);
    store_free(maker->store);
    strbuf_release(&why);
    close(maker->wake_fd);
    free(maker->job.command);
    job_free(defaults);
    free(maker);
    return 0;
}
