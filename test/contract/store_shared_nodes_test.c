/* Processes that share a store: who may open it, who is alive, and what a stopped one keeps. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared_place.h"
#include "sqlite_place.h"
#include "store_world.h"

/* ---- another process ---- */

/* What it does with its store, before it waits to be ended. */
typedef void (*errand_function)(struct world *world);

struct other {
    pid_t pid;
    int from_fd; /* it closes that when it ends, and writes a byte when its errand is done */
};

static void serve(const char *place, errand_function errand, int to_fd)
{
    struct world *world = world_new(&shared_backend);
    shared_backend.remove_place(world->place);
    snprintf(world->place, sizeof(world->place), "%s", place);
    world_open(world);
    world->last_number = 5000;
    errand(world);
    assert_int_equal(write(to_fd, "", 1), 1);
    for (;;) /* its worker goes on */
        world_pass(world, INT64_MAX);
}

/* This program once more, from its beginning: a child that is forked beside the threads of a store
 * may inherit locks that they hold. The errand is one of those at the end of this file. */
static struct other start_other(const char *place, const char *errand)
{
    int ends[2];
    char byte, to_fd[12];
    struct other other;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
    snprintf(to_fd, sizeof(to_fd), "%d", ends[1]);
    other.pid = fork();
    assert_true(other.pid >= 0);
    if (other.pid == 0) {
        execl("/proc/self/exe", "errand", errand, place, to_fd, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    other.from_fd = ends[0];
    assert_int_equal(read(other.from_fd, &byte, 1), 1);
    return other;
}

static void end_other(struct other *other)
{
    kill(other->pid, SIGKILL);
    waitpid(other->pid, NULL, 0);
    close(other->from_fd);
}

static void do_nothing(struct world *world)
{
    (void)world;
}

static void join_as_second(struct world *world)
{
    struct peer peer = a_peer("node-2", 2);
    join(world, &peer);
}

/* ---- who may open it ---- */

static void expect_busy(enum status st, const struct strbuf *why, pid_t pid)
{
    char text[24];
    snprintf(text, sizeof(text), "pid %ld", (long)pid);
    assert_int_equal(st, E_BUSY);
    if (!strstr(why->text, text))
        fail_msg("%s is not in: %s", text, why->text);
}

static void an_exclusive_agent_is_refused(void **state)
{
    struct world *world = world_new(&shared_backend);
    struct store_wake nobody = {NULL, NULL};
    struct store *store;
    struct strbuf why;
    (void)state;
    strbuf_init(&why);
    struct other other = start_other(world->place, "do_nothing");
    expect_busy(store_sqlite_open(world->place, nobody, &store, &why), &why, other.pid);
    end_other(&other);
    strbuf_reset(&why);
    assert_int_equal(store_sqlite_open(world->place, nobody, &store, &why), OK);

    struct store *second;
    expect_busy(store_shared_open(world->place, NULL, nobody, &second, &why), &why, getpid());
    store_free(store);
    strbuf_reset(&why);
    assert_int_equal(store_shared_open(world->place, NULL, nobody, &store, &why), OK);
    store_free(store);
    strbuf_release(&why);
    world_free(world);
}

static void change_database(const char *place, const char *sql)
{
    char path[160];
    sqlite3 *db;
    snprintf(path, sizeof(path), "%s/peal.db", place);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Who has it open with another format is not joined. */
static void other_versions_are_refused(void **state)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"PRAGMA user_version = 1000", "newer peal"},
        {"PRAGMA user_version = 3", "older peal"},
        {"UPDATE shared_about SET value = 7 WHERE name = 'format'", "another version"},
    };
    struct store_wake nobody = {NULL, NULL};
    struct strbuf why;
    (void)state;
    strbuf_init(&why);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new(&shared_backend);
        struct store *store;
        struct other other = start_other(world->place, "do_nothing");
        change_database(world->place, cases[i].sql);
        strbuf_reset(&why);
        assert_int_equal(store_shared_open(world->place, NULL, nobody, &store, &why), E_VERSION);
        if (!strstr(why.text, cases[i].says))
            fail_msg("case %zu: %s", i, why.text);
        end_other(&other);
        world_free(world);
    }
    strbuf_release(&why);
}

/* What an exclusive agent wrote meanwhile is there, and its metas are not those of a node. */
static void the_modes_take_turns(void **state)
{
    struct world *world = world_new(&sqlite_backend);
    struct store_set_meta meta = {"boot", "1"};
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    world_do_one(world, STORE_SET_META, &meta);
    world->store = store_free(world->store);
    world->is_other = true;

    struct world *shared = world_new(&shared_backend);
    shared_backend.remove_place(shared->place);
    snprintf(shared->place, sizeof(shared->place), "%s", world->place);
    world_open(shared);
    assert_string_equal(see_job(shared, job)->name, "backup");
    assert_int_equal(shared->picture.meta_count, 0);
    world_do_one(shared, STORE_SET_META, &meta);
    shared->last_number = 100;
    struct run run = claim_run(shared, job, 5000);
    world_reopen(shared);
    assert_int_equal(shared->picture.meta_count, 1);
    shared->store = store_free(shared->store);

    struct world *alone = world_new(&sqlite_backend);
    remove_folder(alone->place);
    snprintf(alone->place, sizeof(alone->place), "%s", world->place);
    world_open(alone);
    assert_int_equal(see_run(alone, run.id)->run.state, RUN_CLAIMED);
    alone->is_other = true;
    world_free(alone);
    world_free(shared);
    world_free(world);
}

/* ---- who is alive ---- */

static void wait_until(struct world *world, const char *node, bool is_alive)
{
    for (int64_t until_ms = soon_ms(); sees_alive(world, node) != is_alive;)
        world_pass(world, until_ms);
}

static void a_killed_process_is_dead_at_once(void **state)
{
    struct world *world = world_new(&shared_backend);
    struct peer first = a_peer("node-1", 1);
    (void)state;
    world_open(world);
    join(world, &first);
    struct other other = start_other(world->place, "join_as_second");
    wait_until(world, "node-2", true);
    int64_t since_ms = clock_now().boot.ms;
    kill(other.pid, SIGKILL);
    wait_until(world, "node-2", false);
    print_message("its death was known after %lld ms\n",
                  (long long)(clock_now().boot.ms - since_ms));
    end_other(&other);
    assert_true(sees_alive(world, "node-1"));
    world_free(world);
}

/* It has a child that lives on with all its descriptors: forked, and never another program. */
static void leave_a_child(struct world *world)
{
    join_as_second(world);
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    struct store_put_doc doc = {.kind = "child", .name = "pid", .expected_revision = -1};
    char json[24];
    snprintf(json, sizeof(json), "%ld", (long)pid);
    doc.json = json;
    world_do_one(world, STORE_PUT_DOC, &doc);
}

static void a_child_does_not_keep_it_alive(void **state)
{
    struct world *world = world_new(&shared_backend);
    (void)state;
    world_open(world);
    struct other other = start_other(world->place, "leave_a_child");
    wait_until(world, "node-2", true);
    end_other(&other);
    wait_until(world, "node-2", false);
    const struct seen_doc *doc; /* nodes are not told in one order with it */
    for (int64_t until_ms = soon_ms(); !(doc = look_for_doc(world, "child", "pid"));)
        world_pass(world, until_ms);
    pid_t child = (pid_t)atol(doc->json);
    assert_int_equal(kill(child, 0), 0); /* it is still there */
    kill(child, SIGKILL);
    world_free(world);
}

static void claim_and_begin(struct world *world)
{
    struct id job = make_job(world, "backup");
    claim_run(world, job, 5000);
    struct run begun = claim_run(world, job, 6000);
    join_as_second(world);
    assert_true(begin_run(world, &begun).begun);
}

static const struct run *run_at(struct world *world, int64_t tick_ms)
{
    for (size_t i = 0; i < world->picture.run_count; i++)
        if (world->picture.runs[i].run.tick_ms == tick_ms)
            return &world->picture.runs[i].run;
    fail_msg("no run at %lld", (long long)tick_ms);
    return NULL;
}

/* It is alive: what it has not begun is taken over by its nonce, what it has begun stays its own,
 * and the lead goes on to another. */
static void a_stopped_process_keeps_what_it_has_begun(void **state)
{
    struct world *world = world_new(&shared_backend);
    struct peer first = a_peer("node-1", 1);
    (void)state;
    struct other other = start_other(world->place, "claim_and_begin");
    world_open(world);
    wait_until(world, "node-2", true);
    for (int64_t until_ms = soon_ms(); strcmp(world->picture.leader, "node-2") != 0;)
        world_pass(world, until_ms);
    kill(other.pid, SIGSTOP);
    join(world, &first);
    struct run claimed = *run_at(world, 5000);
    struct store_take take = {.run_id = claimed.id, .from_nonce = claimed.nonce, .nonce = 77};
    enum status st; /* unless it was stopped inside a transaction, which is then over first */
    while ((st = world_do(world, STORE_TAKE, &take, 1)) != OK) {
        assert_int_equal(st, E_UNREACHABLE);
        kill(other.pid, SIGCONT);
        kill(other.pid, SIGSTOP);
    }
    assert_true(take.taken);
    for (int64_t until_ms = soon_ms(); !store_leads(world->store);)
        world_pass(world, until_ms);
    assert_true(sees_alive(world, "node-2"));
    assert_int_equal(run_at(world, 6000)->state, RUN_BEGUN);
    kill(other.pid, SIGCONT);
    end_other(&other);
    wait_until(world, "node-2", false);
    world_free(world);
}

static void a_name_belongs_to_one(void **state)
{
    struct world *world = world_new(&shared_backend);
    struct peer second = a_peer("node-2", 3);
    struct strbuf why;
    char pid[32];
    (void)state;
    strbuf_init(&why);
    struct other other = start_other(world->place, "join_as_second");
    world_open(world);
    announce(world, &second);
    for (int64_t until_ms = soon_ms(); store_health(world->store, &why) != E_CONFLICT;)
        world_pass(world, until_ms);
    snprintf(pid, sizeof(pid), "pid %ld", (long)other.pid);
    assert_non_null(strstr(why.text, pid));
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
    assert_int_equal(world_do(world, STORE_CLAIM, &claim, 1), E_UNREACHABLE); /* R8 */
    end_other(&other);
    for (int64_t until_ms = soon_ms(); store_health(world->store, &why) != OK;)
        world_pass(world, until_ms);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    strbuf_release(&why);
    world_free(world);
}

/* ---- what is prompt ---- */

static void order_a_kill(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    struct store_order order = {.run_id = run.id, .reason = REASON_USER, .by = "otto"};
    world_do_one(world, STORE_ORDER, &order);
    struct store_put_doc doc = {.kind = "at", .name = "boot", .expected_revision = -1};
    char json[24];
    snprintf(json, sizeof(json), "%lld", (long long)clock_now().boot.ms);
    doc.json = json;
    world_do_one(world, STORE_PUT_DOC, &doc);
}

static void news_are_told_soon(void **state)
{
    struct world *world = world_new(&shared_backend);
    (void)state;
    world_open(world);
    struct other other = start_other(world->place, "order_a_kill");
    int64_t until_ms = soon_ms();
    while (!look_for_doc(world, "at", "boot"))
        world_pass(world, until_ms);
    print_message(
        "told after %lld ms\n",
        (long long)(clock_now().boot.ms - atoll(look_for_doc(world, "at", "boot")->json)));
    assert_int_equal(world->picture.runs[0].kill_reason, REASON_USER);
    end_other(&other);
    world_free(world);
}

static const struct {
    const char *name;
    errand_function run;
} errands[] = {
    {"do_nothing", do_nothing},       {"join_as_second", join_as_second},
    {"leave_a_child", leave_a_child}, {"claim_and_begin", claim_and_begin},
    {"order_a_kill", order_a_kill},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 4 && i < sizeof(errands) / sizeof(errands[0]); i++)
        if (strcmp(argv[1], errands[i].name) == 0)
            serve(argv[2], errands[i].run, atoi(argv[3]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exclusive_agent_is_refused),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(the_modes_take_turns),
        cmocka_unit_test(a_killed_process_is_dead_at_once),
        cmocka_unit_test(a_child_does_not_keep_it_alive),
        cmocka_unit_test(a_stopped_process_keeps_what_it_has_begun),
        cmocka_unit_test(a_name_belongs_to_one),
        cmocka_unit_test(news_are_told_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
