#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "cluster_bench.h"
#include "history_memory.h"
#include "history_open.h"
#include "noop_node.h"

enum { EVENTS_MAX = 1 << 16 };

/* Tells of each run that it started, and in the same moment that it ended. */
struct noop {
    struct executor executor; /* first */
    struct executor_event events[EVENTS_MAX];
    size_t told, count; /* ever */
    size_t started;
};

static void wake(void *context)
{
    const struct noop_node *node = context;
    uint64_t one = 1;
    if (write(node->wake_fd, &one, sizeof(one)) < 0)
        return; /* a turn is due already */
}

static void random_bytes(void *context, void *bytes, size_t length)
{
    (void)context;
    if (getrandom(bytes, length, 0) != (ssize_t)length)
        die("getrandom");
}

/* ---- the executor ---- */

static struct executor_event *add_event(struct noop *noop, enum executor_event_kind kind)
{
    struct executor_event *event = &noop->events[noop->count++ % EVENTS_MAX];
    if (noop->count - noop->told > EVENTS_MAX)
        die("too many runs at once");
    *event = (struct executor_event){.kind = kind};
    return event;
}

static enum status start(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct noop *noop = (struct noop *)executor;
    int64_t now_ms = clock_now().wall.ms;
    (void)job;
    (void)at;
    (void)deadline;
    struct executor_event *event = add_event(noop, EXECUTOR_STARTED);
    event->run_id = run->id;
    event->end.started_ms = now_ms;
    event = add_event(noop, EXECUTOR_ENDED);
    event->run_id = run->id;
    event->end.state = RUN_OK;
    event->end.started_ms = event->end.finished_ms = now_ms;
    noop->started++;
    return OK;
}

static void kill_run(struct executor *executor, const struct id *run_id, enum run_reason reason)
{
    (void)executor;
    (void)run_id;
    (void)reason;
}

static void acknowledge(struct executor *executor, const struct id *run_id)
{
    (void)executor;
    (void)run_id;
}

static bool next_event(struct executor *executor, struct executor_event *ret)
{
    struct noop *noop = (struct noop *)executor;
    if (noop->told == noop->count)
        return false;
    *ret = noop->events[noop->told++ % EVENTS_MAX];
    return true;
}

static const struct executor_ops noop_ops = {
    .start = start, .kill = kill_run, .acknowledge = acknowledge, .next_event = next_event};

/* ---- the node ---- */

/* Again at once while the executor has something to tell. */
void noop_node_turn(struct noop_node *node)
{
    engine_step(node->engine, clock_now());
    if (node->noop->told < node->noop->count)
        wake(node);
    int64_t left_ms = engine_wake_at(node->engine).ms - clock_now().wall.ms;
    loop_timer_set(node->timer, left_ms < 0 ? 0 : left_ms > 1000 ? 1000 : left_ms);
}

static void on_wake(void *context, unsigned events)
{
    struct noop_node *node = context;
    uint64_t count;
    (void)events;
    if (read(node->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
        die("read");
    noop_node_turn(node);
}

static void on_timer(void *context)
{
    noop_node_turn(context);
}

static void open_history(struct noop_node *node, const char *dir)
{
    struct strbuf why;
    strbuf_init(&why);
    if ((dir ? history_open(NULL, dir, (struct history_wake){wake, node}, &node->history, &why)
             : history_memory_new((struct history_wake){wake, node}, &node->history)) != OK)
        die(why.length ? why.text : "memory");
    strbuf_release(&why);
}

void noop_node_init(struct noop_node *node, const char *etcd, const char *prefix, char *job_count,
                    const char *history_dir)
{
    char *jobs[] = {(char *)"run", job_count, (char *)"* * * * * *", (char *)"0"};
    struct engine_config config = engine_config_default();
    node->noop = calloc(1, sizeof(*node->noop));
    node->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!node->noop || node->wake_fd < 0 || loop_new(&node->loop) != OK ||
        loop_fd_new(node->loop, node->wake_fd, on_wake, node, &node->watch) != OK ||
        loop_timer_new(node->loop, on_timer, node, &node->timer) != OK ||
        zone_db_new(NULL, &node->zones) != OK)
        die("memory");
    open_history(node, history_dir);
    node->store = open_store(etcd, prefix, "bench", node->loop, (struct store_wake){wake, node});
    put_jobs(node->store, node->loop, jobs);
    store_free(node->store); /* the engine wants to hear of them from the beginning */
    node->store = open_store(etcd, prefix, "bench", node->loop, (struct store_wake){wake, node});
    node->noop->executor.ops = &noop_ops;
    add_event(node->noop, EXECUTOR_READY);
    snprintf(config.node, sizeof(config.node), "bench");
    snprintf(config.boot_id, sizeof(config.boot_id), "bench");
    snprintf(config.self.name, sizeof(config.self.name), "bench");
    config.self.roles = PEER_WORKER;
    config.self.capacity = 1;
    random_bytes(NULL, &config.self.instance, sizeof(config.self.instance));
    struct engine_ports ports = {
        .store = node->store,
        .executor = &node->noop->executor,
        .history = node->history,
        .zones = node->zones,
        .entropy = {random_bytes, NULL},
    };
    if (engine_new(&config, &ports, &node->engine) != OK)
        die("memory");
    loop_fd_want(node->watch, LOOP_READ);
    noop_node_turn(node);
}

void noop_node_release(struct noop_node *node)
{
    loop_timer_stop(node->timer);
    loop_fd_want(node->watch, 0);
    store_free(node->store);
    history_free(node->history);
    engine_free(node->engine);
    free(node->noop);
    zone_db_free(node->zones);
    loop_timer_free(node->timer);
    loop_fd_free(node->watch);
    loop_free(node->loop);
    close(node->wake_fd);
}

void noop_node_run(struct noop_node *node, double seconds)
{
    for (double until_s = now_s() + seconds; now_s() < until_s;)
        loop_run_once(node->loop);
}

size_t noop_node_started(const struct noop_node *node)
{
    return node->noop->started;
}

bool noop_node_drain(struct noop_node *node)
{
    engine_drain(node->engine);
    for (int i = 0; i < 100 && !engine_is_idle(node->engine); i++)
        noop_node_run(node, 0.1);
    return engine_is_idle(node->engine);
}
