#include "fake_executor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct fake_print {
    struct output_chunk chunk;
    TAILQ_ENTRY(fake_print) link;
};

TAILQ_HEAD(print_list, fake_print);

struct fake_run {
    struct run run;
    struct print_list prints;
    TAILQ_ENTRY(fake_run) link;
};

struct fake_event {
    struct executor_event event;
    TAILQ_ENTRY(fake_event) link;
};

TAILQ_HEAD(fake_run_list, fake_run);
TAILQ_HEAD(fake_event_list, fake_event);

struct fake_executor {
    struct executor port;
    void (*wake)(void *context);
    void *context;
    struct now now;
    bool instant;
    size_t started;
    struct fake_run_list runs;
    struct fake_event_list events;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static struct fake_executor *of_port(struct executor *port)
{
    return (struct fake_executor *)(void *)port; /* its first member */
}

static struct fake_run *find(const struct fake_executor *fake, const struct id *run_id)
{
    struct fake_run *run;
    TAILQ_FOREACH (run, &fake->runs, link) {
        if (id_compare(&run->run.id, run_id) == 0)
            return run;
    }
    return NULL;
}

static void tell(struct fake_executor *fake, enum executor_event_kind kind, const struct run *run)
{
    struct fake_event *event = must(calloc(1, sizeof(*event)));
    event->event.kind = kind;
    if (run) {
        event->event.run_id = run->id;
        event->event.end = *run;
    }
    TAILQ_INSERT_TAIL(&fake->events, event, link);
    fake->wake(fake->context);
}

static void end(struct fake_executor *fake, struct fake_run *run, enum run_state state,
                enum run_reason reason, int exit_code)
{
    run->run.state = state;
    run->run.reason = reason;
    run->run.exit_code = exit_code;
    run->run.finished_ms = fake->now.wall.ms;
    tell(fake, EXECUTOR_ENDED, &run->run);
}

/* ---- the port ---- */

static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct fake_executor *fake = of_port(port);
    (void)job;
    (void)at;
    (void)deadline;
    if (find(fake, &run->id))
        return OK;
    struct fake_run *added = must(calloc(1, sizeof(*added)));
    added->run = *run;
    added->run.state = RUN_RUNNING;
    added->run.started_ms = fake->now.wall.ms;
    TAILQ_INIT(&added->prints);
    TAILQ_INSERT_TAIL(&fake->runs, added, link);
    fake->started++;
    tell(fake, EXECUTOR_STARTED, &added->run);
    if (fake->instant)
        end(fake, added, RUN_OK, REASON_NONE, 0);
    return OK;
}

static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct fake_run *run = find(of_port(port), run_id);
    if (run && run->run.state == RUN_RUNNING)
        end(of_port(port), run, RUN_KILLED, reason, -1);
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    (void)port;
    (void)run_id;
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct fake_executor *fake = of_port(port);
    struct fake_event *event = TAILQ_FIRST(&fake->events);
    if (!event)
        return false;
    *ret = event->event;
    TAILQ_REMOVE(&fake->events, event, link);
    free(event);
    return true;
}

static const struct executor_ops ops = {
    .start = start, .kill = kill_run, .acknowledge = acknowledge, .next_event = next_event};

/* ---- for tests ---- */

struct fake_executor *fake_executor_new(void (*wake)(void *context), void *context)
{
    struct fake_executor *fake = must(calloc(1, sizeof(*fake)));
    fake->port.ops = &ops;
    fake->wake = wake;
    fake->context = context;
    TAILQ_INIT(&fake->runs);
    TAILQ_INIT(&fake->events);
    tell(fake, EXECUTOR_READY, NULL);
    return fake;
}

static void remove_output(void *context, const struct id *run_id)
{
    struct fake_run *run = find(context, run_id);
    for (struct fake_print *print; run && (print = TAILQ_FIRST(&run->prints));) {
        TAILQ_REMOVE(&run->prints, print, link);
        free((void *)print->chunk.bytes);
        free(print);
    }
}

struct fake_executor *fake_executor_free(struct fake_executor *fake)
{
    struct executor_event event;
    if (!fake)
        return NULL;
    while (next_event(&fake->port, &event))
        continue;
    for (struct fake_run *run; (run = TAILQ_FIRST(&fake->runs));) {
        remove_output(fake, &run->run.id);
        TAILQ_REMOVE(&fake->runs, run, link);
        free(run);
    }
    free(fake);
    return NULL;
}

struct executor *fake_executor_port(struct fake_executor *fake)
{
    return &fake->port;
}

void fake_executor_set_instant(struct fake_executor *fake, bool instant)
{
    fake->instant = instant;
}

void fake_executor_set_now(struct fake_executor *fake, struct now now)
{
    fake->now = now;
}

size_t fake_executor_started(const struct fake_executor *fake)
{
    return fake->started;
}

void fake_executor_print(struct fake_executor *fake, const struct id *run_id,
                         enum output_stream stream, const void *bytes, size_t length)
{
    struct fake_run *run = must(find(fake, run_id));
    struct fake_print *print = must(calloc(1, sizeof(*print)));
    char *copy = must(malloc(length + 1));
    memcpy(copy, bytes, length);
    print->chunk = (struct output_chunk){
        .stream = stream, .at_ms = fake->now.wall.ms, .bytes = copy, .length = length};
    run->run.output_bytes += (int64_t)length;
    TAILQ_INSERT_TAIL(&run->prints, print, link);
}

void fake_executor_print_gap(struct fake_executor *fake, const struct id *run_id, const char *head,
                             int64_t gap_bytes, const char *tail)
{
    struct fake_run *run = must(find(fake, run_id));
    fake_executor_print(fake, run_id, OUTPUT_STDOUT, head, strlen(head));
    fake_executor_print(fake, run_id, OUTPUT_STDOUT, tail, strlen(tail));
    TAILQ_LAST(&run->prints, print_list)->chunk.gap_bytes = gap_bytes;
    run->run.output_bytes += gap_bytes;
    run->run.output_truncated = true;
}

bool fake_executor_end(struct fake_executor *fake, const struct id *run_id, int exit_code)
{
    struct fake_run *run = find(fake, run_id);
    if (!run || run->run.state != RUN_RUNNING)
        return false;
    end(fake, run, exit_code ? RUN_FAILED : RUN_OK, exit_code ? REASON_EXIT_CODE : REASON_NONE,
        exit_code);
    return true;
}

/* ---- output ---- */

enum status fake_executor_read(void *context, const struct id *run_id, int64_t offset, size_t limit,
                               struct output_chunk **ret, size_t *ret_count)
{
    const struct fake_run *run = find(context, run_id);
    struct output_chunk *chunks = NULL;
    size_t count = 0, skip = (size_t)offset;
    const struct fake_print *print;
    if (!run)
        return E_NOT_FOUND;
    TAILQ_FOREACH (print, &run->prints, link) {
        size_t from = skip < print->chunk.length ? skip : print->chunk.length;
        size_t length = print->chunk.length - from < limit ? print->chunk.length - from : limit;
        skip -= from;
        limit -= length;
        if (!length)
            continue;
        chunks = must(realloc(chunks, (count + 1) * sizeof(*chunks)));
        chunks[count] = print->chunk;
        char *bytes = must(malloc(length));
        memcpy(bytes, (const char *)print->chunk.bytes + from, length);
        chunks[count].bytes = bytes;
        chunks[count++].length = length;
    }
    *ret = chunks;
    *ret_count = count;
    return OK;
}

static void release_chunks(void *context, struct output_chunk *chunks, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        free((void *)chunks[i].bytes);
    free(chunks);
}

static enum status read_all(void *context, const struct id *run_id, struct output_chunk **ret,
                            size_t *ret_count)
{
    return fake_executor_read(context, run_id, 0, SIZE_MAX, ret, ret_count);
}

struct output_source fake_executor_output(struct fake_executor *fake)
{
    return (struct output_source){read_all, release_chunks, remove_output, fake};
}
