/* Live output over the port between nodes: what it answers, and what it says of a node that can't
 * be asked. */
#include "gather_net.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "gather_words.h"

enum { PRINTED = 3 << 20 };

/* `asking` asks `other`, in one loop. */
struct world {
    struct loop *loop;
    struct gather_net *asking, *other;
    struct peers of_asking, of_other;
    struct peer as_asking, as_other;
    struct live_read read;
    enum status st;
    bool is_done;
};

/* A letter per offset, behind a gap of seven bytes at the beginning. */
static enum status read_output(void *context, const struct id *run_id, int64_t offset, size_t limit,
                               struct output_chunk **ret, size_t *ret_count)
{
    (void)context;
    if (run_id->bytes[15] != 7)
        return E_NOT_FOUND;
    int64_t gap = offset ? 0 : 7, left = PRINTED - offset - gap;
    size_t length = left < 0 ? 0 : (size_t)left < limit ? (size_t)left : limit;
    struct output_chunk *chunk = calloc(1, sizeof(*chunk));
    char *bytes = malloc(length + 1);
    assert_true(chunk && bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)('a' + (offset + gap + (int64_t)i) % 26);
    *chunk = (struct output_chunk){OUTPUT_STDERR, 1000, gap, bytes, length};
    *ret = chunk;
    *ret_count = 1;
    return OK;
}

static int listen_somewhere(char *to, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    snprintf(to, size, "127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

static void tell(struct peers *peers, const struct peer *of)
{
    struct store_change change = {.kind = STORE_CHANGE_PEER, .peer = of};
    assert_int_equal(peers_take(peers, &change, clock_now()), OK);
}

static void make_node(struct world *world, const char *name, struct gather_net **net,
                      struct peer *as, struct peers *peers)
{
    assert_int_equal(gather_net_new(world->loop, net), OK);
    *as = (struct peer){.is_alive = true, .roles = PEER_WORKER};
    snprintf(as->name, sizeof(as->name), "%s", name);
    snprintf(as->fingerprint, sizeof(as->fingerprint), "%s", gather_net_fingerprint(*net));
    peers_init(peers, as);
    gather_net_set_peers(*net, peers);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    assert_int_equal(loop_new(&world->loop), OK);
    make_node(world, "a", &world->asking, &world->as_asking, &world->of_asking);
    make_node(world, "b", &world->other, &world->as_other, &world->of_other);
    int fd =
        listen_somewhere(world->as_other.history_address, sizeof(world->as_other.history_address));
    assert_int_equal(gather_net_listen(world->other, fd), OK);
    tell(&world->of_asking, &world->as_other);
    tell(&world->of_other, &world->as_asking);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    live_read_release(&world->read);
    gather_net_free(world->asking);
    gather_net_free(world->other);
    peers_release(&world->of_asking);
    peers_release(&world->of_other);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void done(struct live_read *read, enum status st)
{
    struct world *world = read->context;
    world->st = st;
    world->is_done = true;
}

static void start(struct world *world, const char *node, uint8_t run, int64_t offset, size_t limit)
{
    struct live_elsewhere elsewhere = gather_net_output(world->asking);
    live_read_release(&world->read);
    world->read = (struct live_read){.run_id = {{[0] = 1, [15] = run}},
                                     .offset = offset,
                                     .limit = limit,
                                     .done = done,
                                     .context = world};
    snprintf(world->read.node, sizeof(world->read.node), "%s", node);
    world->is_done = false;
    elsewhere.read(elsewhere.context, &world->read);
}

static enum status ask(struct world *world, const char *node, uint8_t run, int64_t offset,
                       size_t limit)
{
    start(world, node, run, offset, limit);
    while (!world->is_done)
        loop_run_once(world->loop);
    return world->st;
}

static void output_comes_as_it_is(void **state)
{
    struct world *world = *state;
    gather_net_serve_output(world->other, (struct live_output){.read = read_output});
    assert_int_equal(ask(world, "b", 7, 0, 10), OK);
    const struct output_chunk *chunk = world->read.chunks;
    assert_true(world->read.found);
    assert_int_equal(world->read.count, 1);
    assert_int_equal(chunk->stream, OUTPUT_STDERR);
    assert_int_equal(chunk->gap_bytes, 7);
    assert_int_equal(chunk->length, 10);
    assert_memory_equal(chunk->bytes, "hijklmnopq", 10);
    assert_int_equal(ask(world, "b", 7, 26 * 4, 1 << 20), OK);
    assert_int_equal(world->read.chunks->length, 1 << 20);
    assert_memory_equal(world->read.chunks->bytes, "abcdef", 6);
    assert_int_equal(ask(world, "b", 7, PRINTED, 10), OK);
    assert_int_equal(world->read.chunks->length, 0);
    assert_int_equal(ask(world, "b", 8, 0, 10), OK); /* another run */
    assert_false(world->read.found);
}

static void expect_why(struct world *world, enum status st, const char *why)
{
    assert_int_equal(world->st, st);
    assert_string_equal(world->read.why, why);
    assert_int_equal(world->read.count, 0);
}

static void who_cannot_be_asked_is_named(void **state)
{
    struct world *world = *state;
    (void)ask(world, "nobody", 7, 0, 10);
    expect_why(world, E_UNREACHABLE, NODE_IS_AWAY);
    (void)ask(world, "b", 7, 0, 10); /* serves no output, as an older version */
    expect_why(world, E_VERSION, NODE_IS_OLD);

    /* One that is not announced there is refused. */
    gather_net_serve_output(world->other, (struct live_output){.read = read_output});
    world->as_asking.is_alive = false;
    tell(&world->of_other, &world->as_asking);
    (void)ask(world, "b", 7, 0, 10);
    expect_why(world, E_UNREACHABLE, NODE_IS_OUT_OF_REACH);
    world->as_asking.is_alive = true;
    tell(&world->of_other, &world->as_asking);
    assert_int_equal(ask(world, "b", 7, 0, 10), OK);

    /* A wrong question. */
    (void)ask(world, "b", 7, -1, 10);
    expect_why(world, E_UNREACHABLE, NODE_IS_OUT_OF_REACH);

    world->as_other.history_address[0] = '\0';
    tell(&world->of_asking, &world->as_other);
    (void)ask(world, "b", 7, 0, 10);
    expect_why(world, E_VERSION, NODE_OPENS_NO_PORT);
    world->as_other.is_alive = false;
    tell(&world->of_asking, &world->as_other);
    (void)ask(world, "b", 7, 0, 10);
    expect_why(world, E_UNREACHABLE, NODE_IS_AWAY);
}

/* ---- a question to all ---- */

static enum status answer_question(void *context, const char *question, size_t length,
                                   struct strbuf *out)
{
    if (length == 3)
        return E_INVALID;
    strbuf_addf(out, "%s of %.*s", (const char *)context, (int)length, question);
    return OK;
}

static void question_done(struct node_question *question, enum status st)
{
    struct world *world = question->context;
    world->st = st;
    world->is_done = true;
}

static void put_question(struct world *world, struct node_question *question, const char *text)
{
    struct node_asker asker = gather_net_messages(world->asking);
    node_question_release(question);
    *question = (struct node_question){.text = text, .done = question_done, .context = world};
    world->is_done = false;
    asker.ask(asker.context, question);
    while (!world->is_done)
        loop_run_once(world->loop);
    assert_int_equal(world->st, OK);
}

static void all_others_are_asked(void **state)
{
    struct world *world = *state;
    struct node_question question = {0};
    put_question(world, &question, "news?"); /* of one that can't be asked that */
    assert_int_equal(question.count, 0);
    assert_int_equal(question.absent.count, 1);
    assert_string_equal(question.absent.items[0].node, "b");
    assert_string_equal(question.absent.items[0].why, NODE_CANT_TELL);

    gather_net_serve_messages(world->other, (struct own_answer){answer_question, "answer"});
    put_question(world, &question, "news?");
    assert_int_equal(question.count, 1);
    assert_string_equal(question.answers[0], "answer of news?");
    assert_int_equal(question.absent.count, 0);
    put_question(world, &question, "???");
    assert_int_equal(question.count, 0);
    assert_string_equal(question.absent.items[0].why, NODE_IS_OUT_OF_REACH);

    world->as_other.is_alive = false;
    tell(&world->of_asking, &world->as_other);
    put_question(world, &question, "news?");
    assert_string_equal(question.absent.items[0].why, NODE_IS_AWAY);
    node_question_release(&question);
}

/* Whoever has asked is answered when the net is freed. */
static void all_are_answered_at_the_end(void **state)
{
    struct world *world = *state;
    start(world, "b", 7, 0, 10);
    assert_false(world->is_done);
    world->asking = gather_net_free(world->asking);
    assert_true(world->is_done);
    assert_int_equal(world->st, E_UNREACHABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(output_comes_as_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_cannot_be_asked_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_others_are_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_are_answered_at_the_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
