#include "coord_contract.h"

#include "clock.h"

struct coord_world coord_world;

int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

void turn(void)
{
    loop_timer_set(coord_world.tick, 10);
    loop_run_once(coord_world.loop);
}

int coord_world_setup(void **state)
{
    struct coord_world *world = &coord_world;
    (void)state;
    world->backend->make_place();
    assert_int_equal(loop_new(&world->loop), OK);
    assert_int_equal(loop_timer_new(world->loop, on_tick, NULL, &world->tick), OK);
    world->coord = world->backend->open(world->loop);
    world->other = world->backend->open(world->loop);
    return 0;
}

int coord_world_teardown(void **state)
{
    struct coord_world *world = &coord_world;
    (void)state;
    world->coord = coord_free(world->coord);
    world->other = coord_free(world->other);
    loop_timer_free(world->tick);
    world->loop = loop_free(world->loop);
    return 0;
}

/* ---- parties ---- */

static void on_notice(void *context, const struct coord_notice *notice)
{
    struct party *party = context;
    party->waiting += notice->event == COORD_WAITING;
    party->held += notice->event == COORD_HELD;
    party->lost += notice->event == COORD_LOST;
    party->failed += notice->event == COORD_FAILED;
    party->released += notice->event == COORD_RELEASED;
    party->status = notice->status;
    party->holder = *notice->holder;
    if (notice->event == COORD_HELD)
        party->fence = notice->holder->fence;
    snprintf(party->message, sizeof(party->message), "%s", notice->message);
}

void party_claim(struct party *party, struct coord *coord, const struct coord_want *want)
{
    *party = (struct party){.claim = NULL};
    assert_int_equal(coord_claim(coord, want, on_notice, party, &party->claim), OK);
    assert_int_equal(party->held + party->waiting + party->failed, 0); /* not from within */
}

void party_end(struct party *party)
{
    if (party->claim && !party->lost && !party->failed && !party->released) {
        coord_release(party->claim);
        wait_until(party->released == 1);
    }
    party->claim = coord_claim_free(party->claim);
}

struct coord_want a_lock(const char *name, const char *id)
{
    return (struct coord_want){
        .kind = COORD_LOCK, .name = name, .id = id, .ttl_s = TTL_S, .margin_ms = MARGIN_MS};
}

static void claim(struct party *party, const char *name, const char *id)
{
    const struct coord_want want = a_lock(name, id);
    party_claim(party, coord_world.coord, &want);
}

/* ---- holding ---- */

static void fences_grow_and_are_never_given_twice(void **state)
{
    int64_t last = 0;
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct party party;
        claim(&party, "fences", "a");
        wait_until(party.held);
        assert_true(party.fence > last);
        assert_int_equal(party.holder.fence, party.fence);
        assert_true(coord_held_until_boot_ms(party.claim) > now_ms());
        last = party.fence;
        party_end(&party);
        if (i == 2) { /* all are gone, and come again */
            coord_world.coord = coord_free(coord_world.coord);
            coord_world.coord = coord_world.backend->open(coord_world.loop);
        }
    }
    assert_int_equal(last, 5);
}

static void waiters_are_served_in_order_of_arrival(void **state)
{
    enum { COUNT = 5 };
    struct party parties[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        const struct coord_want want = a_lock("order", "x");
        party_claim(&parties[i], i % 2 ? coord_world.other : coord_world.coord, &want);
        wait_until(i == 0 ? parties[i].held : parties[i].waiting);
    }
    for (int i = 0; i < COUNT; i++) {
        wait_until(parties[i].held);
        for (int j = i + 1; j < COUNT; j++)
            assert_int_equal(parties[j].held, 0);
        assert_true(i == 0 || parties[i].fence == parties[i - 1].fence + 1);
        party_end(&parties[i]);
    }
}

static void a_waiter_in_the_middle_leaves(void **state)
{
    struct party holder, middle, last;
    (void)state;
    claim(&holder, "middle", "holder");
    wait_until(holder.held);
    claim(&middle, "middle", "middle");
    wait_until(middle.waiting);
    claim(&last, "middle", "last");
    wait_until(last.waiting);
    assert_string_equal(last.holder.id, "holder");
    party_end(&middle);
    for (int i = 0; i < 50; i++)
        turn();
    assert_int_equal(last.held, 0);
    party_end(&holder);
    wait_until(last.held);
    party_end(&last);
}

static void who_does_not_wait_is_told_who_holds(void **state)
{
    struct party holder, hasty;
    struct coord_want want = a_lock("hasty", "second");
    (void)state;
    claim(&holder, "hasty", "first");
    wait_until(holder.held);
    want.at_once = true;
    party_claim(&hasty, coord_world.other, &want);
    wait_until(hasty.failed);
    assert_int_equal(hasty.status, E_BUSY);
    assert_string_equal(hasty.holder.id, "first");
    party_end(&hasty);
    party_end(&holder);
    party_claim(&hasty, coord_world.other, &want); /* and left nothing in the queue */
    wait_until(hasty.held);
    party_end(&hasty);
}

/* As by the end of its process; in etcd the lease has to end. */
static void who_vanishes_is_passed_over(void **state)
{
    struct party holder, waiter, last;
    (void)state;
    claim(&holder, "vanishes", "holder");
    wait_until(holder.held);
    claim(&waiter, "vanishes", "waiter");
    wait_until(waiter.waiting);
    claim(&last, "vanishes", "last");
    wait_until(last.waiting);
    holder.claim = coord_claim_free(holder.claim);
    waiter.claim = coord_claim_free(waiter.claim);
    wait_until(last.held);
    assert_true(last.fence > holder.fence);
    party_end(&last);
}

static void names_and_kinds_are_apart(void **state)
{
    static const char *const names[] = {"a", "a/b", "a.b", "b", "任务/夜间"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    struct party parties[2 * COUNT];
    (void)state;
    for (int i = 0; i < 2 * COUNT; i++) {
        struct coord_want want = a_lock(names[i / 2], "x");
        want.kind = i % 2 ? COORD_ELECTION : COORD_LOCK;
        party_claim(&parties[i], coord_world.coord, &want);
    }
    for (int i = 0; i < 2 * COUNT; i++) {
        wait_until(parties[i].held);
        assert_int_equal(parties[i].fence, 1);
    }
    for (int i = 0; i < 2 * COUNT; i++)
        party_end(&parties[i]);
}

static void a_release_comes_at_any_time(void **state)
{
    struct party early, next;
    (void)state;
    claim(&early, "early", "early");
    party_end(&early); /* before anything was told */
    assert_int_equal(early.held, 0);
    for (int turns = 0; turns < 4; turns++) { /* on the way */
        claim(&early, "early", "early");
        for (int i = 0; i < turns; i++)
            turn();
        party_end(&early);
    }
    claim(&next, "early", "next");
    wait_until(next.held);
    coord_release(next.claim);
    coord_release(next.claim);
    wait_until(next.released == 1);
    party_end(&next);
}

static void names_are_checked(void **state)
{
    static const struct {
        int line;
        const char *name, *id;
    } cases[] = {
        {__LINE__, "", "x"},        {__LINE__, "a b", "x"}, {__LINE__, "../a", "x"},
        {__LINE__, "a//b", "x"},    {__LINE__, "a/", "x"},  {__LINE__, "a+b", "x"},
        {__LINE__, "a~queue", "x"}, {__LINE__, "a", ""},    {__LINE__, "a", "x y"},
        {__LINE__, "a", "x\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct coord_claim *claim = NULL;
        const struct coord_want want = a_lock(cases[i].name, cases[i].id);
        if (coord_claim(coord_world.coord, &want, on_notice, NULL, &claim) != E_INVALID)
            fail_msg("line %d: taken", cases[i].line);
    }
}

/* ---- looking on ---- */

struct sight {
    int count;
    enum status status;
    size_t states;
    struct coord_state first, last;
};

static void on_seen(void *context, enum status st, const struct coord_state *states, size_t count,
                    const char *message)
{
    struct sight *sight = context;
    (void)message;
    sight->count++;
    sight->status = st;
    sight->states = count;
    if (count > 0) {
        sight->first = states[0];
        sight->last = states[count - 1];
    }
}

static struct sight look(const char *name)
{
    struct sight sight = {.count = 0};
    assert_int_equal(coord_look(coord_world.other, COORD_LOCK, name, on_seen, &sight), OK);
    assert_int_equal(sight.count, 0);
    wait_until(sight.count == 1);
    assert_int_equal(sight.status, OK);
    return sight;
}

static void others_see_who_holds_and_how_many_wait(void **state)
{
    struct party holder, one, two, other;
    (void)state;
    assert_int_equal(look(NULL).states, 0);
    claim(&holder, "seen/b", "holder");
    wait_until(holder.held);
    claim(&one, "seen/b", "one");
    wait_until(one.waiting);
    claim(&two, "seen/b", "two");
    wait_until(two.waiting);
    claim(&other, "seen/a", "other");
    wait_until(other.held);
    struct sight sight = look("seen/b");
    assert_int_equal(sight.states, 1);
    assert_string_equal(sight.first.name, "seen/b");
    assert_string_equal(sight.first.holder.id, "holder");
    assert_int_equal(sight.first.holder.fence, holder.fence);
    assert_true(sight.first.holder.pid > 0);
    assert_int_equal(sight.first.waiting, 2);
    sight = look(NULL);
    assert_int_equal(sight.states, 2);
    assert_string_equal(sight.first.name, "seen/a");
    assert_string_equal(sight.last.name, "seen/b");
    assert_int_equal(look("seen").states, 0);
    party_end(&one);
    party_end(&two);
    party_end(&holder);
    party_end(&other);
    assert_int_equal(look(NULL).states, 0);
}

static void on_changed(void *context)
{
    ++*(int *)context;
}

static void a_watch_tells_of_a_new_holder(void **state)
{
    struct party party;
    struct coord_watch *watch = NULL;
    int changes = 0;
    (void)state;
    assert_int_equal(
        coord_watch(coord_world.other, COORD_LOCK, "watched", on_changed, &changes, &watch), OK);
    wait_until(changes > 0);
    changes = 0;
    claim(&party, "watched", "x");
    wait_until(party.held);
    wait_until(changes > 0 && look("watched").states == 1);
    assert_string_equal(look("watched").first.holder.id, "x");
    changes = 0;
    party_end(&party);
    wait_until(changes > 0 && look("watched").states == 0);
    coord_watch_free(watch);
}

/* ---- choosing ---- */

struct choice {
    int count;
    enum status status;
    bool is_self;
    char id[COORD_ID_SIZE];
};

static void on_chosen(void *context, enum status st, const struct coord_holder *chosen,
                      bool is_self, const char *message)
{
    struct choice *choice = context;
    (void)message;
    choice->count++;
    choice->status = st;
    choice->is_self = is_self;
    snprintf(choice->id, sizeof(choice->id), "%s", chosen->id);
}

static struct choice choose(const char *service, const char *id, int64_t hold_ms)
{
    struct choice choice = {.count = 0};
    assert_int_equal(coord_select(coord_world.coord, service, id, hold_ms, on_chosen, &choice), OK);
    wait_until(choice.count == 1);
    assert_int_equal(choice.status, OK);
    return choice;
}

bool is_chosen(const char *service, const char *id, int64_t hold_ms)
{
    return choose(service, id, hold_ms).is_self;
}

static void one_is_chosen_and_the_others_learn_who(void **state)
{
    enum { COUNT = 8, LONG_MS = 3600000 };
    struct choice choices[COUNT] = {{.count = 0}};
    int chosen = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++) { /* all at once */
        char id[16];
        snprintf(id, sizeof(id), "id-%d", i);
        assert_int_equal(coord_select(i % 2 ? coord_world.coord : coord_world.other, "service", id,
                                      LONG_MS, on_chosen, &choices[i]),
                         OK);
    }
    for (int i = 0; i < COUNT; i++) {
        wait_until(choices[i].count == 1);
        assert_int_equal(choices[i].status, OK);
        assert_string_equal(choices[i].id, choices[0].id);
        chosen += choices[i].is_self;
    }
    assert_int_equal(chosen, 1);
    assert_true(choose("service", choices[0].id, LONG_MS).is_self); /* again */
    assert_true(choose("service/other", "another", LONG_MS).is_self);
}

static void a_hold_ends_by_itself(void **state)
{
    (void)state;
    assert_true(choose("ends", "first", 2000).is_self);
    assert_false(choose("ends", "second", 2000).is_self);
    wait_until(choose("ends", "second", 2000).is_self);
    assert_string_equal(choose("ends", "first", 2000).id, "second");
}

int coord_contract_run(const struct coord_backend *backend)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fences_grow_and_are_never_given_twice, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(waiters_are_served_in_order_of_arrival, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_waiter_in_the_middle_leaves, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(who_does_not_wait_is_told_who_holds, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(who_vanishes_is_passed_over, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(names_and_kinds_are_apart, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_release_comes_at_any_time, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(names_are_checked, coord_world_setup, coord_world_teardown),
        cmocka_unit_test_setup_teardown(others_see_who_holds_and_how_many_wait, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_watch_tells_of_a_new_holder, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(one_is_chosen_and_the_others_learn_who, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_hold_ends_by_itself, coord_world_setup,
                                        coord_world_teardown),
    };
    coord_world.backend = backend;
    return cmocka_run_group_tests_name(backend->name, tests, NULL, NULL);
}
