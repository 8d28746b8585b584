/* What the store in etcd says and does when etcd is full, silent, or not the one that it was. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "etcd_place.h"
#include "kv/store_kv_internal.h"
#include "kv/store_kv_value.h"
#include "machine.h"
#include "store_world.h"

static enum status health_of(struct store *store)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_health(store, &why);
    strbuf_release(&why);
    return st;
}

static void assert_words(struct store *store, const char *words)
{
    struct strbuf why;
    strbuf_init(&why);
    (void)store_health(store, &why);
    if (!strstr(why.text, words))
        fail_msg("\"%s\" is not in: %s", words, why.text);
    strbuf_release(&why);
}

#define CTL "ETCDCTL_API=3 etcdctl --endpoints %s "

static int start_one(void **state)
{
    (void)state;
    etcd_place.config = (struct store_kv_config){.node = "node-1"};
    etcd_place_start(1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    etcd_place_stop();
    memset(&etcd_place.cluster, 0, sizeof(etcd_place.cluster));
    return 0;
}

/* ---- full ---- */

static int start_small(void **state)
{
    etcd_place.cluster.arguments[0] = "--quota-backend-bytes=4000000";
    return start_one(state);
}

static void a_full_database_is_told_until_there_is_room(void **state)
{
    struct world *world = world_new(&etcd_backend);
    const char *endpoint = etcd_place.cluster.endpoints[0];
    enum status st = OK;
    static char json[100001];
    (void)state;
    memset(json, 'x', sizeof(json) - 1);
    world_open(world);
    struct id job = make_job(world, "backup");
    for (int i = 1; i < 200 && st == OK; i++) {
        struct store_put_job put = a_put(job, "backup", i);
        put.json = json;
        st = world_do(world, STORE_PUT_JOB, &put, 1);
    }
    assert_int_equal(st, E_BUSY);
    for (int64_t until_ms = clock_now().boot.ms + 3500; clock_now().boot.ms < until_ms;
         etcd_place_turn()) /* it does not flap */
        assert_int_equal(health_of(world->store), E_BUSY);
    assert_words(world->store, "disarm");
    world_read_feed(world); /* of an older definition the claim would be stale, and write nothing */
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_SKIP);
    assert_int_equal(world_do(world, STORE_CLAIM, &claim, 1), E_BUSY);

    run_command(CTL "compact $(" CTL "get --write-out=json x |"
                    " sed 's/.*revision\":\\([0-9]*\\).*/\\1/') >/dev/null && " CTL
                    "defrag >/dev/null && " CTL "alarm disarm >/dev/null",
                endpoint, endpoint, endpoint, endpoint);
    etcd_place_wait(health_of(world->store) == OK);
    claim = a_claim(world, job, 5000, OVERLAP_SKIP);
    st = world_do(world, STORE_CLAIM, &claim, 1);
    assert_int_equal(st, OK);
    world_free(world);
}

/* ---- silent ---- */

static int start_three(void **state)
{
    (void)state;
    etcd_place.config = (struct store_kv_config){.node = "node-1", .silence_ms = 1000};
    etcd_place_start(3);
    return 0;
}

static void a_member_that_stands_still_is_left(void **state)
{
    struct world *world = world_new(&etcd_backend), *other = world_new(&etcd_backend);
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    etcd_member_signal(&etcd_place.cluster, 0, SIGSTOP);
    etcd_place_wait(health_of(world->store) != OK); /* seen without anybody asking for anything */
    etcd_place_wait(health_of(world->store) == OK); /* through another member */
    etcd_place.cluster.endpoints[0] = etcd_place.cluster.members[1].endpoint;
    snprintf(other->place, sizeof(other->place), "%s", world->place);
    other->last_number = 1000;
    world_open(other);
    struct run run = claim_run(other, job, 5000);
    etcd_place_wait((world_read_feed(world), look_for_run(world, run.id)));
    etcd_member_signal(&etcd_place.cluster, 0, SIGCONT);
    world->last_number = 2000;
    claim_run(world, job, 6000);
    world_free(other);
    world_free(world);
}

/* ---- read again ---- */

static void what_is_read_again_is_what_was_told(void **state)
{
    etcd_place.config = (struct store_kv_config){.node = "node-1", .check_ms = 20};
    struct world *world = world_new(&etcd_backend);
    struct id jobs[20];
    (void)state;
    world_open(world);
    const struct store_kv *store = (const struct store_kv *)world->store;
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        jobs[i] = make_job(world, name);
    }
    for (int i = 0; store->counters.checks < 20 && i < 3000; i++) {
        struct run run = claim_run(world, jobs[i % 20], 5000 + i);
        begin_run(world, &run);
        end_run(world, &run, RUN_OK, 6000 + i);
        forget_run(world, run.id);
    }
    etcd_place_wait(store->counters.checks >= 20); /* and when nothing happens */
    assert_int_equal(store->counters.differences, 0);
    assert_int_equal(store->counters.watch_restarts, 0);
    world_free(world);
}

/* ---- restored ---- */

static void on_put(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    *(bool *)context = true;
}

struct advanced {
    bool is_done;
    enum status status;
};

static void on_advanced(void *context, enum status st)
{
    *(struct advanced *)context = (struct advanced){true, st};
}

static void advance(struct world *world, int64_t now_ms)
{
    struct advanced advanced = {0};
    enum status st = OK;
    etcd_place_wait((st = store_kv_advance(world->store, now_ms, "otto", on_advanced, &advanced)) !=
                    E_UNREACHABLE); /* the halt is told */
    assert_int_equal(st, OK);
    etcd_place_wait((store_dispatch(world->store), advanced.is_done));
    assert_int_equal(advanced.status, OK);
    etcd_place_wait(health_of(world->store) == OK);
    world_read_feed(world);
    etcd_place_wait((st = store_kv_advance(world->store, now_ms, "otto", on_advanced, &advanced)) !=
                    E_UNREACHABLE); /* all is read again */
    assert_int_equal(st, E_NOT_FOUND);
}

/* Puts the member's data back to what they were in `copy`. */
static void restore(const char *copy)
{
    etcd_member_kill(&etcd_place.cluster, 0);
    run_command("rm -rf %s/m0 && cp -r %s %s/m0", etcd_place.cluster.folder, copy,
                etcd_place.cluster.folder);
    etcd_member_restart(&etcd_place.cluster, 0, true);
}

/* What is sent before the store has noticed that etcd is gone would have an unknown outcome. */
static void back_up(struct world *world, char copy[128])
{
    snprintf(copy, 128, "%s/copy", etcd_place.cluster.folder);
    etcd_member_kill(&etcd_place.cluster, 0);
    run_command("cp -r %s/m0 %s", etcd_place.cluster.folder, copy);
    etcd_place_wait(health_of(world->store) != OK);
    etcd_member_restart(&etcd_place.cluster, 0, true);
    etcd_place_wait(health_of(world->store) == OK);
}

static void check_refused(struct world *world, struct id job)
{
    struct store_claim claim = a_claim(world, job, 9000, OVERLAP_SKIP);
    struct store_put_job put = a_put(job, "backup", -1);
    assert_int_equal(health_of(world->store), E_ROLLED_BACK);
    assert_words(world->store, "advance-cursors");
    assert_int_equal(world_do(world, STORE_CLAIM, &claim, 1), E_ROLLED_BACK);
    assert_int_equal(world_do(world, STORE_PUT_JOB, &put, 1), E_ROLLED_BACK);
    assert_int_equal(world_do(world, STORE_CONFIRM, NULL, 1), E_ROLLED_BACK);
}

/* `restarted`: the agent is not running while etcd is restored. */
static void restored(bool restarted)
{
    char copy[128], file[128];
    snprintf(file, sizeof(file), "%s/revision", etcd_place.cluster.folder);
    etcd_place.config = (struct store_kv_config){.node = "node-1", .revision_file = file};
    struct world *world = world_new(&etcd_backend), *other = world_new(&etcd_backend);
    world_open(world);
    struct id job = make_job(world, "backup");
    struct run lost = claim_run(world, job, 3000); /* its node may amend it after the backup */
    begin_run(world, &lost);
    lost.reason = REASON_NODE_DIED;
    end_run(world, &lost, RUN_LOST, 3001);
    struct run open = claim_run(world, job, 4000); /* is open in the backup as well */
    begin_run(world, &open);
    back_up(world, copy);
    struct run later = claim_run(world, job, 5000);
    int64_t fence = begin_run(world, &later).fence;
    end_run(world, &later, RUN_OK, 5001);

    snprintf(other->place, sizeof(other->place), "%s", world->place);
    other->last_number = 1000;
    if (restarted)
        world->store = store_free(world->store);
    restore(copy);
    world->without_picture = true;
    if (restarted)
        assert_int_equal(etcd_place_open(world->place, world_wake(world), &world->store), OK);
    etcd_place_wait(health_of(world->store) == E_ROLLED_BACK);
    check_refused(world, job);
    assert_int_equal(world->restored, restarted ? 0 : 1); /* else nothing was told before */
    etcd_place.config.revision_file = NULL;               /* a node without a memory */
    world_open(other);
    etcd_place_wait(health_of(other->store) == E_ROLLED_BACK);
    check_refused(other, job);

    advance(other, 8000);
    etcd_place_wait(health_of(world->store) == OK);
    int64_t cursor_ms = see_job(other, job)->cursor_ms; /* later by what was waited for */
    assert_in_range(cursor_ms, 8000, 8000 + 6000);
    assert_int_equal(see_run(other, open.id)->run.state, RUN_LOST);
    assert_int_equal(see_run(other, lost.id)->run.reason, REASON_RESTORED);
    assert_int_equal(see_run(other, lost.id)->run.finished_ms, 3001);
    assert_int_equal(other->picture.entry_count, 1);
    assert_int_equal(other->picture.entries[0].from_ms, 4000);
    assert_int_equal(other->picture.entries[0].to_ms, cursor_ms);
    struct run next = claim_run(other, job, 20000);
    assert_true(begin_run(other, &next).fence > fence);
    world_reopen(other);
    etcd_place.config.revision_file = file;
    world->store = store_free(world->store); /* its memory goes on, too */
    assert_int_equal(etcd_place_open(world->place, world_wake(world), &world->store), OK);
    assert_int_equal(health_of(world->store), OK);
    world_free(other);
    world_free(world);
    etcd_place.config.revision_file = NULL;
}

static void a_restore_is_seen_by_who_runs(void **state)
{
    (void)state;
    restored(false);
}

static void a_restore_is_seen_after_a_restart(void **state)
{
    (void)state;
    restored(true);
}

/* ---- restored, and the revision does not show it ---- */

static void restart_member(struct world *world)
{
    etcd_member_kill(&etcd_place.cluster, 0);
    etcd_place_wait(health_of(world->store) != OK);
    etcd_member_restart(&etcd_place.cluster, 0, true);
    etcd_place_wait(health_of(world->store) == OK);
}

static void save_snapshot(void)
{
    run_command(CTL "snapshot save %s/snapshot >/dev/null 2>&1", etcd_place.cluster.endpoints[0],
                etcd_place.cluster.folder);
}

/* As `etcdctl snapshot restore` does it: the member begins with a log of its own. */
static void restore_snapshot(const char *token)
{
    const char *folder = etcd_place.cluster.folder;
    int port = etcd_place.cluster.members[0].peer_port;
    etcd_member_kill(&etcd_place.cluster, 0);
    run_command("rm -rf %s/m0 && ETCDCTL_API=3 etcdctl snapshot restore %s/snapshot"
                " --data-dir %s/m0 --name m0 --initial-cluster m0=http://127.0.0.1:%d"
                " --initial-advertise-peer-urls http://127.0.0.1:%d"
                " --initial-cluster-token %s >/dev/null 2>&1",
                folder, folder, folder, port, port, token);
    etcd_member_restart(&etcd_place.cluster, 0, true);
}

/* A node is away from before the backup until after the restore, and comes back before all others;
 * or one comes first that was never there, and has no file. */
static void come_back_first(int elections, const char *token, bool has_file, enum status expected,
                            const char *words)
{
    char file[128];
    snprintf(file, sizeof(file), "%s/revision", etcd_place.cluster.folder);
    etcd_place.config = (struct store_kv_config){.node = "node-1", .revision_file = file};
    struct world *world = world_new(&etcd_backend), *other = world_new(&etcd_backend);
    world_open(world);
    for (int i = 0; i < elections; i++)
        restart_member(world);
    struct id job = make_job(world, "backup");
    claim_run(world, job, 4000);
    world->store = store_free(world->store);
    save_snapshot();

    snprintf(other->place, sizeof(other->place), "%s", world->place);
    other->last_number = 1000;
    etcd_place.config.revision_file = NULL;
    world_open(other);
    claim_run(other, job, 5000);
    other->store = store_free(other->store);
    restore_snapshot(token);

    etcd_place.config.revision_file = has_file ? file : NULL;
    world->without_picture = true;
    assert_int_equal(etcd_place_open(world->place, world_wake(world), &world->store), OK);
    assert_int_equal(health_of(world->store), expected);
    if (expected == E_ROLLED_BACK) {
        assert_words(world->store, words);
        check_refused(world, job);
        advance(world, 8000);
        world->store = store_free(world->store);
        assert_int_equal(etcd_place_open(world->place, world_wake(world), &world->store), OK);
        assert_int_equal(health_of(world->store), OK); /* what it is now is remembered */
    }
    world_free(other);
    world_free(world);
    etcd_place.config.revision_file = NULL;
}

static void a_restore_is_seen_by_the_term(void **state)
{
    (void)state;
    come_back_first(3, "etcd-cluster", true, E_ROLLED_BACK, "term went back");
}

static void a_restore_is_seen_by_the_cluster_id(void **state)
{
    (void)state;
    come_back_first(0, "another", true, E_ROLLED_BACK, "its data are of cluster");
}

static void a_restore_is_seen_by_who_was_never_there(void **state)
{
    (void)state;
    come_back_first(0, "another", false, E_ROLLED_BACK, "its data are of cluster");
}

/* An epoch as an older peal has written it: the name and the generation. */
static void write_older_epoch(const struct world *world)
{
    struct kv_client *client = etcd_place_client();
    char key[160], value[1 + sizeof(struct id) + 1];
    bool is_done = false;
    struct kv_reply reply = {on_put, &is_done, 0};
    snprintf(key, sizeof(key), "%s/epoch", world->place);
    memset(value, 7, sizeof(value));
    value[0] = 1;                 /* the version of all values */
    value[sizeof(value) - 1] = 4; /* generation 2 */
    struct kv_put put = {.key = kv_text(key), .value = {value, sizeof(value)}};
    assert_int_equal(kv_put(client, &put, &reply, NULL), OK);
    etcd_place_wait(is_done);
    kv_client_free(client);
}

static void an_older_epoch_learns_its_cluster(void **state)
{
    (void)state;
    etcd_place.config = (struct store_kv_config){.node = "node-1"};
    struct world *world = world_new(&etcd_backend);
    write_older_epoch(world);
    world_open(world);
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 4000);
    int64_t fence = begin_run(world, &run).fence;
    assert_true(fence > INT64_C(2) << 39); /* of its generation, with which the epoch goes on */
    world_reopen(world);
    assert_int_equal(see_run(world, run.id)->run.fence, fence);
    world->store = store_free(world->store);
    save_snapshot();
    restore_snapshot("another");
    world->without_picture = true;
    assert_int_equal(etcd_place_open(world->place, world_wake(world), &world->store), OK);
    assert_int_equal(health_of(world->store), E_ROLLED_BACK);
    world_free(world);
}

/* ---- the epoch, and the key of the node ---- */

static void on_epoch(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    assert_int_equal(result->op.kv_count, 1);
    assert_int_equal(value_read_epoch(result->op.kvs, context), OK);
}

/* As a lift would, through a node that knows nothing of the one before. */
static void lift_behind_its_back(const struct world *world, uint64_t stamp)
{
    struct kv_client *client = etcd_place_client();
    struct epoch epoch = {.mod_revision = 0};
    char key[160];
    bool is_done = false;
    struct kv_reply got = {on_epoch, &epoch, 0}, put_done = {on_put, &is_done, 0};
    struct strbuf value;
    strbuf_init(&value);
    snprintf(key, sizeof(key), "%s/epoch", world->place);
    struct kv_range range = {.key = kv_text(key)};
    assert_int_equal(kv_range(client, &range, &got, NULL), OK);
    etcd_place_wait(epoch.mod_revision);
    epoch.generation = 7;
    epoch.stamp = stamp;
    epoch.since = 0;
    value_write_epoch(&value, &epoch);
    struct kv_put put = {.key = kv_text(key), .value = {value.text, value.length}};
    assert_int_equal(kv_put(client, &put, &put_done, NULL), OK);
    etcd_place_wait(is_done);
    strbuf_release(&value);
    kv_client_free(client);
}

static void two_lifts_of_one_generation_halt(void **state)
{
    (void)state;
    struct world *world = world_new(&etcd_backend);
    world_open(world);
    struct id job = make_job(world, "backup");
    lift_behind_its_back(world, 11);
    struct run run = claim_run(world, job, 4000);
    assert_true(begin_run(world, &run).fence > INT64_C(7) << 39);
    lift_behind_its_back(world, 13);
    etcd_place_wait(health_of(world->store) == E_ROLLED_BACK);
    assert_words(world->store, "without what this node has seen since");
    check_refused(world, job);
    advance(world, 8000);
    world_free(world);
}

/* The store under test stands still, with its loop, until it is waken. */
struct asleep {
    struct loop *loop;
    struct loop_timer *tick;
};

static struct asleep fall_asleep(void)
{
    struct asleep asleep = {etcd_place.loop, etcd_place.tick};
    etcd_place_new_loop();
    return asleep;
}

static void wake_up(struct asleep asleep)
{
    etcd_place_free_loop();
    etcd_place.loop = asleep.loop;
    etcd_place.tick = asleep.tick;
}

/* Writes of others. */
static void write_on(int count)
{
    struct kv_client *client = etcd_place_client();
    for (int i = 0; i < count; i++) {
        bool is_done = false;
        struct kv_reply reply = {on_put, &is_done, 0};
        struct kv_put put = {.key = kv_text("others"), .value = kv_text("x")};
        assert_int_equal(kv_put(client, &put, &reply, NULL), OK);
        etcd_place_wait(is_done);
    }
    kv_client_free(client);
}

/* Neither cluster id, nor term, nor revision shows it. */
static void a_restore_is_seen_by_the_own_key(void **state)
{
    char copy[128];
    (void)state;
    struct world *world = world_new(&etcd_backend);
    struct peer self = a_peer("node-1", 1);
    world_open(world);
    struct id job = make_job(world, "backup");
    announce(world, &self);
    etcd_place_wait((world_read_feed(world), sees_alive(world, "node-1")));
    back_up(world, copy);
    self.running = 7;
    announce(world, &self);
    etcd_place_wait((world_read_feed(world), look_for_peer(world, "node-1")->running == 7));
    claim_run(world, job, 4000);
    world->without_picture = true;
    struct asleep asleep = fall_asleep();
    restore(copy);
    write_on(50);
    wake_up(asleep);
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
    assert_int_not_equal(world_do(world, STORE_CLAIM, &claim, 1), OK);
    self.running = 8;
    announce(world, &self);
    etcd_place_wait(health_of(world->store) == E_ROLLED_BACK);
    assert_words(world->store, "the key of this node");
    check_refused(world, job);
    assert_int_equal(world->restored, 1); /* the job, which has an older cursor again */
    advance(world, 8000);
    world_free(world);
}

/* While a node sleeps, etcd is restored under the same cluster id, gone on with, and comes past the
 * revision that the node has seen. Its watch goes on from there: it tells of the lift, or not even
 * of that, and of nothing that the backup does not have. */
static void sleeps_through_a_restore(bool is_lift_told)
{
    char copy[128];
    struct world *world = world_new(&etcd_backend);
    world_open(world);
    struct id job = make_job(world, "backup");
    back_up(world, copy);
    struct run later = claim_run(world, job, 4000);
    struct asleep asleep = fall_asleep();
    restore(copy);
    write_on(is_lift_told ? 50 : 0);
    lift_behind_its_back(world, 11);
    write_on(is_lift_told ? 0 : 50);
    wake_up(asleep);
    world->without_picture = true;
    etcd_place_wait(health_of(world->store) != OK);
    etcd_place_wait(health_of(world->store) == OK);
    struct store_claim claim = a_claim(world, job, 9000, OVERLAP_SKIP);
    assert_int_equal(world_do(world, STORE_CLAIM, &claim, 1), OK);
    assert_int_equal(claim.result, CLAIM_STALE);
    struct store_begin begin = {.run_id = later.id, .nonce = later.nonce};
    assert_int_equal(world_do(world, STORE_BEGIN, &begin, 1), OK);
    assert_int_equal(begin.refused, RUN_STATES); /* there is no such run */
    world_free(world);
}

static void a_restore_is_slept_through(void **state)
{
    (void)state;
    sleeps_through_a_restore(true);
}

static void a_restore_and_its_lift_are_slept_through(void **state)
{
    (void)state;
    sleeps_through_a_restore(false);
}

/* What remains open: RELIABILITY.md says so. */
static void a_restore_without_any_sign_is_not_seen(void **state)
{
    (void)state;
    come_back_first(0, "etcd-cluster", true, OK, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_database_is_told_until_there_is_room, start_small,
                                        stop),
        cmocka_unit_test_setup_teardown(a_member_that_stands_still_is_left, start_three, stop),
        cmocka_unit_test_setup_teardown(what_is_read_again_is_what_was_told, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_seen_by_who_runs, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_seen_after_a_restart, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_seen_by_the_term, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_seen_by_the_cluster_id, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_seen_by_who_was_never_there, start_one, stop),
        cmocka_unit_test_setup_teardown(an_older_epoch_learns_its_cluster, start_one, stop),
        cmocka_unit_test_setup_teardown(two_lifts_of_one_generation_halt, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_seen_by_the_own_key, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_is_slept_through, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_and_its_lift_are_slept_through, start_one, stop),
        cmocka_unit_test_setup_teardown(a_restore_without_any_sign_is_not_seen, start_one, stop),
    };
    return cmocka_run_group_tests_name("etcd in trouble", tests, NULL, NULL);
}
