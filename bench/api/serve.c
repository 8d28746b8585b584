#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test/support/fake_executor.h"
#include "api.h"
#include "api_bench.h"
#include "auth/account.h"
#include "definition/job_codec.h"
#include "history_memory.h"
#include "store_memory.h"

struct server {
    struct loop *loop;
    struct loop_timer *turn, *due;
    struct zone_db *zones;
    struct store *store;
    struct history *history;
    struct fake_executor *executor;
    struct engine *engine;
    struct api *api;
};

static void require(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "api_bench: %s\n", what);
    exit(1);
}

static void wake(void *context)
{
    loop_timer_set(((struct server *)context)->turn, 0);
}

static void on_turn(void *context)
{
    struct server *server = context;
    struct now now = clock_now();
    fake_executor_set_now(server->executor, now);
    engine_step(server->engine, now);
    int64_t wait_ms = engine_wake_at(server->engine).ms - clock_now().wall.ms;
    loop_timer_set(server->due, wait_ms < 0 ? 0 : wait_ms > 1000 ? 1000 : wait_ms);
}

static void nothing(void *context)
{
    (void)context;
}

static void fill(void *context, void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)rand();
}

/* ---- the token that the clients show ---- */

static void doc_done(struct store_request *request, enum status st)
{
    (void)request;
    require(st == OK, "the token was not stored");
}

static void put_token(struct server *server)
{
    struct token token = {.scope.rights = ROLE_VIEWER, .used_ms = clock_now().wall.ms};
    secret_digest(BENCH_TOKEN, token.digest);
    char *json = token_encode(&token);
    struct store_put_doc put = {.kind = TOKEN_DOC, .name = "bench", .json = json};
    struct store_request request = {
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put, .done = doc_done};
    store_submit(server->store, &request);
    store_dispatch(server->store);
    free(json);
}

/* ---- jobs ---- */

static void put_done(struct store_request *request, enum status st)
{
    require(st == OK, "a job was not stored");
    for (size_t i = 0; i < request->count; i++)
        free((char *)(uintptr_t)request->items.puts[i].json);
    free(request->items.puts);
    free(request);
}

static void put_job(struct server *server, const char *name, const char *schedule, bool jitter)
{
    struct job_error error;
    struct job *job;
    json_t *value =
        json_pack("{s:s, s:s, s:[s, s, s], s:s, s:s, s:{s:s}}", "name", name, "schedule", schedule,
                  "command", "/usr/local/bin/backup", "--target", "/srv/data", "owner", "ops",
                  "notes", "Copies the data of the day.", "labels", "team", "storage");
    if (jitter)
        json_object_set_new(value, "jitter", json_string("1s"));
    require(job_decode_json(value, false, "UTC", server->zones, &job, &error) == OK,
            "a definition is wrong");
    json_decref(value);
    struct store_request *request = calloc(1, sizeof(*request));
    struct store_put_job *put = calloc(1, sizeof(*put));
    uint8_t random[10];
    fill(NULL, random, sizeof(random));
    job->uid = id_make(clock_now().wall, random);
    *put = (struct store_put_job){.uid = job->uid,
                                  .name = name,
                                  .json = job_encode_text(job),
                                  .cursor_ms = clock_now().wall.ms};
    *request = (struct store_request){
        .op = STORE_PUT_JOB, .count = 1, .items.puts = put, .done = put_done};
    store_submit(server->store, request);
    store_dispatch(server->store);
    job_free(job);
}

static void put_jobs(struct server *server, int count, int due)
{
    char name[32];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "job-%06d", i);
        put_job(server, name, "0 0 1 1 *", false);
    }
    for (int i = 0; i < due; i++) {
        snprintf(name, sizeof(name), "due-%06d", i);
        put_job(server, name, "* * * * * *", true);
    }
}

/* ---- the server ---- */

static void set_up(struct server *server, const char *dir, const char *path)
{
    static const char *const listen[] = {"127.0.0.1:0"};
    struct strbuf why;
    strbuf_init(&why);
    struct engine_config engine_config = engine_config_default();
    snprintf(engine_config.node, sizeof(engine_config.node), "bench");
    struct engine_ports engine_ports = {.store = server->store,
                                        .executor = fake_executor_port(server->executor),
                                        .history = server->history,
                                        .zones = server->zones,
                                        .entropy = {fill, NULL},
                                        .output = fake_executor_output(server->executor)};
    require(engine_new(&engine_config, &engine_ports, &server->engine) == OK, "no engine");
    struct api_config config = {.socket_path = path,
                                .version = "bench",
                                .node = "bench",
                                .data_dir = dir,
                                .default_tz = "UTC",
                                .listen = listen,
                                .listen_count = 1,
                                .known_rate = {.per_s = 1000000, .burst = 1000000}};
    struct api_ports ports = {.loop = server->loop,
                              .engine = server->engine,
                              .store = server->store,
                              .history = server->history,
                              .zones = server->zones,
                              .entropy = {fill, NULL},
                              .ended = wake,
                              .drain = nothing,
                              .context = server};
    require(api_new(&config, &ports, &server->api, &why) == OK, why.text);
    strbuf_release(&why);
}

int serve(char **argv)
{
    struct server server = {0};
    char path[256];
    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof(path), "%s/api.sock", argv[0]);
    require(loop_new(&server.loop) == OK, "no loop");
    require(loop_timer_new(server.loop, on_turn, &server, &server.turn) == OK, "no timer");
    require(loop_timer_new(server.loop, on_turn, &server, &server.due) == OK, "no timer");
    require(zone_db_new(NULL, &server.zones) == OK, "no time zones");
    require(store_memory_new((struct store_wake){wake, &server}, &server.store) == OK, "no store");
    require(history_memory_new((struct history_wake){wake, &server}, &server.history) == OK,
            "no history");
    server.executor = fake_executor_new(wake, &server);
    fake_executor_set_instant(server.executor, true);
    put_token(&server);
    put_jobs(&server, atoi(argv[1]), atoi(argv[2]));
    set_up(&server, argv[0], path);
    while (!engine_is_loaded(server.engine))
        on_turn(&server);
    printf("%d\n", api_port(server.api, 0));
    fflush(stdout);
    loop_run(server.loop);
    return 0;
}
