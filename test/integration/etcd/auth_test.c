/* A server that wants to know who is asking, and one that speaks TLS alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "harness.h"
#include "machine.h"

/* ---- users ---- */

/* alice may read and write below "a/"; root may do all. */
static void enable_users(struct harness *h)
{
    const char *e = h->cluster.endpoints[0];
    char ctl[128];
    snprintf(ctl, sizeof(ctl), "ETCDCTL_API=3 etcdctl --endpoints %s", e);
    run_command("{ %s user add root:rootpw; %s role add root; %s user grant-role root root;"
                "%s user add alice:alicepw; %s role add a;"
                "%s role grant-permission a --prefix=true readwrite a/;"
                "%s user grant-role alice a; %s auth enable; } >/dev/null",
                ctl, ctl, ctl, ctl, ctl, ctl, ctl, ctl);
}

static void become(struct harness *h, const char *user, const char *password)
{
    struct etcd_client_config config = {
        .endpoints = h->cluster.endpoints,
        .endpoint_count = 1,
        .user = user,
        .password = password,
        .deadline_ms = 10000,
    };
    kv_client_free(h->client);
    assert_int_equal(etcd_client_new(h->loop, &config, &h->client, &h->error), OK);
}

struct watched {
    int live, events, failed;
    char message[200];
};

static void on_watch(void *context, const struct kv_watch_notice *notice)
{
    struct watched *watched = context;
    watched->live += notice->kind == KV_WATCH_LIVE;
    watched->events += (int)notice->event_count;
    watched->failed += notice->kind == KV_WATCH_FAILED;
    snprintf(watched->message, sizeof(watched->message), "%s", notice->message);
}

static void users(void **state)
{
    (void)state;
    static const char *const arguments[] = {"--auth-token-ttl", "5", NULL};
    struct harness *h = harness_new(1, arguments);
    become(h, "alice", "alicepw"); /* harmless before users are enabled */
    struct answer answer = harness_put(h, "a/0", "0");
    check_ok(answer);
    enable_users(h);
    answer = harness_put(h, "a/1", "1"); /* had no token: gets one by itself */
    check_ok(answer);
    answer = harness_put(h, "b/1", "1");
    harness_check(&answer, E_INVALID, __LINE__);
    assert_int_equal(answer.code, 7);
    assert_non_null(strstr(answer.message, "permission denied"));

    struct watched own = {0}, foreign = {0};
    struct kv_watch *watch, *other;
    struct kv_watch_config config = {.key = kv_text("a/"), .prefix = true};
    assert_int_equal(kv_watch_new(h->client, &config, on_watch, &own, &watch), OK);
    harness_wait(h, own.live == 1);
    config.key = kv_text("b/");
    assert_int_equal(kv_watch_new(h->client, &config, on_watch, &foreign, &other), OK);
    harness_wait(h, foreign.failed == 1);
    assert_non_null(strstr(foreign.message, "ermission denied"));
    kv_watch_free(other);

    harness_wait(h, own.live == 2); /* the stream was opened again to try a new token */
    harness_run_for(h, 7500);       /* the token has expired */
    answer = harness_put(h, "a/2", "2");
    check_ok(answer);
    harness_wait(h, own.events == 1);
    etcd_member_restart(&h->cluster, 0, true); /* tokens live in the server's memory */
    harness_wait(h, own.live > 2);             /* it has been seen that the connection is gone */
    answer = harness_put(h, "a/3", "3");
    check_ok(answer);
    harness_wait(h, own.events == 2);
    kv_watch_free(watch);

    become(h, "alice", "wrong");
    int64_t since = now_ms();
    answer = harness_get(h, "a/1");
    harness_check(&answer, E_INVALID, __LINE__);
    assert_non_null(strstr(answer.message, "invalid user ID or password"));
    assert_true(now_ms() - since < HARNESS_DEADLINE_MS); /* not only at the deadline */
    become(h, NULL, NULL);
    answer = harness_get(h, "a/1");
    harness_check(&answer, E_INVALID, __LINE__);
    become(h, "root", "rootpw");
    answer = harness_get(h, "a/3");
    check_ok(answer);
    harness_free(h);
}

/* ---- TLS ---- */

struct certificates {
    char folder[64];
    char ca[96], server[96], server_key[96], client[96], client_key[96], stranger[96];
};

/* An authority, a server "etcd.test" on 127.0.0.1, a client, and an authority nobody knows. */
static void make_certificates(struct certificates *c)
{
    snprintf(c->folder, sizeof(c->folder), "/tmp/peal-tls-XXXXXX");
    assert_non_null(mkdtemp(c->folder));
    static const char script[] =
        "cd %s && exec >log 2>&1 && set -e;"
        "new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';"
        "$new -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.pem;"
        "$new -x509 -days 2 -subj /CN=stranger -keyout stranger.key -out stranger.pem;"
        "printf 'subjectAltName=DNS:etcd.test,IP:127.0.0.1\\n' >server.ext;"
        "$new -subj /CN=server -keyout server.key -out server.csr;"
        "openssl x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial"
        " -extfile server.ext -out server.pem;"
        "$new -subj /CN=client -keyout client.key -out client.csr;"
        "openssl x509 -req -days 2 -in client.csr -CA ca.pem -CAkey ca.key -out client.pem";
    run_command(script, c->folder);
    snprintf(c->ca, sizeof(c->ca), "%s/ca.pem", c->folder);
    snprintf(c->server, sizeof(c->server), "%s/server.pem", c->folder);
    snprintf(c->server_key, sizeof(c->server_key), "%s/server.key", c->folder);
    snprintf(c->client, sizeof(c->client), "%s/client.pem", c->folder);
    snprintf(c->client_key, sizeof(c->client_key), "%s/client.key", c->folder);
    snprintf(c->stranger, sizeof(c->stranger), "%s/stranger.pem", c->folder);
}

/* The machine may be busy; but whoever is refused is told so at the deadline. */
enum { PATIENT_MS = 10000, REFUSED_MS = 2000 };

static void use_tls(struct harness *h, const char *ca, const char *cert, const char *key,
                    const char *server_name, int64_t deadline_ms)
{
    struct etcd_client_config config = {
        .endpoints = h->cluster.endpoints,
        .endpoint_count = 1,
        .ca_file = ca,
        .cert_file = cert,
        .key_file = key,
        .server_name = server_name,
        .deadline_ms = deadline_ms,
    };
    kv_client_free(h->client);
    h->client = NULL;
    if (etcd_client_new(h->loop, &config, &h->client, &h->error) != OK)
        fail_msg("%s", h->error.message);
}

static void refused(struct harness *h, const char *want, int line)
{
    struct answer answer = harness_get(h, "x");
    harness_check(&answer, E_UNREACHABLE, line);
    if (!strstr(answer.message, want))
        fail_msg("line %d: %s", line, answer.message);
}

static void bad_files(struct harness *h, const struct certificates *c)
{
    struct kv_client *client;
    struct etcd_client_config config = {
        .endpoints = h->cluster.endpoints, .endpoint_count = 1, .ca_file = "/no/such/file"};
    assert_int_equal(etcd_client_new(h->loop, &config, &client, &h->error), E_INVALID);
    assert_non_null(strstr(h->error.message, "/no/such/file"));
    config.ca_file = c->ca;
    config.cert_file = c->client;
    assert_int_equal(etcd_client_new(h->loop, &config, &client, &h->error), E_INVALID);
    config.key_file = c->server_key; /* not the key of this certificate */
    assert_int_equal(etcd_client_new(h->loop, &config, &client, &h->error), E_INVALID);
    assert_non_null(strstr(h->error.message, c->server_key));
}

static void tls(void **state)
{
    (void)state;
    struct certificates c;
    make_certificates(&c);
    const char *arguments[] = {"--cert-file",       c.server, "--key-file",         c.server_key,
                               "--trusted-ca-file", c.ca,     "--client-cert-auth", NULL};
    struct harness *h = calloc(1, sizeof(*h));
    h->cluster.is_tls = true;
    harness_start(h, 1, arguments);

    use_tls(h, c.ca, c.client, c.client_key, NULL, PATIENT_MS);
    struct answer answer = harness_put(h, "x", "1");
    check_ok(answer);
    harness_fill(h, "big/", 0, 6, 1000 * 1000);
    answer = harness_range(h, &(struct kv_range){.key = kv_text("big/"), .prefix = true});
    check_ok(answer);
    assert_int_equal(answer.kv_count, 6);
    harness_fill(h, "many/", 0, 3000, 100); /* 64 at a time */
    struct watched watched = {0};
    struct kv_watch *watch;
    struct kv_watch_config config = {.key = kv_text("x")};
    assert_int_equal(kv_watch_new(h->client, &config, on_watch, &watched, &watch), OK);
    harness_wait(h, watched.live == 1);
    harness_put(h, "x", "2");
    harness_wait(h, watched.events == 1);
    kv_watch_free(watch);

    use_tls(h, c.ca, c.client, c.client_key, "etcd.test", PATIENT_MS);
    answer = harness_get(h, "x");
    check_ok(answer);
    use_tls(h, c.ca, c.client, c.client_key, "another.test", REFUSED_MS);
    refused(h, "ostname mismatch", __LINE__);
    use_tls(h, c.stranger, c.client, c.client_key, NULL, REFUSED_MS);
    refused(h, "certificate", __LINE__);
    use_tls(h, c.ca, NULL, NULL, NULL, REFUSED_MS); /* the server wants one of ours */
    refused(h, "127.0.0.1:", __LINE__);
    bad_files(h, &c);

    /* plain text to a server that speaks TLS */
    char plain[64];
    snprintf(plain, sizeof(plain), "http://127.0.0.1:%d", h->cluster.members[0].client_port);
    struct etcd_client_config plain_config = {.endpoints = (const char *[]){plain},
                                              .endpoint_count = 1};
    kv_client_free(h->client);
    assert_int_equal(etcd_client_new(h->loop, &plain_config, &h->client, &h->error), OK);
    refused(h, "127.0.0.1:", __LINE__);
    harness_free(h);
    run_command("rm -rf %s", c.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users),
        cmocka_unit_test(tls),
    };
    harness_require();
    if (system("command -v etcdctl openssl >/dev/null") != 0) {
        printf("skipped: etcdctl or openssl is missing; Debian has them in etcd-client, openssl\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
