/* A history that gathers, whose n-th allocation fails, or whose connection to the other node breaks
 * at the n-th thing that is sent, for n = 1, 2, 3 ...: every request ends in time, with everything,
 * or with what is its own and a word about who is absent; and afterwards everything is there again.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cutter.h"
#include "history_gather.h"
#include "history_memory.h"
#include "history_world.h"
#include "nth_alloc.h"

enum { MORE_THAN_EVER = 2000, TURN_MS = 20, AGAIN_MS = 20000, HOUR_MS = 3600000 };

/* ---- two nodes in one loop ---- */

struct node {
    const char *name;
    struct gather_net *net;
    struct history *history;
    struct peers peers;
    struct peer as; /* as the others know it */
};

/* `asking` has a run, and so has `other`, which lets itself be asked, also for live output. */
struct cluster {
    struct loop *loop;
    struct loop_timer *turn; /* so that no turn waits for long */
    struct node asking, other;
    int port; /* of the other */
};

static void next_turn(void *context)
{
    struct cluster *cluster = context;
    loop_timer_set(cluster->turn, TURN_MS);
}

static void do_turn(struct cluster *cluster)
{
    history_dispatch(cluster->asking.history);
    history_dispatch(cluster->other.history);
    loop_run_once(cluster->loop);
}

static int listen_somewhere(int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

static void introduce(struct node *to, const struct node *whom)
{
    struct store_change change = {.kind = STORE_CHANGE_PEER, .peer = &whom->as};
    assert_int_equal(peers_take(&to->peers, &change, clock_now()), OK);
}

static enum status open_node(struct cluster *cluster, struct node *node, const char *name)
{
    struct history *own;
    struct history_wake none = {0};
    node->name = name;
    peers_init(&node->peers, &node->as);
    enum status st = gather_net_new(cluster->loop, &node->net);
    if (st == OK)
        st = history_memory_new(none, &own);
    if (st == OK)
        st = history_gather_new(node->net, own, false, none, &node->history);
    if (st != OK)
        return st;
    node->as = (struct peer){.has_history = true, .is_alive = true, .roles = PEER_WORKER};
    snprintf(node->as.name, sizeof(node->as.name), "%s", name);
    snprintf(node->as.fingerprint, sizeof(node->as.fingerprint), "%s",
             gather_net_fingerprint(node->net));
    return OK;
}

/* `through_port`: where the other is to be found; 0: where it is. */
static void introduce_all(struct cluster *cluster, int through_port)
{
    struct node *asking = &cluster->asking, *other = &cluster->other;
    snprintf(other->as.history_address, sizeof(other->as.history_address), "127.0.0.1:%d",
             through_port ? through_port : cluster->port);
    introduce(asking, asking);
    introduce(asking, other);
    introduce(other, asking);
    gather_net_set_peers(asking->net, &asking->peers);
    gather_net_set_peers(other->net, &other->peers);
}

static void appended(struct history_append *append, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)append->context = true;
}

static void record(struct node *node, const struct run *run)
{
    bool done = false;
    struct history_record record = {.run = run};
    struct history_append append = {
        .records = &record, .count = 1, .done = appended, .context = &done};
    history_append(node->history, &append);
    while (!done)
        history_dispatch(node->history);
}

static enum status read_live(void *context, const struct id *run_id, int64_t offset, size_t limit,
                             struct output_chunk **ret, size_t *ret_count)
{
    (void)context;
    (void)run_id;
    (void)limit;
    struct output_chunk *chunk = calloc(1, sizeof(*chunk));
    char *bytes = strdup("live");
    if (!chunk || !bytes) {
        free(chunk);
        free(bytes);
        return E_NOMEM;
    }
    *chunk = (struct output_chunk){.gap_bytes = offset, .bytes = bytes, .length = strlen(bytes)};
    *ret = chunk;
    *ret_count = 1;
    return OK;
}

static void cluster_open(struct cluster *cluster)
{
    struct run own = sample_run(1, 1), others = sample_run(1, 2);
    *cluster = (struct cluster){0};
    assert_int_equal(loop_new(&cluster->loop), OK);
    assert_int_equal(loop_timer_new(cluster->loop, next_turn, cluster, &cluster->turn), OK);
    loop_timer_set(cluster->turn, TURN_MS);
    assert_int_equal(open_node(cluster, &cluster->asking, "a"), OK);
    assert_int_equal(open_node(cluster, &cluster->other, "b"), OK);
    int fd = listen_somewhere(&cluster->port);
    assert_int_equal(gather_net_listen(cluster->other.net, fd), OK);
    gather_net_serve_output(cluster->other.net, (struct live_output){.read = read_live});
    record(&cluster->asking, &own);
    record(&cluster->other, &others);
}

static void cluster_close(struct cluster *cluster)
{
    history_free(cluster->asking.history);
    history_free(cluster->other.history);
    gather_net_free(cluster->asking.net);
    gather_net_free(cluster->other.net);
    peers_release(&cluster->asking.peers);
    peers_release(&cluster->other.peers);
    loop_timer_free(cluster->turn);
    loop_free(cluster->loop);
}

/* ---- what is asked ---- */

/* One question of each kind. */
struct questions {
    struct history_read read;
    struct history_log log;
    struct history_stats stats;
    struct history_changes changes;
    struct live_read output;
    enum status answers[5];
    int open;
};

static void answered(struct questions *questions, int which, enum status st)
{
    questions->answers[which] = st;
    questions->open--;
}

static void read_done(struct history_read *read, enum status st)
{
    answered(read->context, 0, st);
}

static void log_done(struct history_log *log, enum status st)
{
    answered(log->context, 1, st);
}

static void stats_done(struct history_stats *stats, enum status st)
{
    answered(stats->context, 2, st);
}

static void changes_done(struct history_changes *changes, enum status st)
{
    answered(changes->context, 3, st);
}

static void output_done(struct live_read *read, enum status st)
{
    answered(read->context, 4, st);
}

/* The log and the output are those of the other's run. */
static void ask(struct cluster *cluster, struct questions *questions)
{
    struct history *history = cluster->asking.history;
    *questions = (struct questions){
        .read = {.query.limit = 10, .done = read_done, .context = questions},
        .log = {.run_id = sample_run(1, 2).id, .done = log_done, .context = questions},
        .stats = {.from_ms = SAMPLE_MS - HOUR_MS,
                  .to_ms = SAMPLE_MS + 24 * HOUR_MS,
                  .done = stats_done,
                  .context = questions},
        .changes = {.query.limit = 10, .done = changes_done, .context = questions},
        .output =
            {.node = "b", .offset = 7, .limit = 10, .done = output_done, .context = questions},
        .open = 5,
    };
    struct live_elsewhere elsewhere = gather_net_output(cluster->asking.net);
    questions->output.run_id = questions->log.run_id;
    elsewhere.read(elsewhere.context, &questions->output);
    history_read(history, &questions->read);
    history_log(history, &questions->log);
    history_stats(history, &questions->stats);
    history_changes(history, &questions->changes);
    int64_t end_ms = clock_now().boot.ms + AGAIN_MS;
    while (questions->open) {
        do_turn(cluster);
        assert_true(clock_now().boot.ms < end_ms);
    }
}

static void release(struct questions *questions)
{
    history_read_release(&questions->read);
    history_log_release(&questions->log);
    history_stats_release(&questions->stats);
    history_changes_release(&questions->changes);
    live_read_release(&questions->output);
}

static int64_t ends_of(const struct history_stats *stats)
{
    int64_t ends = 0;
    for (size_t i = 0; i < stats->count; i++)
        ends += stats->rows[i].ends[sample_run(1, 1).state];
    return ends;
}

/* Is everything there, from both? */
static bool is_whole(const struct questions *questions)
{
    for (int i = 0; i < 5; i++) {
        if (questions->answers[i] != OK)
            return false;
    }
    return questions->output.found && questions->output.count == 1 &&
           questions->output.chunks[0].gap_bytes == 7 && questions->output.chunks[0].length == 4 &&
           questions->read.count == 2 && questions->log.found && ends_of(&questions->stats) == 2 &&
           !questions->read.absent.count && !questions->stats.absent.count &&
           !questions->changes.absent.count;
}

static void check_absent(const struct history_absences *absent, const char *when)
{
    if (absent->count != 1 || strcmp(absent->items[0].node, "b") != 0 || !*absent->items[0].why)
        fail_msg("%s: the other is missing, and nobody says so", when);
}

/* What has come is whole, or says who is absent. */
static void check(const struct questions *questions, const char *when)
{
    for (int i = 0; i < 4; i++) {
        if (questions->answers[i] != OK && questions->answers[i] != E_NOMEM)
            fail_msg("%s: question %d: %s", when, i, status_text(questions->answers[i]));
    }
    if (questions->answers[4] == E_UNREACHABLE
            ? !*questions->output.why
            : questions->answers[4] != OK && questions->answers[4] != E_NOMEM)
        fail_msg("%s: output: %s", when, status_text(questions->answers[4]));
    if (questions->answers[0] == OK && questions->read.count != 2) {
        assert_int_equal(questions->read.count, 1);
        check_absent(&questions->read.absent, when);
    }
    if (questions->answers[1] == OK && !questions->log.found)
        check_absent(&questions->log.absent, when);
    if (questions->answers[2] == OK && ends_of(&questions->stats) != 2)
        check_absent(&questions->stats.absent, when);
}

/* One that was silent is left alone for some seconds. */
static void check_afterwards(struct cluster *cluster, const char *when)
{
    struct questions questions;
    int64_t end_ms = clock_now().boot.ms + AGAIN_MS;
    for (bool whole = false; !whole;) {
        ask(cluster, &questions);
        check(&questions, when);
        whole = is_whole(&questions);
        release(&questions);
        if (clock_now().boot.ms > end_ms)
            fail_msg("%s: it does not come back", when);
    }
}

/* ---- one after the other ---- */

static void test_allocations(void **state)
{
    bool failed = true;
    (void)state;
    for (int n = 1; failed; n++) {
        struct cluster cluster;
        struct questions questions;
        char when[64];
        assert_true(n < MORE_THAN_EVER);
        snprintf(when, sizeof(when), "allocation %d", n);
        cluster_open(&cluster);
        introduce_all(&cluster, 0);
        nth_alloc_plan(n);
        ask(&cluster, &questions);
        failed = nth_alloc_failed();
        nth_alloc_plan(0);
        check(&questions, when);
        release(&questions);
        check_afterwards(&cluster, when);
        cluster_close(&cluster);
        if (!failed)
            print_message("%d allocations\n", n - 1);
    }
}

static void test_opening(void **state)
{
    bool failed = true;
    (void)state;
    for (int n = 1; failed; n++) {
        struct cluster cluster = {0};
        int fd, port;
        assert_true(n < MORE_THAN_EVER);
        assert_int_equal(loop_new(&cluster.loop), OK);
        fd = listen_somewhere(&port);
        nth_alloc_plan(n);
        enum status st = open_node(&cluster, &cluster.other, "b");
        if (st == OK)
            st = gather_net_listen(cluster.other.net, fd);
        else
            close(fd);
        failed = nth_alloc_failed();
        nth_alloc_plan(0);
        assert_int_equal(st, failed ? E_NOMEM : OK);
        history_free(cluster.other.history);
        gather_net_free(cluster.other.net);
        peers_release(&cluster.other.peers);
        loop_free(cluster.loop);
    }
}

static void cut_each(enum cut cut, const char *what)
{
    bool has_cut = true;
    for (int n = 1; has_cut; n++) {
        struct cluster cluster;
        struct questions questions;
        char when[64];
        assert_true(n < MORE_THAN_EVER);
        snprintf(when, sizeof(when), "%s %d", what, n);
        cluster_open(&cluster);
        struct cutter *cutter = cutter_new(cluster.port);
        introduce_all(&cluster, cutter_port(cutter));
        cutter_plan(cutter, cut, n);
        ask(&cluster, &questions);
        has_cut = cutter_has_cut(cutter);
        cutter_plan(cutter, cut, 0);
        check(&questions, when);
        release(&questions);
        check_afterwards(&cluster, when);
        cluster_close(&cluster);
        cutter_free(cutter);
    }
}

static void test_cuts(void **state)
{
    (void)state;
    cut_each(CUT_REQUEST, "request");
    cut_each(CUT_ANSWER, "answer");
    cut_each(CUT_SHORT, "half an answer");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
