/* The contract with a real etcd, one prefix per test; and what only many nodes and long times
 * show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "etcd_admin.h"
#include "etcd_place.h"
#include "machine.h"
#include "store_world.h"

/* ---- two nodes ---- */

enum { NODES = 2, RACE_JOBS = 300, RACE_TICKS = 5, HANG_MS = 60000 };

struct racer {
    struct store *store;
    struct store_request request;
    struct store_claim claims[RACE_JOBS];
    bool is_done;
    enum status status;
};

static void on_raced(struct store_request *request, enum status st)
{
    struct racer *racer = request->context;
    racer->is_done = true;
    racer->status = st;
}

static void start_race(struct racer *racer, struct world *world, const struct id *jobs,
                       int64_t tick_ms)
{
    for (int i = 0; i < RACE_JOBS; i++) {
        racer->claims[i] = a_claim(world, jobs[i], tick_ms, OVERLAP_ALLOW);
        racer->claims[i].cursor_ms = tick_ms - 1;
    }
    racer->is_done = false;
    racer->request = (struct store_request){.op = STORE_CLAIM,
                                            .count = RACE_JOBS,
                                            .items.claims = racer->claims,
                                            .done = on_raced,
                                            .context = racer};
    store_submit(racer->store, &racer->request);
}

static void wait_for_race(struct racer *racers)
{
    int64_t until_ms = clock_now().boot.ms + HANG_MS;
    while (!racers[0].is_done || !racers[1].is_done) {
        assert_true(clock_now().boot.ms < until_ms);
        etcd_place_turn();
        store_dispatch(racers[0].store);
        store_dispatch(racers[1].store);
    }
}

/* How many runs of a tick the feed of a node has told. */
static size_t count_fed(struct store *store, int64_t tick_ms)
{
    struct store_change change;
    size_t count = 0;
    while (store_next_change(store, &change))
        count += change.kind == STORE_CHANGE_RUN && change.run->tick_ms == tick_ms;
    return count;
}

static void each_tick_is_won_once(void **state)
{
    struct world *world = world_new(&etcd_backend);
    struct racer *racers = calloc(NODES, sizeof(*racers));
    struct id jobs[RACE_JOBS];
    struct store_wake nobody = {NULL, NULL};
    size_t won[NODES] = {0};
    (void)state;
    assert_non_null(racers);
    world_open(world);
    for (int i = 0; i < RACE_JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        jobs[i] = make_job(world, name);
    }
    for (int n = 0; n < NODES; n++)
        assert_int_equal(etcd_place_open(world->place, nobody, &racers[n].store), OK);
    for (int64_t tick_ms = CURSOR_MS + 1; tick_ms <= CURSOR_MS + RACE_TICKS; tick_ms++) {
        size_t fed[NODES] = {0};
        for (int n = 0; n < NODES; n++) /* by turns, who is first */
            start_race(&racers[(n + tick_ms) % NODES], world, jobs, tick_ms);
        wait_for_race(racers);
        for (int i = 0; i < RACE_JOBS; i++) {
            int winners = 0;
            for (int n = 0; n < NODES; n++) {
                assert_int_equal(racers[n].status, OK);
                winners += racers[n].claims[i].result == CLAIM_WON;
                won[n] += racers[n].claims[i].result == CLAIM_WON;
            }
            if (winners != 1)
                fail_msg("job %d, tick %lld: won %d times", i, (long long)tick_ms, winners);
        }
        for (int64_t until_ms = clock_now().boot.ms + HANG_MS;
             (fed[0] < RACE_JOBS || fed[1] < RACE_JOBS) && clock_now().boot.ms < until_ms;
             etcd_place_turn())
            for (int n = 0; n < NODES; n++)
                fed[n] += count_fed(racers[n].store, tick_ms);
        assert_int_equal(fed[0], RACE_JOBS); /* both hear of all, once */
        assert_int_equal(fed[1], RACE_JOBS);
    }
    print_message("won: %zu and %zu\n", won[0], won[1]);
    for (int n = 0; n < NODES; n++)
        store_free(racers[n].store);
    free(racers);
    world_free(world);
}

/* Both add a run to each job; by the overlap rule there is room for one. */
static void overlap_holds_between_nodes(void **state)
{
    struct world *world = world_new(&etcd_backend);
    static struct store_add_run adds[NODES][RACE_JOBS];
    struct racer *racers = calloc(NODES, sizeof(*racers));
    struct store_wake nobody = {NULL, NULL};
    (void)state;
    assert_non_null(racers);
    world_open(world);
    for (int i = 0; i < RACE_JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        struct id job = make_job(world, name);
        for (int n = 0; n < NODES; n++)
            adds[n][i] = an_add(world, job, 5000 + n, OVERLAP_SKIP);
    }
    for (int n = 0; n < NODES; n++)
        assert_int_equal(etcd_place_open(world->place, nobody, &racers[n].store), OK);
    for (int n = 0; n < NODES; n++) {
        racers[n].request = (struct store_request){.op = STORE_ADD_RUN,
                                                   .count = RACE_JOBS,
                                                   .items.adds = adds[n],
                                                   .done = on_raced,
                                                   .context = &racers[n]};
        store_submit(racers[n].store, &racers[n].request);
    }
    wait_for_race(racers);
    for (int i = 0; i < RACE_JOBS; i++) {
        int winner = adds[0][i].added ? 0 : 1;
        if (adds[0][i].added == adds[1][i].added)
            fail_msg("job %d: both %s", i, winner ? "refused" : "added");
        assert_int_equal(id_compare(&adds[1 - winner][i].open_run, &adds[winner][i].run.id), 0);
    }
    for (int n = 0; n < NODES; n++) {
        assert_int_equal(racers[n].status, OK);
        store_free(racers[n].store);
    }
    free(racers);
    world_free(world);
}

/* ---- a long time ---- */

enum { CYCLE_JOBS = 1000, CYCLES = 10 };

struct cycle {
    struct store_claim claims[CYCLE_JOBS];
    struct store_begin begins[CYCLE_JOBS];
    struct store_finish finishes[CYCLE_JOBS];
    struct store_forget forgets[CYCLE_JOBS];
    struct store_forget entries[CYCLE_JOBS];
};

static void fill_cycle(struct world *world, struct cycle *cycle, const struct id *jobs,
                       int64_t tick_ms, struct ledger_entry *passed)
{
    for (int i = 0; i < CYCLE_JOBS; i++) {
        struct store_claim claim = {.job_uid = jobs[i],
                                    .job_revision = 1,
                                    .cursor_ms = tick_ms - 1,
                                    .tick_ms = tick_ms,
                                    .overlap = OVERLAP_SKIP,
                                    .skip_entry_id = world_id(world)};
        claim.run = (struct run){.id = world_id(world), .job_uid = jobs[i], .attempt = 1};
        claim.run.tick_ms = tick_ms;
        claim.run.nonce = world->last_number;
        passed[i] = (struct ledger_entry){.id = world_id(world), .job_uid = jobs[i], .count = 1};
        claim.passed = &passed[i];
        claim.passed_count = i % 10 == 0;
        cycle->claims[i] = claim;
        cycle->begins[i] = (struct store_begin){.run_id = claim.run.id, .nonce = claim.run.nonce};
        cycle->finishes[i] = (struct store_finish){.run = claim.run};
        cycle->finishes[i].run.state = RUN_OK;
        cycle->finishes[i].run.finished_ms = tick_ms;
        cycle->forgets[i] = (struct store_forget){.id = claim.run.id};
        cycle->entries[i] = (struct store_forget){.id = passed[i].id, .is_entry = true};
    }
}

static int64_t timed_do(struct world *world, enum store_op op, void *items)
{
    int64_t since_ms = clock_now().boot.ms;
    assert_int_equal(world_do(world, op, items, CYCLE_JOBS), OK);
    return clock_now().boot.ms - since_ms;
}

struct key_count {
    bool is_done;
    int64_t count;
};

static void on_count(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    *(struct key_count *)context = (struct key_count){true, result->op.count};
}

static int64_t count_keys(const char *place, const char *kind)
{
    struct etcd_client_config config = {.endpoints = etcd_place.cluster.endpoints,
                                        .endpoint_count = 1};
    struct kv_client *client;
    struct key_count count = {false, 0};
    char key[256];
    snprintf(key, sizeof(key), "%s/%s", place, kind);
    assert_int_equal(etcd_client_new(etcd_place.loop, &config, &client, NULL), OK);
    assert_int_equal(
        kv_range(client,
                 &(struct kv_range){.key = kv_text(key), .prefix = true, .count_only = true},
                 &(struct kv_reply){on_count, &count, 10000}, NULL),
        OK);
    while (!count.is_done)
        etcd_place_turn();
    kv_client_free(client);
    return count.count;
}

static void only_jobs_and_cursors_stay(void **state)
{
    struct world *world = world_new(&etcd_backend);
    struct cycle *cycle = calloc(1, sizeof(*cycle));
    struct ledger_entry *passed = calloc(CYCLE_JOBS, sizeof(*passed));
    struct id *jobs = calloc(CYCLE_JOBS, sizeof(*jobs));
    int64_t took_ms[4] = {0};
    (void)state;
    assert_true(cycle && passed && jobs);
    world_open(world);
    for (int i = 0; i < CYCLE_JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        jobs[i] = make_job(world, name);
    }
    world->without_picture = true;
    for (int64_t tick_ms = CURSOR_MS + 1; tick_ms <= CURSOR_MS + CYCLES; tick_ms++) {
        fill_cycle(world, cycle, jobs, tick_ms, passed);
        took_ms[0] += timed_do(world, STORE_CLAIM, cycle->claims);
        took_ms[1] += timed_do(world, STORE_BEGIN, cycle->begins);
        took_ms[2] += timed_do(world, STORE_FINISH, cycle->finishes);
        took_ms[3] += timed_do(world, STORE_FORGET, cycle->forgets);
        timed_do(world, STORE_FORGET, cycle->entries);
        for (int i = 0; i < CYCLE_JOBS; i++) {
            assert_int_equal(cycle->claims[i].result, CLAIM_WON);
            assert_true(cycle->begins[i].begun);
            assert_true(cycle->finishes[i].accepted);
        }
    }
    assert_int_equal(count_keys(world->place, "jobs/"), CYCLE_JOBS);
    assert_int_equal(count_keys(world->place, "cursors/"), CYCLE_JOBS);
    assert_int_equal(count_keys(world->place, "names/"), CYCLE_JOBS);
    assert_int_equal(count_keys(world->place, ""), 3 * CYCLE_JOBS + 1); /* the epoch */
    print_message("%d claims in %lld ms, begins %lld ms, finishes %lld ms, forgets %lld ms\n",
                  CYCLES * CYCLE_JOBS, (long long)took_ms[0], (long long)took_ms[1],
                  (long long)took_ms[2], (long long)took_ms[3]);
    free(jobs);
    free(passed);
    free(cycle);
    world_free(world);
}

/* ---- an etcd that goes away ---- */

static void a_lost_server_is_told_and_found_again(void **state)
{
    struct world *world = world_new(&etcd_backend);
    struct strbuf why;
    (void)state;
    strbuf_init(&why);
    world_open(world);
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_SKIP), repeat = claim;
    etcd_member_kill(&etcd_place.cluster, 0);
    enum status st = world_do(world, STORE_CLAIM, &claim, 1);
    if (st != E_UNREACHABLE && st != E_UNKNOWN)
        fail_msg("answered: %s", status_text(st));
    assert_int_equal(store_health(world->store, &why), E_UNREACHABLE);
    assert_true(why.length > 0);
    etcd_member_restart(&etcd_place.cluster, 0, true);
    strbuf_reset(&why);
    for (int64_t until_ms = clock_now().boot.ms + HANG_MS;
         store_health(world->store, &why) != OK && clock_now().boot.ms < until_ms;
         etcd_place_turn())
        strbuf_reset(&why);
    assert_int_equal(store_health(world->store, &why), OK);
    world_do_one(world, STORE_CLAIM, &repeat);
    assert_int_equal(repeat.result, CLAIM_WON);
    assert_int_equal(see_run(world, repeat.run.id)->run.state, RUN_CLAIMED);
    strbuf_release(&why);
    world_free(world);
}

static void on_compacted(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    *(bool *)context = true;
}

static void compact_all(int64_t revision)
{
    struct etcd_client_config config = {.endpoints = etcd_place.cluster.endpoints,
                                        .endpoint_count = 1};
    struct kv_client *client;
    bool is_done = false;
    assert_int_equal(etcd_client_new(etcd_place.loop, &config, &client, NULL), OK);
    assert_int_equal(etcd_compact(client, revision, true,
                                  &(struct kv_reply){on_compacted, &is_done, 10000}, NULL),
                     OK);
    while (!is_done)
        etcd_place_turn();
    kv_client_free(client);
}

/* What another node does while the first one, whose loop stands still, has no connection; then its
 * traces are compacted away. */
static struct id change_much(const char *place, struct id job, struct id purged, struct id run_id)
{
    struct etcd_place before = etcd_place;
    struct world *other = world_new(&etcd_backend);
    etcd_place_new_loop();
    snprintf(other->place, sizeof(other->place), "%s", place);
    other->last_number = 1000;
    world_open(other);
    struct store_put_job purge = {.uid = purged, .purge = true, .expected_revision = -1};
    world_do_one(other, STORE_PUT_JOB, &purge);
    struct run old = see_run(other, run_id)->run;
    end_run(other, &old, RUN_FAILED, 6000);
    struct run run = claim_run(other, job, 7000);
    struct store_order order = {.run_id = run.id, .reason = REASON_USER, .by = "otto"};
    int64_t fence = begin_run(other, &run).fence;
    world_do_one(other, STORE_ORDER, &order);
    make_job(other, "new");
    compact_all(fence / 128 + 2); /* of the begin's revision, and a bit */
    world_free(other);
    etcd_place_free_loop();
    etcd_place.loop = before.loop;
    etcd_place.tick = before.tick;
    return run.id;
}

/* ---- older versions ---- */

/* The first byte of the run's value, which older versions look at before anything else. */
static int version_of(const struct world *world, const struct id *run_id)
{
    char id[ID_TEXT + 1], command[400];
    int version = 0;
    id_format(run_id, id);
    snprintf(command, sizeof(command),
             "ETCDCTL_API=3 etcdctl --endpoints %s get --print-value-only %s/runs/%s |"
             " head -c 1 | od -An -tu1",
             etcd_place.cluster.endpoints[0], world->place, id);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &version), 1);
    pclose(pipe);
    return version;
}

/* A peal that knows what a request hands over (3), and no bodies (5), would start it without. */
static void a_run_with_a_body_is_left_to_newer_nodes(void **state)
{
    static const struct {
        const char *input;
        int version;
    } cases[] = {
        {"{\"params\":{\"body\":\"{\"}}", 3},
        {"{\"body\":{\"text\":\"x\"},\"params\":{}}", 5},
    };
    struct world *world = world_new(&etcd_backend);
    (void)state;
    world_open(world);
    struct id job = make_job(world, "extract");
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct store_add_run add = an_add(world, job, 7000 + (int64_t)c, OVERLAP_ALLOW);
        add.run.input = add.run.id;
        add.input = cases[c].input;
        world_do_one(world, STORE_ADD_RUN, &add);
        assert_true(add.added);
        assert_int_equal(version_of(world, &add.run.id), cases[c].version);
        struct store_take take = {
            .run_id = add.run.id, .nonce = 4711, .now_ms = 900000, .node = "node-1"};
        world_do_one(world, STORE_TAKE, &take);
        assert_true(take.taken);
        assert_int_equal(version_of(world, &add.run.id), cases[c].version);
        assert_true(begin_run(world, &take.run).begun);
        assert_int_equal(version_of(world, &add.run.id), cases[c].version);
        struct store_finish lost = {.run = take.run,
                                    .again = {.is_wanted = true,
                                              .id = world_id(world),
                                              .attempts = 2,
                                              .job_revision = see_job(world, job)->revision}};
        lost.run.state = RUN_LOST;
        lost.run.finished_ms = 5000;
        world_do_one(world, STORE_FINISH, &lost);
        assert_true(lost.again.made);
        assert_int_equal(version_of(world, &lost.again.id), cases[c].version);
    }
    world_reopen(world);
    world_free(world);
}

static void what_was_compacted_away_is_found(void **state)
{
    struct world *world = world_new(&etcd_backend);
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup"), purged = make_job(world, "purged");
    struct run run = claim_run(world, job, 5000);
    etcd_member_kill(&etcd_place.cluster, 0);
    etcd_member_restart(&etcd_place.cluster, 0, true);
    struct id new_run = change_much(world->place, job, purged, run.id);
    for (int64_t until_ms = clock_now().boot.ms + HANG_MS;
         world->picture.job_count != 2 || !look_for_run(world, new_run); etcd_place_turn()) {
        assert_true(clock_now().boot.ms < until_ms);
        world_read_feed(world);
    }
    assert_int_equal(see_run(world, run.id)->run.state, RUN_FAILED);
    assert_int_equal(see_job(world, job)->cursor_ms, 7000);
    assert_int_equal(see_run(world, new_run)->kill_reason, REASON_USER);
    world->last_number = 2000;
    claim_run(world, job, 8000); /* and it goes on */
    world_reopen(world);         /* with the same picture as who starts now */
    world_free(world);
}

static void an_etcd_that_is_not_there_is_told(void **state)
{
    char endpoint[64];
    const char *endpoints[] = {endpoint};
    const struct etcd_client_config client = {.endpoints = endpoints, .endpoint_count = 1};
    struct store_kv_config config = {0};
    struct store *store;
    struct strbuf why;
    (void)state;
    snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", free_port());
    strbuf_init(&why);
    struct store_wake nobody = {NULL, NULL};
    assert_int_equal(etcd_client_new(etcd_place.loop, &client, &config.client, NULL), OK);
    assert_int_equal(store_kv_open(etcd_place.loop, &config, nobody, &store, &why), E_UNREACHABLE);
    assert_non_null(strstr(why.text, endpoint + strlen("http://")));
    strbuf_release(&why);
}

int main(void)
{
    const struct CMUnitTest more[] = {
        cmocka_unit_test(each_tick_is_won_once),
        cmocka_unit_test(overlap_holds_between_nodes),
        cmocka_unit_test(only_jobs_and_cursors_stay),
        cmocka_unit_test(a_run_with_a_body_is_left_to_newer_nodes),
        cmocka_unit_test(what_was_compacted_away_is_found),
    };
    const struct CMUnitTest away[] = {
        cmocka_unit_test(an_etcd_that_is_not_there_is_told),
        cmocka_unit_test(a_lost_server_is_told_and_found_again),
    };
    etcd_place_start(1);
    etcd_place.client.deadline_ms = ETCD_PATIENT_MS;
    int failed = store_contract_run(&etcd_backend);
    failed += cmocka_run_group_tests_name("etcd alone", more, NULL, NULL);
    etcd_place.client.deadline_ms = 0; /* as in an agent */
    failed += cmocka_run_group_tests_name("etcd goes away", away, NULL, NULL);
    etcd_place_stop();
    return failed;
}
