#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history_internal.h"
#include "history_memory.h"
#include "notifier.h"
#include "router.h"
#include "secrets.h"
#include "store_memory.h"

enum { PATIENCE_MS = 60000 }; /* it only ends a hang */

/* ---- the world ---- */

static void wake(void *context)
{
    struct world *world = context;
    if (!world->held && world->turn)
        loop_timer_set(world->turn, 0);
}

static void on_turn(void *context)
{
    struct world *world = context;
    if (world->held || !world->engine)
        return;
    struct now now = clock_now();
    fake_executor_set_now(world->executor, now);
    engine_step(world->engine, now);
    int64_t wait_ms = engine_wake_at(world->engine).ms - now.wall.ms;
    if (wait_ms < PATIENCE_MS)
        loop_timer_set(world->due, wait_ms > 0 ? wait_ms : 0);
}

static void on_watchdog(void *context)
{
    (void)context;
    fprintf(stderr, "no answer within %d s\n", PATIENCE_MS / 1000);
    abort();
}

static void fill_random(void *context, void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)random();
}

static void drain(void *context)
{
    struct world *world = context;
    world->drained = true;
    engine_drain(world->engine);
}

/* ---- backends that fail on demand ---- */

static struct failing_store *forgetful; /* while a request of its is under way */

static void forget_answer(struct store_request *request, enum status st)
{
    (void)st;
    request->done = forgetful->done;
    request->done(request, E_UNKNOWN);
}

struct rival {
    struct store_request request;
    struct store_put_doc put;
};

static void rival_done(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    free(request->context);
}

static void submit_rival(struct failing_store *self, const struct store_put_doc *late)
{
    struct rival *rival = calloc(1, sizeof(*rival));
    assert_non_null(rival);
    self->rivals--;
    rival->put = *late;
    rival->put.json = self->rival_json;
    rival->put.expected_revision = -1;
    rival->request = (struct store_request){.op = STORE_PUT_DOC,
                                            .count = 1,
                                            .items.docs = &rival->put,
                                            .done = rival_done,
                                            .context = rival};
    store_submit(self->real, &rival->request);
}

static void submit(struct store *store, struct store_request *request)
{
    struct failing_store *self = (struct failing_store *)(void *)store;
    if (self->rivals && request->op == STORE_PUT_DOC)
        submit_rival(self, request->items.docs);
    if (self->forgets) {
        forgetful = self;
        self->done = request->done;
        request->done = forget_answer;
    }
    if (self->fails)
        request->done(request, E_IO);
    else
        store_submit(self->real, request);
    if (self->fails_after && !--self->fails_after)
        self->fails = true;
}

static enum status health(struct store *store, struct strbuf *why)
{
    const struct failing_store *self = (const struct failing_store *)(void *)store;
    if (!self->fails)
        return OK;
    strbuf_adds(why, "the disk is full; make room");
    return E_IO;
}

static bool leads(const struct store *store)
{
    return store_leads(((const struct failing_store *)(const void *)store)->real);
}

static const struct store_ops failing_store_ops = {
    .submit = submit, .leads = leads, .health = health, .gathers_records = true};

static void submit_history(struct history *history, struct history_request *request)
{
    struct failing_history *self = (struct failing_history *)(void *)history;
    if (self->fails) {
        request->answer = E_IO;
        history_request_done(request);
    } else if (request->kind == HISTORY_APPEND && self->is_silent) {
        self->unanswered = history_request_of(request, history_append);
    } else {
        history_submit(self->real, request);
    }
}

static enum status history_state(struct history *history, struct strbuf *why)
{
    const struct failing_history *self = (const struct failing_history *)(void *)history;
    if (!self->fails)
        return OK;
    strbuf_adds(why, "history.db is damaged");
    return E_CORRUPT;
}

static const struct history_ops failing_history_ops = {
    .submit = submit_history,
    .health = history_state,
};

/* ---- life ---- */

/* ---- accounts ---- */

static void doc_put(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)request->context = true;
}

static bool is_true(void *context)
{
    return *(const bool *)context;
}

void world_put_doc(struct world *world, const char *kind, const char *name, const char *json)
{
    bool done = false;
    struct store_put_doc put = {.json = json, .expected_revision = -1};
    struct store_request request = {
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put, .done = doc_put, .context = &done};
    snprintf(put.kind, sizeof(put.kind), "%s", kind);
    snprintf(put.name, sizeof(put.name), "%s", name);
    store_submit(world->store, &request);
    world_until(world, is_true, &done);
}

static void add_token(struct world *world, const char *secret, const struct scope *scope)
{
    int64_t now_ms = clock_now().wall.ms;
    struct token token = {.scope = *scope, .created_ms = now_ms, .used_ms = now_ms};
    snprintf(token.label, sizeof(token.label), "%s", secret);
    secret_digest(secret, token.digest);
    char *json = token_encode(&token);
    assert_non_null(json);
    world_put_doc(world, TOKEN_DOC, secret, json);
    free(json);
}

static void add_tokens(struct world *world)
{
    static const struct {
        const char *token;
        struct scope scope;
    } tokens[] = {
        {"viewer", {.rights = ROLE_VIEWER}},
        {"operator", {.rights = ROLE_OPERATOR}},
        {"editor", {.rights = ROLE_EDITOR & ~(unsigned)RIGHT_DEFINE}},
        {"definer", {.rights = ROLE_EDITOR}},
        {"admin", {.rights = ROLE_ADMIN}},
        {"team-viewer", {.grants = {{"team", ROLE_VIEWER}}, .grant_count = 1}},
        {"team-operator", {.grants = {{"team", ROLE_OPERATOR}}, .grant_count = 1}},
        {"team-editor", {.grants = {{"team", ROLE_EDITOR}}, .grant_count = 1}},
        {"watcher", {.rights = ROLE_VIEWER, .grants = {{"team", ROLE_OPERATOR}}, .grant_count = 1}},
    };
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
        add_token(world, tokens[i].token, &tokens[i].scope);
}

static void keep_line(void *context, const char *event, const char *particulars)
{
    struct world *world = context;
    snprintf(world->logged, sizeof(world->logged), "%s %s", event, particulars);
}

static void open_notifier(struct world *world)
{
    struct strbuf why;
    struct notifier_config config = {.data_dir = world->dir, .node = "here"};
    strbuf_init(&why);
    if (notifier_new(world->loop, &config, &world->notifier, &why) != OK)
        fail_msg("notifier_new: %s", why.text);
    strbuf_release(&why);
}

static void open_secrets(struct world *world)
{
    char path[300];
    struct secret_keys keys = {.count = 0};
    struct strbuf why;
    strbuf_init(&why);
    snprintf(path, sizeof(path), "%s/secret.key", world->dir);
    if (access(path, F_OK) != 0)
        assert_int_equal(secret_keys_add(path, &keys, &why), OK);
    secret_keys_release(&keys);
    strbuf_release(&why);
    assert_int_equal(secrets_new(NULL, path, &world->secrets), OK);
}

static bool may_be_run(void *context, int fd)
{
    const struct world *world = context;
    (void)fd;
    return world->asks_as_run;
}

static void open_api(struct world *world)
{
    static const char *const listen[] = {"127.0.0.1:0"};
    struct strbuf why;
    strbuf_init(&why);
    struct api_config config = {
        .socket_path = world->socket_path,
        .version = "1.2.3",
        .node = "here",
        .data_dir = world->dir,
        .default_tz = "Europe/Berlin",
        .started_ms = clock_now().wall.ms,
        .undelete_s = 7 * 86400,
        .listen = listen,
        .listen_count = 1,
        .facades = world->facades,
        .limits = world->limits,
        .unread_events = world->unread_events,
        .known_rate = {.per_s = 100000, .burst = 100000},
        .unknown_rate = {.per_s = 100000, .burst = 100000},
    };
    world->api_store = (struct failing_store){.base = {&failing_store_ops}, .real = world->store};
    world->api_history =
        (struct failing_history){.base = {&failing_history_ops}, .real = world->history};
    struct api_ports ports = {
        .loop = world->loop,
        .engine = world->engine,
        .store = &world->api_store.base,
        .history = &world->api_history.base,
        .zones = world->zones,
        .entropy = {fill_random, NULL},
        .output = {fake_executor_read, world->executor},
        .log = {keep_line, world},
        .notifier = world->notifier,
        .secrets = world->secrets,
        .may_be_run = may_be_run,
        .ended = wake,
        .drain = drain,
        .context = world,
    };
    if (api_new(&config, &ports, &world->api, &why) != OK)
        fail_msg("api_new: %s", why.text);
    strbuf_release(&why);
}

static bool is_loaded(void *context)
{
    return engine_is_loaded(((struct world *)context)->engine);
}

static int set_up(void **state, const struct world *wanted)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    *world = *wanted;
    world->held = true;
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    snprintf(world->dir, sizeof(world->dir), "/tmp/peal-api-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    snprintf(world->socket_path, sizeof(world->socket_path), "%s/api.sock", world->dir);
    assert_int_equal(loop_new(&world->loop), OK);
    assert_int_equal(loop_timer_new(world->loop, on_turn, world, &world->turn), OK);
    assert_int_equal(loop_timer_new(world->loop, on_turn, world, &world->due), OK);
    assert_int_equal(loop_timer_new(world->loop, on_watchdog, world, &world->watchdog), OK);
    assert_int_equal(zone_db_new(NULL, &world->zones), OK);
    assert_int_equal(store_memory_new((struct store_wake){wake, world}, &world->store), OK);
    assert_int_equal(history_memory_new((struct history_wake){wake, world}, &world->history), OK);
    world->executor = fake_executor_new(wake, world);
    struct engine_config config = engine_config_default();
    snprintf(config.node, sizeof(config.node), "here");
    snprintf(config.boot_id, sizeof(config.boot_id), "boot");
    struct engine_ports ports = {
        .store = world->store,
        .executor = fake_executor_port(world->executor),
        .history = world->history,
        .zones = world->zones,
        .entropy = {fill_random, NULL},
        .output = fake_executor_output(world->executor),
    };
    assert_int_equal(engine_new(&config, &ports, &world->engine), OK);
    open_notifier(world);
    open_secrets(world);
    open_api(world);
    *state = world;
    return 0;
}

int world_set_up_loading(void **state)
{
    return set_up(state, &(struct world){.facades = ROUTE_FACADES});
}

static int start(void **state)
{
    world_release(*state);
    world_until(*state, is_loaded, *state);
    add_tokens(*state);
    return 0;
}

int world_set_up(void **state)
{
    world_set_up_loading(state);
    return start(state);
}

int world_set_up_plain(void **state)
{
    set_up(state, &(struct world){.facades = 0});
    return start(state);
}

int world_set_up_impatient(void **state)
{
    static const struct world wanted = {
        .facades = ROUTE_FACADES,
        .limits =
            {
                .connections = 20,
                .request_ms = 300,
                .answer_ms = 300,
                .idle_ms = 300,
                .bytes_per_s = 1 << 20,
                .held_bytes = 1 << 20,
            },
    };
    set_up(state, &wanted);
    return start(state);
}

int world_set_up_narrow(void **state)
{
    set_up(state,
           &(struct world){.unread_events = NARROW_BYTES, .limits.unsent_bytes = NARROW_BYTES});
    return start(state);
}

int world_tear_down(void **state)
{
    struct world *world = *state;
    store_free(world->store);
    history_free(world->history);
    notifier_free(world->notifier);
    api_free(world->api);
    secrets_free(world->secrets);
    assert_int_not_equal(access(world->socket_path, F_OK), 0);
    engine_free(world->engine);
    fake_executor_free(world->executor);
    zone_db_free(world->zones);
    loop_timer_free(world->turn);
    loop_timer_free(world->due);
    loop_timer_free(world->watchdog);
    loop_free(world->loop);
    char path[128];
    snprintf(path, sizeof(path), "%s/notify/queue", world->dir);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(world->dir);
    free(world);
    return 0;
}

void world_hold(struct world *world)
{
    world->held = true;
}

void world_release(struct world *world)
{
    world->held = false;
    wake(world);
}

void world_until(struct world *world, bool (*done)(void *context), void *context)
{
    loop_timer_set(world->watchdog, PATIENCE_MS);
    while (!done(context))
        loop_run_once(world->loop);
    loop_timer_stop(world->watchdog);
}
