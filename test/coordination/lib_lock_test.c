/* peal_lock and peal_select: what is got, what is refused, what is lost. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places.h"

#define expect(error, call)                                                                        \
    do {                                                                                           \
        int got_ = (call);                                                                         \
        if (got_ != (error))                                                                       \
            fail_msg("line %d: %s is %d (%s)", __LINE__, #call, got_, peal_why());                 \
    } while (0)

static void expect_why(const char *part)
{
    if (!strstr(peal_why(), part))
        fail_msg("not in: %s: %s", peal_why(), part);
}

/* ---- taking and waiting ---- */

static void one_holds_and_fences_grow(void **state)
{
    peal_node *one = place_open(SILENCE_MS), *two = place_open(SILENCE_MS);
    peal_held *held = NULL, *other = NULL;
    (void)state;
    for (int64_t fence = 1; fence <= 3; fence++) {
        expect(PEAL_OK, peal_lock(one, &held, "a/b", .id = "first"));
        assert_true(peal_is_held(held));
        assert_int_equal(peal_fence(held), fence);
        expect(PEAL_E_BUSY, peal_lock(two, &other, "a/b"));
        expect_why("a/b is held by first on ");
        expect(PEAL_E_BUSY, peal_lock(two, &other, "a/b", 50));
        expect_why("a/b is held by first on ");
        assert_null(other);
        expect(PEAL_OK, peal_release(held));
    }
    expect(PEAL_OK, peal_lock(two, &other, "a/b", -1));
    assert_int_equal(peal_fence(other), 4);
    expect(PEAL_OK, peal_release(other));
    expect(PEAL_OK, peal_release(NULL));
    peal_close(one);
    peal_close(two);
}

struct waiter {
    pthread_t thread;
    peal_node *peal;
    const char *name;
    int64_t wait_ms;
    int error;
    int64_t fence;
    atomic_int done;
};

static void *wait_for_lock(void *context)
{
    struct waiter *waiter = context;
    peal_held *held = NULL;
    waiter->error = peal_lock(waiter->peal, &held, waiter->name, waiter->wait_ms);
    if (waiter->error == PEAL_OK) {
        waiter->fence = peal_fence(held);
        waiter->error = peal_release(held);
    }
    atomic_store(&waiter->done, 1);
    return NULL;
}

static void start(struct waiter *waiter, peal_node *peal, const char *name, int64_t wait_ms)
{
    *waiter = (struct waiter){.peal = peal, .name = name, .wait_ms = wait_ms};
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for_lock, waiter), 0);
}

static void many_threads_take_turns(void **state)
{
    enum { THREADS = 8 };
    struct waiter waiters[THREADS];
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *held = NULL;
    int64_t sum = 0;
    (void)state;
    expect(PEAL_OK, peal_lock(peal, &held, "turns"));
    for (int i = 0; i < THREADS; i++)
        start(&waiters[i], peal, "turns", i % 2 ? -1 : PATIENCE_MS);
    assert_true(peal_is_held(held));
    expect(PEAL_OK, peal_release(held));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].error, PEAL_OK);
        sum += waiters[i].fence;
    }
    assert_int_equal(sum, 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9);
    peal_close(peal);
}

static void a_stop_ends_waits_and_keeps_what_is_held(void **state)
{
    struct waiter waiter;
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *held = NULL, *more = NULL;
    (void)state;
    expect(PEAL_OK, peal_lock(peal, &held, "stop"));
    start(&waiter, peal, "stop", -1);
    peal_stop(peal);
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.error, PEAL_E_STOPPED);
    assert_true(peal_is_held(held));
    expect(PEAL_E_STOPPED, peal_lock(peal, &more, "other"));
    expect(PEAL_E_STOPPED, peal_select(peal, "other", NULL, 1000, NULL));
    expect(PEAL_OK, peal_release(held));
    peal_close(peal);
}

static void close_releases_and_handles_answer_on(void **state)
{
    peal_node *one = place_open(SILENCE_MS), *two = place_open(SILENCE_MS);
    peal_held *held = NULL, *other = NULL;
    (void)state;
    expect(PEAL_OK, peal_lock(one, &held, "closed"));
    peal_close(one);
    assert_false(peal_is_held(held));
    assert_int_equal(peal_fence(held), 1);
    expect(PEAL_OK, peal_lock(two, &other, "closed"));
    expect(PEAL_OK, peal_release(held));
    assert_true(peal_is_held(other));
    expect(PEAL_OK, peal_release(other));
    peal_close(two);
}

static void no_function_is_taken_by_such_a_node(void **state)
{
    peal_node *peal = place_open(SILENCE_MS);
    (void)state;
    expect(PEAL_E_INVALID, peal_add(peal, "x", "@daily", NULL));
    expect_why(".no_functions");
    peal_close(peal);
}

static void mistakes_are_told_at_once(void **state)
{
    static const struct {
        int line;
        peal_claim claim;
        const char *why;
    } cases[] = {
        {__LINE__, {.name = NULL}, "name"},
        {__LINE__, {.name = "a//b"}, "the name \"a//b\""},
        {__LINE__, {.name = "a", .wait_ms = -2}, ".wait_ms"},
        {__LINE__, {.name = "a", .id = ""}, "the id \"\" is empty"},
        {__LINE__, {.name = "a", .id = "a b"}, "blanks"},
        {__LINE__, {.name = "a", .ttl_ms = 4000}, ".ttl_ms"},
        {__LINE__, {.name = "a", .ttl_ms = 5500}, ".ttl_ms"},
        {__LINE__, {.name = "a", .ttl_ms = 5000, .margin_ms = 2500}, ".margin_ms"},
        {__LINE__, {.name = "a", .margin_ms = -1}, ".margin_ms"},
    };
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *held = NULL;
    char id[PEAL_ID_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (peal_lock_sized(peal, &held, &cases[i].claim, sizeof(peal_claim)) != PEAL_E_INVALID ||
            !strstr(peal_why(), cases[i].why))
            fail_msg("line %d: %s", cases[i].line, peal_why());
    }
    expect(PEAL_E_INVALID, peal_lock(peal, &held, "a", 0, ""));
    expect_why("lib_lock_test.c:");
    expect(PEAL_E_INVALID, peal_select(peal, "a", NULL, 0, id));
    expect(PEAL_E_INVALID, peal_select(peal, "", NULL, 1000, id));
    expect(PEAL_E_INVALID, peal_who_leads(peal, "a b", id));
    peal_close(peal);
}

/* A member that a later header has, and an older program's smaller struct. */
static void sizes_of_other_versions_are_taken(void **state)
{
    struct {
        peal_claim claim;
        int64_t more;
    } later = {.claim = {.name = "sizes"}, .more = 1};
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *held = NULL;
    (void)state;
    expect(PEAL_OK, peal_lock_sized(peal, &held, &later.claim, sizeof(later)));
    expect(PEAL_OK, peal_release(held));
    expect(PEAL_OK, peal_lock_sized(peal, &held, &later.claim, offsetof(peal_claim, id)));
    expect(PEAL_OK, peal_release(held));
    peal_close(peal);
}

/* ---- processes ---- */

/* The child's handles answer, and what it has inherited holds nothing when the parent is gone. */
static void a_fork_has_nothing_of_it(void **state)
{
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *held = NULL;
    int told[2], life[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(life), 0);
    pid_t parent = fork(); /* of the one that outlives it */
    if (parent == 0) {
        peal_node *own = peal_open(.store = place.store, .data = place.data,
                                   .timeout_ms = SILENCE_MS, .no_functions = true);
        if (!own || peal_lock(own, &held, "forked", .ttl_ms = TTL_MS, .margin_ms = MARGIN_MS))
            _exit(1);
        if (fork() == 0) {
            bool is_right = !peal_is_held(held) && peal_fence(held) == PEAL_E_FORKED &&
                            peal_release(held) == PEAL_E_FORKED &&
                            peal_lock(own, &held, "forked") == PEAL_E_FORKED;
            if (write(told[1], is_right ? "y" : "n", 1) != 1)
                _exit(1);
            close(life[1]);
            _exit(read(life[0], &byte, 1) != 0); /* until the test has ended */
        }
        close(life[1]);
        for (;;)
            pause();
    }
    close(told[1]);
    close(life[0]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    expect(PEAL_E_BUSY, peal_lock(peal, &held, "forked"));
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    expect(PEAL_OK, peal_lock(peal, &held, "forked", PATIENCE_MS)); /* while the other one lives */
    assert_int_equal(peal_fence(held), 2);
    expect(PEAL_OK, peal_release(held));
    peal_close(peal);
    close(told[0]);
    close(life[1]);
}

/* A process may end with what it holds and with threads that wait, and use handles in its exit. It
 * is a process of its own: what a fork has inherited would be looked for as leaks. */
static peal_held *held_at_exit;

static void release_at_exit(void)
{
    int error = peal_release(held_at_exit);
    if (error != PEAL_OK && error != PEAL_E_STOPPED)
        _exit(3);
}

static int exit_with_a_lock(void)
{
    static struct waiter waiter;
    atexit(release_at_exit);
    if (peal_lock(NULL, &held_at_exit, "exit") != PEAL_OK)
        return 2;
    start(&waiter, NULL, "exit", -1);
    pthread_detach(waiter.thread);
    return 0;
}

static void a_process_may_exit_with_a_lock(void **state)
{
    int status = -1;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("PEAL_STORE", place.store, 1);
        setenv("PEAL_DATA", place.data, 1);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        execl("/proc/self/exe", "exit", "exit", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- selections ---- */

static void one_is_chosen_and_the_others_learn_who(void **state)
{
    peal_node *one = place_open(SILENCE_MS), *two = place_open(SILENCE_MS);
    char id[PEAL_ID_SIZE] = "";
    (void)state;
    assert_int_equal(peal_select(one, "report", "web-1", 3600000, id), 1);
    assert_string_equal(id, "web-1");
    assert_int_equal(peal_select(two, "report", "web-2", 3600000, id), 0);
    assert_string_equal(id, "web-1");
    assert_int_equal(peal_select(one, "report", "web-1", 3600000, NULL), 1);
    assert_int_equal(peal_select(one, "short", "web-1", 1, NULL), 1);
    wait_until(peal_select(two, "short", "web-2", 3600000, NULL) == 1);
    assert_int_equal(peal_select(two, "own", NULL, 3600000, id), 1);
    char tail[32];
    snprintf(tail, sizeof(tail), "-%d", (int)getpid());
    assert_non_null(strstr(id, tail));
    peal_close(one);
    peal_close(two);
}

/* ---- losses ---- */

struct loss {
    atomic_int count;
    char why[200];
    sigset_t blocked;
};

static void on_lost(void *context, const char *why)
{
    struct loss *loss = context;
    snprintf(loss->why, sizeof(loss->why), "%s", why);
    pthread_sigmask(SIG_SETMASK, NULL, &loss->blocked);
    atomic_fetch_add(&loss->count, 1);
}

/* The poll and the callback know, each in time, and agree. */
static void a_silent_store_is_a_loss(void **state)
{
    peal_node *peal = place_open(1000), *other = place_open(SILENCE_MS);
    peal_held *held = NULL, *next = NULL;
    struct loss loss = {.count = 0};
    (void)state;
    if (!place.has_server) {
        peal_close(peal);
        peal_close(other);
        skip();
    }
    expect(PEAL_OK, peal_lock(peal, &held, "silent", .ttl_ms = TTL_MS, .margin_ms = MARGIN_MS,
                              .lost = on_lost, .context = &loss));
    place_pause_server();
    int64_t stopped_ms = now_ms(), lost_ms;
    while (peal_is_held(held))
        place_pause();
    lost_ms = now_ms();
    if (lost_ms > stopped_ms + TTL_MS - MARGIN_MS + 1000) /* a pause of this machine is not ours */
        print_message("lost %d ms after the store was stopped\n", (int)(lost_ms - stopped_ms));
    wait_until(atomic_load(&loss.count) == 1);
    assert_false(peal_is_held(held));
    assert_true(strlen(loss.why) > 0);
    assert_int_equal(sigismember(&loss.blocked, SIGTERM), 1);
    assert_int_equal(sigismember(&loss.blocked, SIGPIPE), 1);
    expect(PEAL_E_UNREACHABLE, peal_lock(peal, &next, "another", PATIENCE_MS));
    expect(PEAL_E_UNREACHABLE, peal_select(peal, "another", NULL, 1000, NULL));
    place_resume_server();
    assert_false(peal_is_held(held));
    expect(PEAL_E_LOST, peal_release(held));
    expect_why("silent: ");
    expect(PEAL_OK, peal_lock(other, &next, "silent", PATIENCE_MS));
    assert_int_equal(peal_fence(next), 2);
    expect(PEAL_OK, peal_release(next));
    assert_int_equal(atomic_load(&loss.count), 1);
    peal_close(peal);
    peal_close(other);
}

static void a_removed_file_is_a_loss(void **state)
{
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *held = NULL;
    struct loss loss = {.count = 0};
    char path[200];
    (void)state;
    if (place.has_server) {
        peal_close(peal);
        skip();
    }
    expect(PEAL_OK, peal_lock(peal, &held, "removed", .lost = on_lost, .context = &loss));
    snprintf(path, sizeof(path), "%s/coord/locks/removed~queue", place.data);
    assert_int_equal(unlink(path), 0);
    wait_until(atomic_load(&loss.count) == 1);
    assert_false(peal_is_held(held));
    expect(PEAL_E_LOST, peal_release(held));
    peal_close(peal);
}

/* ---- in the background ---- */

struct own {
    peal_held *held;
    atomic_int won;
    int released;
};

static void release_when_won(void *context, int64_t fence)
{
    struct own *own = context;
    own->released = fence == peal_fence(own->held) ? peal_release(own->held) : -100;
    atomic_fetch_add(&own->won, 1);
}

static void a_callback_may_release_its_own(void **state)
{
    peal_node *peal = place_open(SILENCE_MS);
    (void)state;
    for (int i = 1; i <= 5; i++) {
        struct own own = {.won = 0};
        expect(PEAL_OK,
               peal_lock(peal, &own.held, "own", .won = release_when_won, .context = &own));
        wait_until(atomic_load(&own.won));
        assert_int_equal(own.released, PEAL_OK);
    }
    peal_close(peal);
}

int main(int argc, char **argv)
{
#define here(test) cmocka_unit_test_setup_teardown(test, place_setup, place_teardown)
    const struct CMUnitTest tests[] = {
        here(one_holds_and_fences_grow),
        here(many_threads_take_turns),
        here(a_stop_ends_waits_and_keeps_what_is_held),
        here(close_releases_and_handles_answer_on),
        here(no_function_is_taken_by_such_a_node),
        here(mistakes_are_told_at_once),
        here(sizes_of_other_versions_are_taken),
        here(a_fork_has_nothing_of_it),
        here(a_process_may_exit_with_a_lock),
        here(one_is_chosen_and_the_others_learn_who),
        here(a_silent_store_is_a_loss),
        here(a_removed_file_is_a_loss),
        here(a_callback_may_release_its_own),
    };
    if (argc == 2 && strcmp(argv[1], "exit") == 0)
        return exit_with_a_lock();
    return places_run("locks", tests, sizeof(tests) / sizeof(tests[0]));
}
