/* A program and two agents, in one loop: its records are taken, once and by one that can; its
 * output is read through its agent, by both. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "gather_net.h"
#include "gather_words.h"
#include "history_memory.h"
#include "program/history_handover.h"
#include "program/output_offer.h"
#include "program/records_wire.h"

struct agent {
    struct gather_net *net;
    struct history *own;
    struct peers peers;
    struct peer as;
};

struct world {
    struct loop *loop;
    struct loop_timer *turn;
    struct agent a, b;
    /* The program. */
    struct gather_tls *tls;
    struct peers peers;
    struct peer as;
    struct agent_choice choice;
    struct history *handover;
    struct output_offer *offer;

    bool is_done;
    enum status st;
    struct live_read read;
};

static bool nobody(void *context, const char *fingerprint)
{
    (void)context;
    (void)fingerprint;
    return false;
}

static void next_turn(void *context)
{
    struct world *world = context;
    history_dispatch(world->a.own);
    history_dispatch(world->b.own);
    history_dispatch(world->handover);
    loop_timer_set(world->turn, 5);
}

static void wait_until_done(struct world *world)
{
    while (!world->is_done)
        loop_run_once(world->loop);
}

static int listen_somewhere(char *address, size_t size)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(name);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, length), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &length), 0);
    snprintf(address, size, "127.0.0.1:%d", ntohs(name.sin_port));
    return fd;
}

static void tell(struct peers *peers, const struct peer *of)
{
    struct store_change change = {.kind = STORE_CHANGE_PEER, .peer = of};
    assert_int_equal(peers_take(peers, &change, clock_now()), OK);
}

static void tell_all(struct world *world, const struct peer *of)
{
    tell(&world->a.peers, of);
    tell(&world->b.peers, of);
    tell(&world->peers, of);
}

static struct peer make_peer(const char *name, const char *fingerprint)
{
    struct peer peer = {.is_alive = true, .instance = {{(uint8_t)name[0]}}};
    snprintf(peer.name, sizeof(peer.name), "%s", name);
    snprintf(peer.fingerprint, sizeof(peer.fingerprint), "%s", fingerprint);
    return peer;
}

static void make_agent(struct world *world, struct agent *agent, const char *name)
{
    assert_int_equal(history_memory_new((struct history_wake){0}, &agent->own), OK);
    assert_int_equal(gather_net_new(world->loop, &agent->net), OK);
    agent->as = make_peer(name, gather_net_fingerprint(agent->net));
    agent->as.roles = PEER_WORKER;
    int fd = listen_somewhere(agent->as.history_address, sizeof(agent->as.history_address));
    assert_int_equal(gather_net_listen(agent->net, fd), OK);
    peers_init(&agent->peers, &agent->as);
    gather_net_set_peers(agent->net, &agent->peers);
    gather_net_serve_history(agent->net, agent->own);
    gather_net_serve_output(agent->net, (struct live_output){0});
}

/* Has printed "0123456789", after a gap of five bytes. */
static enum status read_output(void *context, const struct id *run_id, int64_t offset, size_t limit,
                               struct output_chunk **ret, size_t *ret_count)
{
    (void)context;
    if (run_id->bytes[15] != 7)
        return E_NOT_FOUND;
    int64_t from = offset < 5 ? 5 : offset;
    size_t left = from > 15 ? 0 : (size_t)(15 - from), length = left < limit ? left : limit;
    struct output_chunk *chunk = calloc(1, sizeof(*chunk));
    char *bytes = malloc(length + 1);
    assert_true(chunk && bytes);
    memcpy(bytes, &"0123456789"[from - 5], length);
    *chunk = (struct output_chunk){OUTPUT_STDOUT, 1000, from - offset, bytes, length};
    *ret = chunk;
    *ret_count = 1;
    return OK;
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    assert_int_equal(loop_new(&world->loop), OK);
    make_agent(world, &world->a, "a");
    make_agent(world, &world->b, "b");
    assert_int_equal(gather_tls_new(nobody, NULL, &world->tls), OK);
    world->as = make_peer("p", gather_tls_fingerprint(world->tls));
    snprintf(world->as.program, sizeof(world->as.program), "billing");
    peers_init(&world->peers, &world->as);
    world->choice.peers = &world->peers;
    assert_int_equal(history_handover_new(world->loop, world->tls, &world->choice,
                                          (struct history_wake){0}, &world->handover),
                     OK);
    assert_int_equal(output_offer_new(world->loop, world->tls, &world->choice,
                                      (struct live_output){.read = read_output}, &world->offer),
                     OK);
    tell_all(world, &world->a.as);
    tell_all(world, &world->b.as);
    tell_all(world, &world->as);
    peers_reckon(&world->peers, clock_now());
    assert_int_equal(loop_timer_new(world->loop, next_turn, world, &world->turn), OK);
    loop_timer_set(world->turn, 0);
    *state = world;
    return 0;
}

static void end_agent(struct agent *agent)
{
    history_free(agent->own);
    gather_net_free(agent->net);
    peers_release(&agent->peers);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    live_read_release(&world->read);
    history_free(world->handover);
    output_offer_free(world->offer);
    end_agent(&world->a);
    end_agent(&world->b);
    gather_tls_free(world->tls);
    peers_release(&world->peers);
    loop_timer_free(world->turn);
    loop_free(world->loop);
    free(world);
    return 0;
}

/* ---- records ---- */

static void appended(struct history_append *append, enum status st)
{
    struct world *world = append->context;
    world->st = st;
    world->is_done = true;
}

static enum status append(struct world *world, struct history_record *records, size_t count)
{
    struct history_append append = {
        .records = records, .count = count, .done = appended, .context = world};
    world->is_done = false;
    history_append(world->handover, &append);
    wait_until_done(world);
    return world->st;
}

static struct run make_run(uint8_t number)
{
    struct run run = {.state = RUN_FAILED,
                      .reason = REASON_EXIT_CODE,
                      .exit_code = 3,
                      .tick_ms = 1000,
                      .started_ms = 1001,
                      .finished_ms = 1002,
                      .job_uid = {{1}}};
    run.id = id_make((struct wall_ms){1000}, (const uint8_t[10]){number});
    snprintf(run.job_name, sizeof(run.job_name), "sweep");
    snprintf(run.node, sizeof(run.node), "p");
    return run;
}

static enum status append_run(struct world *world, uint8_t number)
{
    struct run run = make_run(number);
    struct history_record record = {.run = &run};
    return append(world, &record, 1);
}

static void log_read(struct history_log *log, enum status st)
{
    struct world *world = log->context;
    world->st = st;
    world->is_done = true;
}

static bool has_run(struct world *world, struct history *own, const struct id *id,
                    struct history_log *ret)
{
    *ret = (struct history_log){
        .run_id = *id, .limit = 64 << 20, .with_input = true, .done = log_read, .context = world};
    world->is_done = false;
    history_log(own, ret);
    wait_until_done(world);
    assert_int_equal(world->st, OK);
    return ret->found;
}

/* The agent that is chosen, and the other one. */
static struct agent *chosen(struct world *world)
{
    const struct known_peer *known = agent_choose(&world->choice);
    assert_non_null(known);
    return strcmp(known->peer.name, "a") == 0 ? &world->a : &world->b;
}

static struct agent *other(struct world *world)
{
    return chosen(world) == &world->a ? &world->b : &world->a;
}

static void records_come_as_they_are(void **state)
{
    struct world *world = *state;
    struct run run = make_run(1);
    struct ledger_entry entry = {.id = {{9, 9}},
                                 .job_uid = {{1}},
                                 .from_ms = 5000,
                                 .to_ms = 6000,
                                 .count = 2,
                                 .state = RUN_SKIPPED,
                                 .reason = REASON_OVERLAP};
    struct output_chunk chunks[] = {{OUTPUT_STDOUT, 1001, 0, "one\n", 4},
                                    {OUTPUT_STDOUT, 1002, 3, "\xff\0two", 5}};
    struct history_record records[] = {
        {.run = &run, .chunks = chunks, .chunk_count = 2, .input = "in", .input_length = 2},
        {.entry = &entry}};
    struct history_log log;
    snprintf(run.detail, sizeof(run.detail), "40%% rows");
    struct agent *agent = chosen(world);
    for (int i = 0; i < 2; i++) { /* the second time is harmless */
        assert_int_equal(append(world, records, 2), OK);
        assert_true(has_run(world, agent->own, &run.id, &log));
        assert_string_equal(log.run.node, "p");
        assert_string_equal(log.run.detail, "40% rows");
        assert_int_equal(log.run.exit_code, 3);
        assert_int_equal(log.run.state, RUN_FAILED);
        assert_int_equal(log.kept_bytes, 9);
        assert_string_equal(log.input, "in");
        history_log_release(&log);
    }
    assert_false(has_run(world, other(world)->own, &run.id, &log));
    history_log_release(&log);
}

static void much_output_takes_several_requests(void **state)
{
    enum { RUNS = 6, BYTES = 4 << 20 };
    struct world *world = *state;
    struct run runs[RUNS];
    struct history_record records[RUNS];
    struct output_chunk chunk = {OUTPUT_STDOUT, 1001, 0, calloc(1, BYTES), BYTES};
    struct history_log log;
    for (int i = 0; i < RUNS; i++) {
        runs[i] = make_run((uint8_t)(1 + i));
        records[i] = (struct history_record){.run = &runs[i], .chunks = &chunk, .chunk_count = 1};
    }
    assert_int_equal(append(world, records, RUNS), OK);
    for (int i = 0; i < RUNS; i++) {
        assert_true(has_run(world, chosen(world)->own, &runs[i].id, &log));
        assert_int_equal(log.kept_bytes, BYTES);
        history_log_release(&log);
    }
    free((void *)chunk.bytes);
}

static void another_agent_is_found(void **state)
{
    struct world *world = *state;
    struct agent *first = chosen(world), *second = other(world);
    struct run run = make_run(2);
    struct history_log log;
    gather_net_serve_history(first->net, NULL); /* as an older version */
    assert_int_equal(append_run(world, 2), OK);
    assert_true(has_run(world, second->own, &run.id, &log));
    history_log_release(&log);
    assert_ptr_equal(chosen(world), second);
    assert_int_equal(append_run(world, 3), OK);

    /* None is left. */
    second->as.is_alive = false;
    tell(&world->peers, &second->as);
    assert_int_equal(append_run(world, 4), E_UNREACHABLE);
    struct strbuf why;
    strbuf_init(&why);
    assert_int_equal(history_health(world->handover, &why), E_UNREACHABLE);
    assert_non_null(strstr(why.text, "--peer-listen"));
    strbuf_release(&why);
}

static void strangers_are_refused(void **state)
{
    struct world *world = *state;
    struct run run = make_run(2);
    struct history_log log;
    world->as.is_alive = false;
    tell(&world->a.peers, &world->as);
    tell(&world->b.peers, &world->as);
    assert_int_equal(append_run(world, 2), E_UNREACHABLE);
    assert_false(has_run(world, world->a.own, &run.id, &log));
    assert_false(has_run(world, world->b.own, &run.id, &log));
}

static void what_is_no_record_is_refused(void **state)
{
    struct world *world = *state;
    struct run run = make_run(2);
    struct history_record record = {.run = &run};
    run.state = RUN_BEGUN;
    assert_int_equal(append(world, &record, 1), E_INVALID);
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"records\":[]}",
        "{\"records\":[{}]}",
        "{\"records\":[{\"row\":{}}]}",
        "{\"records\":[{\"row\":{\"id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"},\"chunks\":[{}]}]}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct wire_records records;
        assert_int_equal(wire_decode_records(texts[i], strlen(texts[i]), &records), E_INVALID);
    }
}

/* ---- output ---- */

static void read_done(struct live_read *read, enum status st)
{
    struct world *world = read->context;
    world->st = st;
    world->is_done = true;
}

static enum status read_from(struct world *world, struct agent *asked, uint8_t run, int64_t offset,
                             size_t limit)
{
    struct live_elsewhere elsewhere = gather_net_output(asked->net);
    live_read_release(&world->read);
    world->read = (struct live_read){.run_id = {{[0] = 1, [15] = run}},
                                     .offset = offset,
                                     .limit = limit,
                                     .done = read_done,
                                     .context = world};
    snprintf(world->read.node, sizeof(world->read.node), "p");
    world->is_done = false;
    elsewhere.read(elsewhere.context, &world->read);
    wait_until_done(world);
    return world->st;
}

static void output_is_passed_on(void **state)
{
    struct world *world = *state;
    struct agent *const asked[] = {chosen(world), other(world)};
    (void)read_from(world, asked[0], 7, 0, 10);
    assert_string_equal(world->read.why, NODE_HAS_NO_AGENT);
    snprintf(world->as.via, sizeof(world->as.via), "%s", asked[0]->as.name);
    tell_all(world, &world->as);
    output_offer_set(world->offer, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_from(world, asked[i], 7, 0, 4), OK);
        assert_true(world->read.found);
        assert_int_equal(world->read.count, 1);
        assert_int_equal(world->read.chunks->gap_bytes, 5);
        assert_int_equal(world->read.chunks->length, 4);
        assert_memory_equal(world->read.chunks->bytes, "0123", 4);
        assert_int_equal(read_from(world, asked[i], 7, 9, 100), OK);
        assert_memory_equal(world->read.chunks->bytes, "456789", 6);
        assert_int_equal(read_from(world, asked[i], 8, 0, 100), OK); /* another run */
        assert_false(world->read.found);
    }
}

static void a_silent_program_is_named(void **state)
{
    struct world *world = *state;
    struct agent *const asked[] = {chosen(world), other(world)};
    snprintf(world->as.via, sizeof(world->as.via), "%s", asked[0]->as.name);
    tell_all(world, &world->as);
    assert_int_equal(read_from(world, asked[0], 7, 0, 4), E_UNREACHABLE);
    assert_string_equal(world->read.why, NODE_IS_SILENT);
    assert_int_equal(read_from(world, asked[1], 7, 0, 4), E_UNREACHABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_come_as_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(much_output_takes_several_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_agent_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strangers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_record_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(output_is_passed_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_silent_program_is_named, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
