/* One round of the loop: whoever is ready has a turn, and it comes to an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <unistd.h>

#include "loop.h"

enum { ROUNDS = 5, MANY = 40 };

struct place {
    struct loop *loop;
    int pipe[2];
    struct loop_fd *fd; /* always ready: what is in the pipe is never read */
    int fd_count;
};

/* What was handled, by one who counts and tells when. */
struct turns {
    const struct place *place;
    int count;
    int fd_count_then; /* how often the descriptor had had its turn */
    struct loop_timer *again;
};

static void fd_ready(void *context, unsigned events)
{
    assert_int_equal(events, LOOP_READ);
    ((struct place *)context)->fd_count++;
}

static void note(struct turns *turns)
{
    turns->count++;
    turns->fd_count_then = turns->place->fd_count;
    if (turns->again)
        loop_timer_set(turns->again, 0);
}

static void timer_fired(void *context)
{
    note(context);
}

static void library_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    note(context);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_non_null(place);
    assert_int_equal(loop_new(&place->loop), OK);
    assert_int_equal(pipe(place->pipe), 0);
    assert_int_equal(write(place->pipe[1], "x", 1), 1);
    assert_int_equal(loop_fd_new(place->loop, place->pipe[0], fd_ready, place, &place->fd), OK);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    loop_fd_free(place->fd);
    close(place->pipe[0]);
    close(place->pipe[1]);
    loop_free(place->loop);
    free(place);
    return 0;
}

/* ---- one that is always ready ---- */

static void test_it_returns(void **state)
{
    struct place *place = *state;
    loop_fd_want(place->fd, LOOP_READ);
    for (int i = 1; i <= ROUNDS; i++) {
        loop_run_once(place->loop);
        assert_int_equal(place->fd_count, i);
    }
}

/* More of them than are served between two looks for urgent ones. */
static void test_patient_ones_in_the_same_round(void **state)
{
    struct place *place = *state;
    struct loop_timer *timers[MANY];
    struct turns turns[MANY] = {0};
    loop_fd_want(place->fd, LOOP_READ);
    for (int i = 0; i < MANY; i++) {
        turns[i].place = place;
        assert_int_equal(loop_timer_new_patient(place->loop, timer_fired, &turns[i], &timers[i]),
                         OK);
    }
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < MANY; i++)
            loop_timer_set(timers[i], 0);
        loop_run_once(place->loop);
        assert_int_equal(place->fd_count, round);
        for (int i = 0; i < MANY; i++) {
            if (turns[i].count != round)
                fail_msg("round %d: timer %d had %d turns", round, i, turns[i].count);
        }
    }
    for (int i = 0; i < MANY; i++)
        loop_timer_free(timers[i]);
}

/* What libraries do with the base has its turn, too, behind the urgent ones. */
static void test_events_of_libraries(void **state)
{
    struct place *place = *state;
    struct turns turns = {.place = place};
    struct event *event = event_new(loop_base(place->loop), place->pipe[0], EV_READ | EV_PERSIST,
                                    library_event, &turns);
    assert_non_null(event);
    event_add(event, NULL);
    loop_fd_want(place->fd, LOOP_READ);
    loop_run_once(place->loop);
    assert_int_equal(turns.count, 1);
    assert_int_equal(turns.fd_count_then, 1);
    for (int i = 1; i < ROUNDS; i++)
        loop_run_once(place->loop);
    assert_true(turns.count >= ROUNDS);
    event_free(event);
}

/* ---- timers ---- */

static void test_timer_that_sets_itself(void **state)
{
    static const struct {
        int line;
        enum status (*make)(struct loop *loop, loop_timer_fired *fired, void *context,
                            struct loop_timer **ret);
    } kinds[] = {{__LINE__, loop_timer_new}, {__LINE__, loop_timer_new_patient}};
    struct place *place = *state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct turns turns = {.place = place};
        assert_int_equal(kinds[i].make(place->loop, timer_fired, &turns, &turns.again), OK);
        loop_timer_set(turns.again, 0);
        for (int round = 1; round <= ROUNDS; round++) {
            loop_run_once(place->loop);
            if (turns.count != round)
                fail_msg("line %d, round %d: %d turns", kinds[i].line, round, turns.count);
        }
        loop_timer_free(turns.again);
    }
}

static void test_urgent_ones_first(void **state)
{
    struct place *place = *state;
    struct turns urgent = {.place = place}, patient = {.place = place};
    struct loop_timer *first, *second;
    assert_int_equal(loop_timer_new_patient(place->loop, timer_fired, &patient, &first), OK);
    assert_int_equal(loop_timer_new(place->loop, timer_fired, &urgent, &second), OK);
    for (int round = 1; round <= ROUNDS; round++) {
        loop_timer_set(first, 0);
        loop_timer_set(second, 0);
        loop_fd_want(place->fd, LOOP_READ);
        loop_run_once(place->loop);
        loop_fd_want(place->fd, 0);
        assert_int_equal(urgent.count, round);
        assert_int_equal(patient.count, round);
        assert_int_equal(patient.fd_count_then, round); /* it was before, in each round */
    }
    loop_timer_free(first);
    loop_timer_free(second);
}

static void test_it_waits(void **state)
{
    struct place *place = *state;
    struct turns turns = {.place = place};
    struct loop_timer *timer;
    assert_int_equal(loop_timer_new(place->loop, timer_fired, &turns, &timer), OK);
    loop_timer_set(timer, 30);
    loop_run_once(place->loop);
    assert_int_equal(turns.count, 1);
    loop_timer_free(timer);
}

/* ---- stopping ---- */

static void stop(void *context)
{
    loop_stop(context);
}

/* What was left over when it was stopped does not cut the next round short. */
static void test_stop_in_a_round(void **state)
{
    struct place *place = *state;
    struct turns turns = {.place = place};
    struct loop_timer *stopper, *timer;
    assert_int_equal(loop_timer_new(place->loop, stop, place->loop, &stopper), OK);
    assert_int_equal(loop_timer_new_patient(place->loop, timer_fired, &turns, &timer), OK);
    loop_timer_set(stopper, 0);
    loop_run_once(place->loop);
    loop_timer_set(timer, 30);
    loop_run_once(place->loop);
    assert_int_equal(turns.count, 1);
    loop_timer_free(stopper);
    loop_timer_free(timer);
}

static void never(struct bufferevent *socket, short what, void *context)
{
    (void)socket, (void)what, (void)context;
    fail();
}

/* A socket that is freed with a call of it still to come is gone with the loop: the leak sanitizer
 * tells otherwise. */
static void test_what_waits_at_the_end(void **state)
{
    struct place *place = *state;
    struct bufferevent *socket =
        bufferevent_socket_new(loop_base(place->loop), -1, BEV_OPT_DEFER_CALLBACKS);
    assert_non_null(socket);
    bufferevent_setcb(socket, NULL, NULL, never, NULL);
    bufferevent_trigger_event(socket, BEV_EVENT_EOF, 0);
    bufferevent_free(socket);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_it_returns),          TEST(test_patient_ones_in_the_same_round),
        TEST(test_events_of_libraries), TEST(test_timer_that_sets_itself),
        TEST(test_urgent_ones_first),   TEST(test_it_waits),
        TEST(test_stop_in_a_round),     TEST(test_what_waits_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
