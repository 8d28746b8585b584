/* The contract on clusters as people have them: with TLS, users and three members, one of which
 * dies while many items are under way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "etcd_place.h"
#include "store_world.h"

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    if (system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        abort();
    }
}

/* ---- TLS and users ---- */

struct certificates {
    char folder[64];
    char ca[96], cert[96], key[96];
    char cert_argument[128], key_argument[128];
};

static void make_certificates(struct certificates *c)
{
    snprintf(c->folder, sizeof(c->folder), "/tmp/peal-tls-XXXXXX");
    if (!mkdtemp(c->folder))
        abort();
    snprintf(c->ca, sizeof(c->ca), "%s/ca.pem", c->folder);
    snprintf(c->cert, sizeof(c->cert), "%s/server.pem", c->folder);
    snprintf(c->key, sizeof(c->key), "%s/server.key", c->folder);
    snprintf(c->cert_argument, sizeof(c->cert_argument), "--cert-file=%s", c->cert);
    snprintf(c->key_argument, sizeof(c->key_argument), "--key-file=%s", c->key);
    run("cd %s && exec >log 2>&1 && set -e;"
        "new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';"
        "$new -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.pem;"
        "printf 'subjectAltName=IP:127.0.0.1\\n' >server.ext;"
        "$new -subj /CN=server -keyout server.key -out server.csr;"
        "openssl x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial"
        " -extfile server.ext -out server.pem",
        c->folder);
}

/* The user may do anything below the prefix, and nothing else. */
static void enable_users(const struct certificates *c)
{
    char ctl[256];
    snprintf(ctl, sizeof(ctl), "ETCDCTL_API=3 etcdctl --cacert %s --endpoints %s", c->ca,
             etcd_place.cluster.endpoints[0]);
    run("{ %s user add root:rootpw; %s role add root; %s user grant-role root root;"
        "%s user add peal:secret; %s role add peal;"
        "%s role grant-permission peal --prefix=true readwrite /test/;"
        "%s user grant-role peal peal; %s auth enable; } >/dev/null",
        ctl, ctl, ctl, ctl, ctl, ctl, ctl, ctl);
}

static int contract_with_tls_and_users(void)
{
    struct certificates c;
    make_certificates(&c);
    etcd_place.cluster.is_tls = true;
    etcd_place.cluster.arguments[0] = c.cert_argument;
    etcd_place.cluster.arguments[1] = c.key_argument;
    etcd_place_start(1);
    enable_users(&c);
    etcd_place.config = (struct store_kv_config){.node = "node-1"};
    etcd_place.client =
        (struct etcd_client_config){.user = "peal", .password = "secret", .ca_file = c.ca};
    int failed = store_contract_run(&etcd_backend);
    etcd_place_stop();
    run("rm -rf %s", c.folder);
    etcd_place.cluster = (struct etcd_cluster){0};
    etcd_place.client = (struct etcd_client_config){0};
    return failed;
}

/* ---- a leader that dies ---- */

struct leader {
    bool is_done;
    uint64_t member_id, leader_id;
};

static void on_status(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    *(struct leader *)context =
        (struct leader){true, result->server_id, etcd_member_of(result)->leader_id};
}

static int find_leader(void)
{
    for (int i = 0; i < etcd_place.cluster.count; i++) {
        struct etcd_client_config config = {.endpoints = &etcd_place.cluster.endpoints[i],
                                            .endpoint_count = 1};
        struct kv_client *client;
        struct leader leader = {0};
        assert_int_equal(etcd_client_new(etcd_place.loop, &config, &client, NULL), OK);
        assert_int_equal(etcd_status(client, &(struct kv_reply){on_status, &leader, 0}, NULL), OK);
        etcd_place_wait(leader.is_done);
        kv_client_free(client);
        if (leader.member_id == leader.leader_id)
            return i;
    }
    fail_msg("nobody leads");
    return 0;
}

enum { JOBS = 250, TICKS = 8, KILL_AT = 3 };

struct claims {
    struct store_request request; /* first */
    struct store_claim items[JOBS];
    bool is_done;
    enum status status;
};

static void on_claimed(struct store_request *request, enum status st)
{
    struct claims *claims = (struct claims *)request;
    claims->is_done = true;
    claims->status = st;
}

static void submit_claims(struct world *world, struct claims *claims, const struct id *jobs,
                          int64_t tick_ms)
{
    for (int i = 0; i < JOBS; i++) {
        claims->items[i] = a_claim(world, jobs[i], tick_ms, OVERLAP_ALLOW);
        claims->items[i].cursor_ms = tick_ms - 1;
    }
    claims->is_done = false;
    claims->request = (struct store_request){
        .op = STORE_CLAIM, .count = JOBS, .items.claims = claims->items, .done = on_claimed};
    store_submit(world->store, &claims->request);
}

static bool is_well(struct world *world)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_health(world->store, &why);
    strbuf_release(&why);
    return st == OK;
}

/* Claims all jobs for this tick, for as long as it takes; the outcome of some attempts is unknown.
 */
static void claim_all(struct world *world, struct claims *claims, const struct id *jobs,
                      int64_t tick_ms, int kill)
{
    for (int attempt = 0;; attempt++) {
        size_t stale = 0;
        submit_claims(world, claims, jobs, tick_ms);
        if (attempt == 0 && kill >= 0)
            etcd_member_kill(&etcd_place.cluster, kill);
        etcd_place_wait((store_dispatch(world->store), claims->is_done));
        world_read_feed(world);
        for (int i = 0; claims->status == OK && i < JOBS; i++)
            stale += claims->items[i].result == CLAIM_STALE;
        if (claims->status == OK) {
            assert_true(attempt > 0 || stale == 0); /* stale is what an attempt before has done */
            return;
        }
        if (claims->status != E_UNKNOWN && claims->status != E_UNREACHABLE)
            fail_msg("answered: %s", status_text(claims->status));
        etcd_place_wait(is_well(world));
    }
}

static void a_leader_that_dies_loses_nothing(void **state)
{
    struct world *world = world_new(&etcd_backend);
    struct claims *claims = calloc(1, sizeof(*claims));
    struct id *jobs = calloc(JOBS, sizeof(*jobs));
    (void)state;
    assert_true(claims && jobs);
    world_open(world);
    for (int i = 0; i < JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        jobs[i] = make_job(world, name);
    }
    for (int tick = 1; tick <= TICKS; tick++)
        claim_all(world, claims, jobs, CURSOR_MS + tick, tick == KILL_AT ? find_leader() : -1);
    for (int i = 0; i < JOBS; i++) /* each tick of each job, once */
        assert_int_equal(count_runs(world, jobs[i], RUN_CLAIMED), TICKS);
    world_reopen(world);
    world_free(world);
    free(jobs);
    free(claims);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_leader_that_dies_loses_nothing)};
    cmocka_set_skip_filter("a_hundred_thousand_jobs"); /* says nothing new here, and takes long */
    int failed = contract_with_tls_and_users();
    etcd_place_start(3);
    failed += store_contract_run(&etcd_backend);
    failed += cmocka_run_group_tests_name("three members", tests, NULL, NULL);
    etcd_place_stop();
    return failed;
}
