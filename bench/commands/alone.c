/* What the store and the history alone take for the writes of `peal apply` of new jobs: the same
 * definitions, encoded beforehand, in batches of a thousand, one after the other, and beside them a
 * line of the trail for each job that the store has taken. Neither the reading and checking of
 * files nor the opening of the databases is in it. usage: commands_bench sqlite|ETCD DIR COUNT
 *   Prints the seconds from the first batch to the last answer. DIR must exist; an ETCD is
 *   host:port. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "definition/job_codec.h"
#include "etcd.h"
#include "history_open.h"
#include "kv/store_kv.h"
#include "loop.h"
#include "store.h"

enum { BATCH = 1000, LANES = 8 };

struct alone;

/* A batch on its way to the store, then to the history. */
struct lane {
    struct store_request request; /* first */
    struct history_append append;
    struct alone *alone;
    bool is_busy;
    struct change_record changes[BATCH];
    struct history_record records[BATCH];
};

struct alone {
    struct loop *loop;
    struct store *store;
    struct history *history;
    int wake_fd;
    struct loop_fd *wake_watch;
    struct store_put_job *puts;
    size_t count, sent, stored, noted;
    struct lane lanes[LANES];
    int next_lane;
    bool is_storing; /* a batch is on its way to the store */
    bool is_loaded;
    double end_s;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "commands_bench: %s%s%s\n", what, errno ? ": " : "",
            errno ? strerror(errno) : "");
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the jobs of run.sh ---- */

static void fill_put(struct store_put_job *put, long number, struct wall_ms now)
{
    char name[32], schedule[32], shell[40];
    char *schedules[] = {schedule, NULL};
    uint8_t random[10] = {0};
    struct job job = job_defaults();
    snprintf(name, sizeof(name), "bench/job-%06ld", number);
    snprintf(schedule, sizeof(schedule), "%ld %ld * * *", number % 60, number % 24);
    snprintf(shell, sizeof(shell), "report --number %ld", number);
    for (int i = 0; i < 8; i++) /* ids of one process follow each other */
        random[9 - i] = (uint8_t)(number >> 8 * i);
    job.uid = id_make(now, random);
    job.name = name;
    job.schedules = schedules;
    job.schedule_count = 1;
    job.timezone = (char *)"UTC";
    job.kind = JOB_SHELL;
    job.script = shell;
    job.created_ms = job.updated_ms = job.applied_ms = now.ms;
    *put = (struct store_put_job){
        .uid = job.uid, .name = strdup(name), .json = job_encode_text(&job), .cursor_ms = now.ms};
    if (!put->name || !put->json)
        die("memory");
}

/* ---- writing ---- */

static void send_next(struct alone *alone);

static void noted(struct history_append *append, enum status st)
{
    struct lane *lane = append->context;
    struct alone *alone = lane->alone;
    if (st != OK)
        die("a line of the trail was not taken");
    lane->is_busy = false;
    alone->noted += append->count;
    alone->end_s = now_s();
    send_next(alone);
}

static struct change_record change_of(struct alone *alone, const struct store_put_job *put)
{
    struct change_record change = {.at_ms = clock_now().wall.ms,
                                   .via = VIA_SOCKET,
                                   .action = CHANGE_CREATE,
                                   .target_kind = TARGET_JOB,
                                   .actor = "root",
                                   .job_uid = put->uid,
                                   .revision = put->revision,
                                   .after = (char *)put->json};
    uint8_t random[10] = {0};
    for (int i = 0; i < 8; i++)
        random[9 - i] = (uint8_t)(alone->stored >> 8 * i);
    alone->stored++;
    change.id = id_make((struct wall_ms){change.at_ms}, random);
    snprintf(change.target, sizeof(change.target), "%s", put->name);
    snprintf(change.job_name, sizeof(change.job_name), "%s", put->name);
    snprintf(change.request_id, sizeof(change.request_id), "01JD0000000000000000000000");
    return change;
}

static void stored(struct store_request *request, enum status st)
{
    struct lane *lane = (struct lane *)request;
    struct alone *alone = lane->alone;
    for (size_t i = 0; i < request->count; i++) {
        if (st != OK || request->items.puts[i].result != PUT_OK)
            die("a job was not taken");
        lane->changes[i] = change_of(alone, &request->items.puts[i]);
        lane->records[i] = (struct history_record){.change = &lane->changes[i]};
    }
    alone->is_storing = false;
    lane->append = (struct history_append){
        .records = lane->records, .count = request->count, .done = noted, .context = lane};
    history_append(alone->history, &lane->append);
    send_next(alone);
}

static void send_next(struct alone *alone)
{
    size_t left = alone->count - alone->sent, count = left < BATCH ? left : BATCH;
    struct lane *lane = &alone->lanes[alone->next_lane];
    if (!count || alone->is_storing || lane->is_busy)
        return;
    alone->next_lane = (alone->next_lane + 1) % LANES;
    alone->is_storing = lane->is_busy = true;
    lane->alone = alone;
    lane->request = (struct store_request){.op = STORE_PUT_JOB,
                                           .count = count,
                                           .items.puts = alone->puts + alone->sent,
                                           .done = stored};
    alone->sent += count;
    store_submit(alone->store, &lane->request);
}

/* ---- the loop ---- */

static void wake(void *context)
{
    const struct alone *alone = context;
    uint64_t one = 1;
    if (write(alone->wake_fd, &one, sizeof(one)) < 0)
        die("write");
}

static void on_wake(void *context, unsigned events)
{
    const struct alone *alone = context;
    uint64_t times;
    (void)events;
    if (read(alone->wake_fd, &times, sizeof(times)) < 0)
        die("read");
}

static void turn(struct alone *alone)
{
    struct store_change change;
    loop_run_once(alone->loop);
    store_dispatch(alone->store);
    history_dispatch(alone->history);
    while (store_next_change(alone->store, &change))
        alone->is_loaded |= change.kind == STORE_CHANGE_LOADED;
}

static void open_parts(struct alone *alone, const char *where, const char *dir)
{
    struct strbuf why;
    char endpoint[128];
    const char *endpoints[] = {endpoint};
    const struct etcd_client_config client = {.endpoints = endpoints, .endpoint_count = 1};
    struct store_kv_config config = {.prefix = "/alone"};
    struct store_wake store_wake = {wake, alone};
    strbuf_init(&why);
    snprintf(endpoint, sizeof(endpoint), "http://%s", where);
    alone->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (loop_new(&alone->loop) != OK ||
        loop_fd_new(alone->loop, alone->wake_fd, on_wake, alone, &alone->wake_watch) != OK)
        die("loop");
    loop_fd_want(alone->wake_watch, LOOP_READ);
    bool is_sqlite = strcmp(where, "sqlite") == 0;
    if (!is_sqlite && etcd_client_new(alone->loop, &client, &config.client, NULL) != OK)
        die("client");
    if ((is_sqlite ? store_sqlite_open(dir, store_wake, &alone->store, &why)
                   : store_kv_open(alone->loop, &config, store_wake, &alone->store, &why)) != OK ||
        history_open(NULL, dir, (struct history_wake){wake, alone}, &alone->history, &why) != OK)
        die(why.text);
    strbuf_release(&why);
    wake(alone);
    while (!alone->is_loaded) {
        turn(alone);
        wake(alone); /* a loader has no wakes of its own */
    }
}

int main(int argc, char **argv)
{
    static struct alone alone;
    alone.count = argc == 4 ? (size_t)atol(argv[3]) : 0;
    if (!alone.count) {
        fprintf(stderr, "usage: commands_bench sqlite|ETCD DIR COUNT\n");
        return 2;
    }
    alone.puts = calloc(alone.count, sizeof(*alone.puts));
    if (!alone.puts)
        die("memory");
    open_parts(&alone, argv[1], argv[2]);
    struct wall_ms now = clock_now().wall;
    for (size_t i = 0; i < alone.count; i++)
        fill_put(&alone.puts[i], (long)i + 1, now);
    double start_s = now_s();
    send_next(&alone);
    while (alone.noted < alone.count)
        turn(&alone);
    printf("%.2f\n", alone.end_s - start_s);
    store_free(alone.store);
    history_free(alone.history);
    loop_fd_free(alone.wake_watch);
    loop_free(alone.loop);
    close(alone.wake_fd);
    for (size_t i = 0; i < alone.count; i++) {
        free((char *)alone.puts[i].name);
        free((char *)alone.puts[i].json);
    }
    free(alone.puts);
    return 0;
}
