/* peal_elect, peal_observe, peal_who_leads. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "places.h"

struct candidate {
    peal_node *peal;
    peal_held *held;
    atomic_int won, lost;
    atomic_llong fence;
    bool is_leading, is_out_of_turn; /* by the callbacks alone */
};

static void on_won(void *context, int64_t fence)
{
    struct candidate *candidate = context;
    candidate->is_out_of_turn |= candidate->is_leading || fence <= atomic_load(&candidate->fence);
    candidate->is_leading = true;
    atomic_store(&candidate->fence, fence);
    atomic_fetch_add(&candidate->won, 1);
}

static void on_lost(void *context, const char *why)
{
    struct candidate *candidate = context;
    candidate->is_out_of_turn |= !candidate->is_leading || !*why;
    candidate->is_leading = false;
    atomic_fetch_add(&candidate->lost, 1);
}

static void stand(struct candidate *candidate, peal_node *peal, const char *id)
{
    *candidate = (struct candidate){.peal = peal};
    if (peal_elect(peal, &candidate->held, "mailer", .id = id, .won = on_won, .lost = on_lost,
                   .context = candidate, .ttl_ms = TTL_MS, .margin_ms = MARGIN_MS) != PEAL_OK)
        fail_msg("%s", peal_why());
}

struct seen {
    pthread_mutex_t lock;
    char ids[400]; /* "- one two" */
    int64_t fence;
};

static void on_changed(void *context, const peal_leader *leader)
{
    struct seen *seen = context;
    pthread_mutex_lock(&seen->lock);
    size_t length = strlen(seen->ids);
    snprintf(seen->ids + length, sizeof(seen->ids) - length, "%s%s", length ? " " : "",
             leader ? leader->id : "-");
    seen->fence = leader ? leader->fence : 0;
    pthread_mutex_unlock(&seen->lock);
}

static bool ends_in(struct seen *seen, const char *id)
{
    pthread_mutex_lock(&seen->lock);
    const char *last = strrchr(seen->ids, ' ');
    bool is_last = strcmp(last ? last + 1 : seen->ids, id) == 0;
    pthread_mutex_unlock(&seen->lock);
    return is_last;
}

static void one_leads_the_others_follow_and_all_see_it(void **state)
{
    peal_node *a = place_open(SILENCE_MS), *b = place_open(SILENCE_MS);
    struct candidate one, two;
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    peal_observer *observer = NULL;
    char id[PEAL_ID_SIZE] = "";
    (void)state;
    assert_int_equal(peal_who_leads(a, "mailer", id), PEAL_E_NOT_FOUND);
    assert_string_equal(peal_why(), "nobody leads mailer");
    assert_int_equal(peal_observe(b, "mailer", on_changed, &seen, &observer), PEAL_OK);
    wait_until(ends_in(&seen, "-"));
    stand(&one, a, "one");
    wait_until(atomic_load(&one.won) == 1);
    stand(&two, b, "two");
    wait_until(ends_in(&seen, "one"));
    assert_int_equal(peal_who_leads(b, "mailer", id), PEAL_OK);
    assert_string_equal(id, "one");
    assert_true(peal_is_held(one.held));
    assert_false(peal_is_held(two.held));
    assert_int_equal(peal_fence(two.held), 0);
    assert_int_equal(peal_release(one.held), PEAL_OK); /* resigns: no `lost` */
    wait_until(atomic_load(&two.won) == 1);
    assert_int_equal(atomic_load(&two.fence), 2);
    wait_until(ends_in(&seen, "two"));
    assert_int_equal(seen.fence, 2);
    assert_int_equal(peal_release(two.held), PEAL_OK);
    wait_until(ends_in(&seen, "-"));
    assert_int_equal(peal_observe_end(observer), PEAL_OK);
    assert_int_equal(atomic_load(&one.lost) + atomic_load(&two.lost), 0);
    assert_false(one.is_out_of_turn || two.is_out_of_turn);
    peal_close(a);
    peal_close(b);
}

static void a_campaign_may_wait_and_is_bound(void **state)
{
    peal_node *a = place_open(SILENCE_MS), *b = place_open(SILENCE_MS);
    peal_held *one = NULL, *two = NULL;
    (void)state;
    char id[PEAL_ID_SIZE];
    assert_int_equal(peal_elect(a, &one, "bound", .id = "one"), PEAL_OK);
    assert_int_equal(peal_who_leads(b, "bound", id), PEAL_OK); /* the wait is not for the store */
    assert_int_equal(peal_elect(b, &two, "bound", 20), PEAL_E_BUSY);
    assert_non_null(strstr(peal_why(), "bound is led by one"));
    assert_int_equal(peal_release(one), PEAL_OK);
    assert_int_equal(peal_elect(b, &two, "bound", -1), PEAL_OK);
    assert_int_equal(peal_release(two), PEAL_OK);
    peal_close(a);
    peal_close(b);
}

/* A lock and an election of one name have nothing to do with each other. */
static void an_election_is_no_lock(void **state)
{
    peal_node *peal = place_open(SILENCE_MS);
    peal_held *lock = NULL, *lead = NULL;
    (void)state;
    assert_int_equal(peal_lock(peal, &lock, "same"), PEAL_OK);
    assert_int_equal(peal_elect(peal, &lead, "same"), PEAL_OK);
    assert_int_equal(peal_release(lock), PEAL_OK);
    assert_int_equal(peal_release(lead), PEAL_OK);
    peal_close(peal);
}

/* The lead is lost while the store is silent, and won again afterwards, without a word of the
 * program. */
static void a_candidate_stands_again(void **state)
{
    peal_node *peal = place_open(1000);
    struct candidate one;
    (void)state;
    if (!place.has_server) {
        peal_close(peal);
        skip();
    }
    stand(&one, peal, "one");
    wait_until(atomic_load(&one.won) == 1);
    place_pause_server();
    wait_until(atomic_load(&one.lost) == 1);
    assert_false(peal_is_held(one.held));
    place_resume_server();
    wait_until(atomic_load(&one.won) == 2);
    assert_true(peal_is_held(one.held));
    assert_int_equal(peal_release(one.held), PEAL_OK);
    assert_false(one.is_out_of_turn);
    peal_close(peal);
}

/* Some leave by themselves, some with their node; threads look on. */
static void *look_on(void *context)
{
    struct candidate *candidate = context;
    bool was_held = false;
    for (int i = 0; i < 2000; i++)
        was_held |= peal_is_held(candidate->held);
    return was_held ? context : NULL;
}

static int winners(const struct candidate *all, int count)
{
    int won = 0;
    for (int i = 0; i < count; i++)
        won += atomic_load(&all[i].won);
    return won;
}

static void candidates_come_and_go(void **state)
{
    enum { ROUNDS = 10, CANDIDATES = 4 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct candidate all[CANDIDATES];
        pthread_t threads[CANDIDATES];
        peal_node *a = place_open(SILENCE_MS), *b = place_open(SILENCE_MS);
        for (int i = 0; i < CANDIDATES; i++) {
            char id[16];
            snprintf(id, sizeof(id), "c-%d", i);
            stand(&all[i], i % 2 ? a : b, id);
        }
        for (int i = 0; i < CANDIDATES; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, look_on, &all[i]), 0);
        for (int i = 0; i < CANDIDATES; i++)
            pthread_join(threads[i], NULL);
        if (round % 2)
            wait_until(winners(all, CANDIDATES) == 1);
        for (int i = 0; i < CANDIDATES; i++) {
            if (i == 2)
                peal_close(a);
            assert_true(peal_release(all[i].held) == PEAL_OK || i >= 2);
            assert_false(all[i].is_out_of_turn);
        }
        peal_close(b);
    }
}

static void end_when_changed(void *context, const peal_leader *leader)
{
    peal_observer *_Atomic *observer = context;
    (void)leader;
    if (peal_observe_end(atomic_load(observer)) == PEAL_OK)
        atomic_store(observer, NULL);
}

static void an_observer_may_end_itself(void **state)
{
    peal_node *peal = place_open(SILENCE_MS);
    peal_observer *_Atomic observer = NULL;
    (void)state;
    assert_int_equal(peal_observe(peal, "nobody", end_when_changed, (void *)&observer,
                                  (peal_observer **)&observer),
                     PEAL_OK);
    wait_until(!atomic_load(&observer));
    peal_close(peal);
}

int main(void)
{
#define here(test) cmocka_unit_test_setup_teardown(test, place_setup, place_teardown)
    const struct CMUnitTest tests[] = {
        here(one_leads_the_others_follow_and_all_see_it),
        here(a_campaign_may_wait_and_is_bound),
        here(an_election_is_no_lock),
        here(a_candidate_stands_again),
        here(candidates_come_and_go),
        here(an_observer_may_end_itself),
    };
    return places_run("elections", tests, sizeof(tests) / sizeof(tests[0]));
}
