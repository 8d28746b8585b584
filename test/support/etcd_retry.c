#include "etcd_retry.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "etcd.h"
#include "kv_txn.h"

enum {
    MEMBERS_MAX = 9,
    EVERY_MS = 25,
    DEADLINE_MS = 200, /* a member without a leader keeps a transaction for seven seconds */
};

struct retry;

struct retry_member {
    struct retry *retry;
    struct kv_client *client;
    bool is_busy;
};

struct retry {
    struct loop *loop;
    struct loop_timer *timer;
    struct loop_fd *input;
    struct kv_txn *txn;
    struct retry_member members[MEMBERS_MAX];
    size_t count;
    struct now last; /* success; boot time 0: none yet */
    struct etcd_retry_gap longest;
    bool is_over;
};

static void on_done(void *context, const struct kv_result *result)
{
    struct retry_member *member = context;
    struct retry *retry = member->retry;
    member->is_busy = false;
    if (result->status != OK)
        return;
    struct now now = clock_now();
    int64_t gap_ms = retry->last.boot.ms ? now.boot.ms - retry->last.boot.ms : 0;
    if (gap_ms > retry->longest.gap_ms) {
        retry->longest.gap_ms = gap_ms;
        retry->longest.from_ms = retry->last.wall.ms;
    }
    retry->longest.done++;
    retry->last = now;
}

static void try_member(struct retry_member *member)
{
    struct kv_txn *txn = member->retry->txn;
    struct kv_bytes key = kv_text("/bare-retry");
    kv_txn_reset(txn);
    kv_txn_if_version(txn, key, KV_GREATER, -1);
    kv_txn_put(txn, &(struct kv_put){.key = key, .value = kv_text("x")});
    struct kv_reply reply = {on_done, member, DEADLINE_MS};
    member->is_busy = kv_txn_send(member->client, txn, &reply, NULL) == OK;
}

static void on_timer(void *context)
{
    struct retry *retry = context;
    for (size_t i = 0; i < retry->count; i++)
        if (!retry->members[i].is_busy)
            try_member(&retry->members[i]);
    loop_timer_set(retry->timer, EVERY_MS);
}

static void on_input(void *context, unsigned events)
{
    struct retry *retry = context;
    char bytes[64];
    (void)events;
    if (read(STDIN_FILENO, bytes, sizeof(bytes)) <= 0)
        retry->is_over = true;
}

static void add_member(struct retry *retry, const char *endpoint)
{
    struct retry_member *member = &retry->members[retry->count];
    const char *const endpoints[] = {endpoint};
    struct etcd_client_config config = {.endpoints = endpoints, .endpoint_count = 1};
    if (retry->count == MEMBERS_MAX ||
        etcd_client_new(retry->loop, &config, &member->client, NULL) != OK)
        abort();
    member->retry = retry;
    retry->count++;
}

static void open_all(struct retry *retry, const char *endpoints)
{
    char *text = strdup(endpoints), *rest = NULL;
    if (!text || loop_new(&retry->loop) != OK || kv_txn_new(&retry->txn) != OK ||
        loop_timer_new(retry->loop, on_timer, retry, &retry->timer) != OK ||
        loop_fd_new(retry->loop, STDIN_FILENO, on_input, retry, &retry->input) != OK)
        abort();
    for (char *each = strtok_r(text, ",", &rest); each; each = strtok_r(NULL, ",", &rest))
        add_member(retry, each);
    loop_fd_want(retry->input, LOOP_READ);
    loop_timer_set(retry->timer, 0);
    free(text);
}

struct etcd_retry_gap etcd_retry_until_eof(const char *endpoints)
{
    struct retry retry = {0};
    open_all(&retry, endpoints);
    while (!retry.is_over)
        loop_run_once(retry.loop);
    for (size_t i = 0; i < retry.count; i++)
        kv_client_free(retry.members[i].client);
    loop_fd_free(retry.input);
    loop_timer_free(retry.timer);
    kv_txn_free(retry.txn);
    loop_free(retry.loop);
    return retry.longest;
}
