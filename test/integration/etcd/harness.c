#include "harness.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "clock.h"

enum { WAIT_MS = 60000 };

static int64_t slept_ms;

/* In place of the library's. */
struct now clock_now(void)
{
    struct timespec wall, boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    return (struct now){
        .wall.ms = (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / 1000000 + slept_ms,
        .boot.ms = (int64_t)boot.tv_sec * 1000 + boot.tv_nsec / 1000000 + slept_ms,
    };
}

void harness_sleep(int64_t ms)
{
    slept_ms += ms;
}

int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

void harness_require(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (etcd_cluster_available())
        return;
    printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
    exit(77);
}

static void on_alarm(void *context)
{
    struct harness *h = context;
    h->rang = true;
}

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

struct kv_client *harness_client(struct harness *h, int first_member)
{
    const char *endpoints[ETCD_MEMBERS_MAX];
    struct kv_client *client;
    for (int i = 0; i < h->cluster.count; i++)
        endpoints[i] = h->cluster.endpoints[(first_member + i) % h->cluster.count];
    struct etcd_client_config config = {
        .endpoints = endpoints,
        .endpoint_count = (size_t)h->cluster.count,
        .deadline_ms = HARNESS_DEADLINE_MS,
    };
    if (etcd_client_new(h->loop, &config, &client, &h->error) != OK)
        fail_msg("%s", h->error.message);
    return client;
}

void harness_start(struct harness *h, int count, const char *const *arguments)
{
    h->cluster.count = count;
    for (int i = 0; arguments && arguments[i]; i++)
        h->cluster.arguments[i] = arguments[i];
    etcd_cluster_start(&h->cluster);
    assert_int_equal(loop_new(&h->loop), OK);
    assert_int_equal(loop_timer_new(h->loop, on_alarm, h, &h->alarm), OK);
    assert_int_equal(loop_timer_new(h->loop, on_tick, h, &h->tick), OK);
}

struct harness *harness_new(int count, const char *const *arguments)
{
    struct harness *h = calloc(1, sizeof(*h));
    assert_non_null(h);
    harness_start(h, count, arguments);
    h->client = harness_client(h, 0);
    return h;
}

void harness_free(struct harness *h)
{
    kv_client_free(h->client);
    loop_timer_free(h->alarm);
    loop_timer_free(h->tick);
    loop_free(h->loop);
    etcd_cluster_remove(&h->cluster);
    free(h);
}

int harness_setup(void **state)
{
    *state = harness_new(1, NULL);
    return 0;
}

int harness_teardown(void **state)
{
    harness_free(*state);
    return 0;
}

void harness_begin_wait(struct harness *h)
{
    h->rang = false;
    loop_timer_set(h->alarm, WAIT_MS);
}

void harness_turn(struct harness *h, const char *condition, const char *file, int line)
{
    if (h->rang)
        fail_msg("%s:%d: waited in vain for: %s", file, line, condition);
    loop_timer_set(h->tick, 50);
    loop_run_once(h->loop);
}

void harness_run_for(struct harness *h, int64_t ms)
{
    int64_t until = now_ms() + ms;
    while (now_ms() < until) {
        loop_timer_set(h->tick, 10);
        loop_run_once(h->loop);
    }
}

/* ---- answers ---- */

static void copy_bytes(struct kv_bytes from, char *to, size_t size)
{
    size_t length = from.length < size - 1 ? from.length : size - 1;
    memcpy(to, from.data, length);
    to[length] = '\0';
}

static void take_op(struct answer *answer, const struct kv_op_result *op)
{
    answer->count = op->count;
    answer->more = op->more;
    answer->kv_count = op->kv_count;
    if (op->kv_count) {
        copy_bytes(op->kvs[0].key, answer->key, sizeof(answer->key));
        copy_bytes(op->kvs[0].value, answer->value, sizeof(answer->value));
        answer->version = op->kvs[0].version;
        answer->create_revision = op->kvs[0].create_revision;
    }
    answer->succeeded = op->txn.succeeded;
    answer->inner_count = op->txn.op_count;
    for (size_t i = 0; i < op->txn.op_count; i++)
        answer->inner_succeeded += op->txn.ops[i].kind == KV_OP_TXN && op->txn.ops[i].txn.succeeded;
}

void answer_take(void *context, const struct kv_result *result)
{
    struct answer *answer = context;
    assert_false(answer->is_done); /* exactly once */
    answer->is_done = true;
    answer->status = result->status;
    answer->code = result->code;
    snprintf(answer->message, sizeof(answer->message), "%s", result->message);
    answer->revision = result->revision;
    answer->member_id = result->server_id;
    take_op(answer, &result->op);
    answer->lease_id = result->lease.id;
    answer->ttl_s = result->lease.ttl_s;
    answer->leader_id = etcd_member_of(result)->leader_id;
    answer->db_bytes = etcd_member_of(result)->db_bytes;
    answer->alarms = etcd_member_of(result)->alarm_count;
    if (answer->alarms)
        answer->alarm_member_id = etcd_member_of(result)->alarms[0].member_id;
    snprintf(answer->server_version, sizeof(answer->server_version), "%s",
             etcd_member_of(result)->version);
}

struct kv_reply answer_reply(struct answer *answer)
{
    *answer = (struct answer){0};
    return (struct kv_reply){.done = answer_take, .context = answer};
}

void harness_check(const struct answer *answer, enum status want, int line)
{
    if (answer->status != want)
        fail_msg("line %d: %s (code %d: %s), not %s", line, status_text(answer->status),
                 answer->code, answer->message, status_text(want));
}

struct answer harness_put_any(struct harness *h, const struct kv_put *put)
{
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(kv_put(h->client, put, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    return answer;
}

struct answer harness_put(struct harness *h, const char *key, const char *value)
{
    return harness_put_any(h, &(struct kv_put){kv_text(key), kv_text(value), 0, false});
}

struct answer harness_range(struct harness *h, const struct kv_range *range)
{
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(kv_range(h->client, range, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    return answer;
}

struct answer harness_get(struct harness *h, const char *key)
{
    return harness_range(h, &(struct kv_range){.key = kv_text(key)});
}

/* ---- many puts ---- */

struct filling {
    struct harness *h;
    const char *prefix;
    int next, end, done;
    struct kv_bytes value;
};

static void fill_next(struct filling *filling);

static void on_filled(void *context, const struct kv_result *result)
{
    struct filling *filling = context;
    if (result->status != OK)
        fail_msg("put %d: %s: %s", filling->done, status_text(result->status), result->message);
    filling->done++;
    fill_next(filling);
}

static void fill_next(struct filling *filling)
{
    char key[64];
    if (filling->next == filling->end)
        return;
    snprintf(key, sizeof(key), "%s%06d", filling->prefix, filling->next++);
    assert_int_equal(kv_put(filling->h->client,
                            &(struct kv_put){kv_text(key), filling->value, 0, false},
                            &(struct kv_reply){on_filled, filling, 0}, NULL),
                     OK);
}

void harness_fill(struct harness *h, const char *prefix, int first, int count, size_t value_length)
{
    char *value = malloc(value_length + 1);
    assert_non_null(value);
    memset(value, 'v', value_length);
    struct filling filling = {h, prefix, first, first + count, 0, {value, value_length}};
    for (int i = 0; i < 64; i++)
        fill_next(&filling);
    for (int seen = -1; filling.done < count;) { /* as long as it goes on */
        if (filling.done != seen)
            harness_begin_wait(h);
        seen = filling.done;
        harness_turn(h, "puts", __FILE__, __LINE__);
    }
    free(value);
}
