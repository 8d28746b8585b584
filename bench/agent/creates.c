/* Jobs that are created one by one by several clients at once: through the agent's socket, and
 * through the store alone, with as many puts under way, each with the record of its change, which
 * the agent has the store write, too. Each waits for its answer before it creates the next. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent_bench.h"
#include "change.h"
#include "definition/job_codec.h"
#include "store.h"

enum { CLIENTS_MAX = 64 };

static int clients_of(const char *text)
{
    int count = atoi(text);
    if (count < 1 || count > CLIENTS_MAX)
        die("1 to 64 clients");
    return count;
}

/* ---- through the agent ---- */

struct client {
    int fd;
    size_t got;
    char answer[8192];
};

static void create(const struct client *client, long number)
{
    static const char body[] = "{\"schedule\":\"0 0 * * *\",\"command\":[\"/bin/true\"]}";
    char request[400];
    int length = snprintf(request, sizeof(request),
                          "PUT /api/v1/jobs/single-%07ld HTTP/1.1\r\nHost: peal\r\n"
                          "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          number, sizeof(body) - 1, body);
    if (write(client->fd, request, (size_t)length) != length)
        die("write");
}

/* True: the answer is complete. */
static int read_answer(struct client *client)
{
    ssize_t more =
        read(client->fd, client->answer + client->got, sizeof(client->answer) - 1 - client->got);
    if (more <= 0)
        die("the answer ends early");
    client->got += (size_t)more;
    client->answer[client->got] = '\0';
    size_t want = answer_length(client->answer);
    if (!want || client->got < want)
        return 0;
    if (strncmp(client->answer, "HTTP/1.1 201", 12) != 0)
        die(client->answer);
    client->got = 0;
    return 1;
}

/* Processor time of this process in microseconds. */
static double used_us(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) != 0)
        die("getrusage");
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int measure_creates(char **argv)
{
    static struct client clients[CLIENTS_MAX];
    struct pollfd ready[CLIENTS_MAX];
    int count = clients_of(argv[1]), busy = count;
    double seconds = atof(argv[2]), start = now_s(), end = start;
    long sent = 0, done = 0;
    for (int i = 0; i < count; i++) {
        clients[i].fd = connect_to(argv[0]);
        ready[i] = (struct pollfd){clients[i].fd, POLLIN, 0};
        create(&clients[i], sent++);
    }
    while (busy) {
        if (poll(ready, (nfds_t)count, -1) < 0)
            die("poll");
        for (int i = 0; i < count; i++) {
            if (!ready[i].revents || !read_answer(&clients[i]))
                continue;
            done++;
            end = now_s();
            if (end - start < seconds)
                create(&clients[i], sent++);
            else
                busy--;
        }
    }
    for (int i = 0; i < count; i++)
        close(clients[i].fd);
    printf("%.0f %.1f\n", (double)done / (end - start), used_us() / (double)done);
    return 0;
}

/* ---- through the store alone ---- */

struct putter;

struct put_lane {
    struct store_request request; /* first */
    struct putter *putter;
    struct store_put_job put;
    struct strbuf record;
    char name[32];
};

struct putter {
    struct store *store;
    struct job job;
    int wake_fd;
    double until_s;
    long sent, done;
    int busy;
};

static void wake(void *context)
{
    const struct putter *putter = context;
    uint64_t one = 1;
    if (write(putter->wake_fd, &one, sizeof(one)) < 0)
        die("write");
}

/* As the agent has it. */
static void add_record(struct put_lane *lane, const uint8_t random[10])
{
    struct change_record change = {.via = VIA_SOCKET,
                                   .action = CHANGE_CREATE,
                                   .target_kind = TARGET_JOB,
                                   .actor = "root",
                                   .request_id = "01JD0000000000000000000000",
                                   .job_uid = lane->put.uid,
                                   .revision = 1,
                                   .after = (char *)lane->put.json};
    change.id = id_make(clock_now().wall, random);
    snprintf(change.target, sizeof(change.target), "%s", lane->name);
    snprintf(change.job_name, sizeof(change.job_name), "%s", lane->name);
    strbuf_reset(&lane->record);
    if (!change_write_record(&change, "bench", &lane->record))
        die("record");
    lane->put.record = lane->record.text;
    lane->put.record_id = change.id;
}

static void put_next(struct put_lane *lane)
{
    struct putter *putter = lane->putter;
    uint8_t random[10] = {0};
    long number = putter->sent++;
    memcpy(random, &number, sizeof(number));
    snprintf(lane->name, sizeof(lane->name), "single-%07ld", number);
    putter->job.name = lane->name;
    putter->job.uid = id_make(clock_now().wall, random);
    lane->put = (struct store_put_job){.uid = putter->job.uid,
                                       .name = lane->name,
                                       .json = job_encode_text(&putter->job),
                                       .cursor_ms = clock_now().wall.ms};
    if (!lane->put.json)
        die("encode");
    add_record(lane, random);
    store_submit(putter->store, &lane->request);
}

static void put_done(struct store_request *request, enum status st)
{
    struct put_lane *lane = (struct put_lane *)request;
    struct putter *putter = lane->putter;
    if (st != OK || lane->put.result != PUT_OK)
        die("a job was not taken");
    free((char *)lane->put.json);
    putter->done++;
    if (now_s() < putter->until_s)
        put_next(lane);
    else
        putter->busy--;
}

int measure_puts(char **argv)
{
    static struct put_lane lanes[CLIENTS_MAX];
    char *schedules[] = {(char *)"0 0 * * *", NULL}, *command[] = {(char *)"/bin/true", NULL};
    struct job *defaults = job_new();
    struct putter putter = {.wake_fd = eventfd(0, EFD_CLOEXEC), .busy = clients_of(argv[1])};
    struct store_change change;
    struct strbuf why;
    if (!defaults)
        die("memory");
    strbuf_init(&why);
    putter.job = *defaults;
    putter.job.schedules = schedules;
    putter.job.schedule_count = 1;
    putter.job.timezone = (char *)"UTC";
    putter.job.command = command;
    if (store_sqlite_open(argv[0], (struct store_wake){wake, &putter}, &putter.store, &why) != OK)
        die(why.text);
    double start = now_s();
    putter.until_s = start + atof(argv[2]);
    for (int i = 0; i < putter.busy; i++) {
        lanes[i] = (struct put_lane){.request = {.op = STORE_PUT_JOB,
                                                 .count = 1,
                                                 .items.puts = &lanes[i].put,
                                                 .done = put_done},
                                     .putter = &putter};
        strbuf_init(&lanes[i].record);
        put_next(&lanes[i]);
    }
    while (putter.busy) {
        uint64_t times;
        if (read(putter.wake_fd, &times, sizeof(times)) < 0)
            die("read");
        store_dispatch(putter.store);
        while (store_next_change(putter.store, &change))
            ;
    }
    printf("%.0f\n", (double)putter.done / (now_s() - start));
    store_free(putter.store);
    strbuf_release(&why);
    for (int i = 0; i < CLIENTS_MAX; i++) {
        if (lanes[i].record.capacity)
            strbuf_release(&lanes[i].record);
    }
    close(putter.wake_fd);
    job_free(defaults);
    return 0;
}
