/* Any bytes on a connection to the API, with a real engine behind it: paths, queries, headers, JSON
 * bodies, several requests in a row. Each is answered or cut off, and nothing is left behind. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../test/support/fake_executor.h"
#include "api.h"
#include "history_memory.h"
#include "router.h"
#include "store.h"
#include "store_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct loop *loop;
    struct loop_timer *turn, *watchdog;
    struct zone_db *zones;
    struct store *store;
    struct history *history;
    struct fake_executor *executor;
    struct engine *engine;
    struct api *api;
    struct loop_fd *watch;
    int fd; /* the client's */
    char path[64];
    bool is_over;
};

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void on_turn(void *context)
{
    struct world *world = context;
    struct now now = clock_now();
    fake_executor_set_now(world->executor, now);
    engine_step(world->engine, now);
}

static void wake(void *context)
{
    struct world *world = context;
    loop_timer_set(world->turn, 0);
}

static void too_slow(void *context)
{
    (void)context;
    fputs("no end within 100 s\n", stderr);
    abort();
}

static void fill(void *context, void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)rand();
}

static void nothing(void *context)
{
    (void)context;
}

static void set_up(struct world *world)
{
    struct strbuf why;
    strbuf_init(&why);
    require(loop_new(&world->loop) == OK);
    require(loop_timer_new(world->loop, on_turn, world, &world->turn) == OK);
    require(loop_timer_new(world->loop, too_slow, world, &world->watchdog) == OK);
    require(store_memory_new((struct store_wake){wake, world}, &world->store) == OK);
    require(history_memory_new((struct history_wake){wake, world}, &world->history) == OK);
    world->executor = fake_executor_new(wake, world);
    fake_executor_set_instant(world->executor, true);
    struct engine_config engine_config = engine_config_default();
    snprintf(engine_config.node, sizeof(engine_config.node), "here");
    struct engine_ports engine_ports = {
        .store = world->store,
        .executor = fake_executor_port(world->executor),
        .history = world->history,
        .zones = world->zones,
        .entropy = {fill, NULL},
        .output = fake_executor_output(world->executor),
    };
    require(engine_new(&engine_config, &engine_ports, &world->engine) == OK);
    struct api_config config = {.socket_path = world->path,
                                .version = "1",
                                .node = "here",
                                .data_dir = "/",
                                .default_tz = "UTC",
                                .undelete_s = 1000,
                                .facades = ROUTE_FACADES};
    struct api_ports ports = {.loop = world->loop,
                              .engine = world->engine,
                              .store = world->store,
                              .history = world->history,
                              .zones = world->zones,
                              .entropy = {fill, NULL},
                              .output = {fake_executor_read, world->executor},
                              .ended = wake,
                              .drain = nothing,
                              .context = world};
    require(api_new(&config, &ports, &world->api, &why) == OK);
    strbuf_release(&why);
}

static void tear_down(struct world *world)
{
    world->store = store_free(world->store);
    world->history = history_free(world->history);
    api_free(world->api);
    engine_free(world->engine);
    fake_executor_free(world->executor);
    loop_timer_free(world->turn);
    loop_timer_free(world->watchdog);
    loop_free(world->loop);
}

/* ---- the client ---- */

static void on_answer(void *context, unsigned events)
{
    struct world *world = context;
    char bytes[65536];
    (void)events;
    ssize_t got = recv(world->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got > 0 || (got < 0 && errno == EAGAIN))
        return;
    world->is_over = true;
    loop_fd_want(world->watch, 0); /* an end that is always ready lets nothing else happen */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct zone_db *zones; /* lives as long as the fuzzer */
    struct world all = {0}, *world = &all;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (size > 60000) /* more than a socket takes at once */
        return 0;
    signal(SIGPIPE, SIG_IGN);
    if (!zones)
        require(zone_db_new(NULL, &zones) == OK);
    world->zones = zones;
    snprintf(world->path, sizeof(world->path), "/tmp/peal-fuzz-%d.sock", (int)getpid());
    set_up(world);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", world->path);
    all.fd = socket(AF_UNIX, SOCK_STREAM, 0);
    require(connect(all.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    require(send(all.fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
    shutdown(all.fd, SHUT_WR); /* all of it is answered before the server hangs up, too */
    require(loop_fd_new(world->loop, all.fd, on_answer, world, &world->watch) == OK);
    loop_fd_want(world->watch, LOOP_READ);
    loop_timer_set(world->watchdog, 100000);
    wake(world);
    while (!world->is_over)
        loop_run_once(world->loop);
    loop_fd_free(world->watch);
    close(all.fd);
    tear_down(world);
    return 0;
}
