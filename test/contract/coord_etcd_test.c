/* etcd: the contract, and what becomes of a claim when its lease, its key or the server goes. */
#include <inttypes.h>
#include <signal.h>

#include "coord_contract.h"
#include "coord_kv.h"
#include "coord_kv_internal.h"
#include "etcd.h"
#include "etcd_server.h"

enum { PATIENT_MS = 20000 };

static struct etcd_cluster cluster = {.count = 1};
static char prefix[32];
static int places;
static int64_t deadline_ms = PATIENT_MS; /* of the next open_etcd */

static void make_place(void)
{
    snprintf(prefix, sizeof(prefix), "/coord-%d", ++places);
}

static struct coord *open_etcd(struct loop *loop)
{
    const struct etcd_client_config config = {.endpoints = cluster.endpoints,
                                              .endpoint_count = (size_t)cluster.count,
                                              .deadline_ms = deadline_ms};
    struct kv_client *client = NULL;
    struct coord *coord = NULL;
    assert_int_equal(etcd_client_new(loop, &config, &client, NULL), OK);
    assert_int_equal(coord_kv_open(loop, client, prefix, deadline_ms, &coord), OK);
    return coord;
}

/* ---- fences ---- */

static void fences_go_on_after_a_restore(void **state)
{
    enum { CLUSTER = 0xc1, RESTORED = 0xc2 };
    const int64_t wall_ms = 1577836800000 + 7 * 60000;
    static const struct {
        int line;
        const char *last;
        int64_t want;
    } cases[] = {
        {__LINE__, "", 1},
        {__LINE__, "1 00000000000000c1", 2},
        {__LINE__, "41 00000000000000c1", 42},
        {__LINE__, "1 00000000000000c2", (int64_t)7 << 30}, /* written in another cluster */
        {__LINE__, "7516192768 00000000000000c2", ((int64_t)7 << 30) + 1}, /* already that far */
        {__LINE__, "7516192800 00000000000000c1", 7516192801},
        {__LINE__, "x", -1},
        {__LINE__, "12", -1},
        {__LINE__, "-3 00000000000000c1", -1},
        {__LINE__, "9223372036854775807 00000000000000c1", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t fence = -1;
        enum status st = coord_kv_next_fence(cases[i].last, CLUSTER, wall_ms, &fence);
        if (fence != cases[i].want || st != (cases[i].want < 0 ? E_CORRUPT : OK))
            fail_msg("line %d: %" PRId64, cases[i].line, fence);
    }
}

/* ---- behind its back ---- */

struct answer {
    bool is_over;
    enum status status;
    int64_t lease;
    char key[200];
};

static void on_answer(void *context, const struct kv_result *result)
{
    struct answer *answer = context;
    answer->is_over = true;
    answer->status = result->status;
    if (result->op.kv_count) {
        answer->lease = result->op.kvs[0].lease;
        snprintf(answer->key, sizeof(answer->key), "%.*s", (int)result->op.kvs[0].key.length,
                 (const char *)result->op.kvs[0].key.data);
    }
}

static struct kv_client *client_of(struct coord *coord)
{
    return ((struct coord_kv *)coord)->client;
}

/* The first key of the queue. */
static struct answer find_key(const char *name)
{
    char key[200];
    struct answer answer = {.is_over = false};
    const struct kv_reply reply = {on_answer, &answer, 0};
    snprintf(key, sizeof(key), "%s/coord/locks/%s/queue/", prefix, name);
    const struct kv_range range = {
        .key = kv_text(key), .prefix = true, .sort = KV_SORT_CREATED_ASCENDING, .limit = 1};
    assert_int_equal(kv_range(client_of(coord_world.other), &range, &reply, NULL), OK);
    wait_until(answer.is_over);
    assert_int_equal(answer.status, OK);
    return answer;
}

static void a_revoked_lease_is_a_loss(void **state)
{
    struct party holder, waiter;
    const struct coord_want want = a_lock("revoked", "x");
    struct answer answer = {.is_over = false};
    const struct kv_reply reply = {on_answer, &answer, 0};
    (void)state;
    party_claim(&holder, coord_world.coord, &want);
    wait_until(holder.held);
    party_claim(&waiter, coord_world.other, &want);
    wait_until(waiter.waiting);
    assert_int_equal(
        kv_lease_revoke(client_of(coord_world.other), find_key("revoked").lease, &reply, NULL), OK);
    wait_until(holder.lost && waiter.held);
    assert_true(waiter.fence > holder.fence);
    party_end(&holder);
    party_end(&waiter);
}

static void a_deleted_key_is_a_loss(void **state)
{
    struct party holder;
    const struct coord_want want = a_lock("deleted", "x");
    struct answer answer = {.is_over = false};
    const struct kv_reply reply = {on_answer, &answer, 0};
    (void)state;
    party_claim(&holder, coord_world.coord, &want);
    wait_until(holder.held);
    struct answer found = find_key("deleted");
    const struct kv_delete delete = {.key = kv_text(found.key)};
    assert_int_equal(kv_delete(client_of(coord_world.other), &delete, &reply, NULL), OK);
    wait_until(holder.lost);
    party_end(&holder);
}

/* The holder knows its loss before etcd could give the lock to another: the server is stopped, so
 * that it gives nothing, and its clock goes on. */
static void a_silent_server_is_a_loss_in_time(void **state)
{
    struct party holder, waiter, next;
    struct coord_want want = a_lock("silent", "x");
    (void)state;
    deadline_ms = 1000;
    struct coord *hasty = open_etcd(coord_world.loop);
    deadline_ms = PATIENT_MS;
    party_claim(&holder, coord_world.coord, &want);
    wait_until(holder.held);
    party_claim(&waiter, hasty, &want);
    wait_until(waiter.waiting);
    etcd_member_signal(&cluster, 0, SIGSTOP);
    int64_t stopped_ms = now_ms();
    wait_until(waiter.failed); /* within its time-out, though it has the lease for longer */
    assert_int_equal(waiter.status, E_UNREACHABLE);
    int64_t until_ms = coord_held_until_boot_ms(holder.claim);
    wait_until(holder.lost);
    if (until_ms) /* not so on a machine that stood still meanwhile */
        assert_true(until_ms <= stopped_ms + TTL_S * 1000 - MARGIN_MS);
    assert_int_equal(coord_held_until_boot_ms(holder.claim), 0);
    etcd_member_signal(&cluster, 0, SIGCONT);
    party_end(&holder);
    party_end(&waiter);
    party_claim(&next, coord_world.coord, &want);
    wait_until(next.held || next.failed);
    assert_int_equal(next.held, 1);
    assert_true(next.fence > holder.fence);
    party_end(&next);
    coord_free(hasty);
}

static void a_damaged_fence_is_told(void **state)
{
    struct party party;
    const struct coord_want want = a_lock("damaged", "x");
    char key[200];
    struct answer answer = {.is_over = false};
    const struct kv_reply reply = {on_answer, &answer, 0};
    (void)state;
    snprintf(key, sizeof(key), "%s/coord/locks/damaged/fence", prefix);
    const struct kv_put put = {.key = kv_text(key), .value = kv_text("many")};
    assert_int_equal(kv_put(client_of(coord_world.other), &put, &reply, NULL), OK);
    wait_until(answer.is_over);
    party_claim(&party, coord_world.coord, &want);
    wait_until(party.failed);
    assert_int_equal(party.status, E_CORRUPT);
    party_end(&party);
}

/* The whole etcd goes and comes back within the lease: nothing is lost, and the queue goes on. */
static void a_server_that_restarts_loses_nothing(void **state)
{
    struct party holder, waiter;
    struct coord_want want = a_lock("restarts", "x");
    (void)state;
    want.ttl_s = 60;
    party_claim(&holder, coord_world.coord, &want);
    wait_until(holder.held);
    party_claim(&waiter, coord_world.other, &want);
    wait_until(waiter.waiting);
    etcd_member_kill(&cluster, 0);
    for (int i = 0; i < 20; i++)
        turn();
    etcd_member_restart(&cluster, 0, true);
    int64_t until_ms = coord_held_until_boot_ms(holder.claim);
    wait_until(coord_held_until_boot_ms(holder.claim) > until_ms); /* renewed */
    party_end(&holder);
    wait_until(waiter.held);
    assert_int_equal(holder.lost + waiter.failed, 0);
    party_end(&waiter);
}

int main(void)
{
    static const struct coord_backend backend = {
        .name = "coord in etcd", .make_place = make_place, .open = open_etcd};
    const struct CMUnitTest more[] = {
        cmocka_unit_test(fences_go_on_after_a_restore),
        cmocka_unit_test_setup_teardown(a_revoked_lease_is_a_loss, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_deleted_key_is_a_loss, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_damaged_fence_is_told, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_silent_server_is_a_loss_in_time, coord_world_setup,
                                        coord_world_teardown),
        cmocka_unit_test_setup_teardown(a_server_that_restarts_loses_nothing, coord_world_setup,
                                        coord_world_teardown),
    };
    if (!etcd_cluster_available()) {
        print_message("etcd is not installed\n");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN);
    etcd_cluster_start(&cluster);
    int failed = coord_contract_run(&backend);
    failed += cmocka_run_group_tests_name("etcd alone", more, NULL, NULL);
    etcd_cluster_remove(&cluster);
    return failed;
}
