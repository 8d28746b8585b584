#include "etcd_retry.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "etcd_txn.h"

enum {
    MEMBERS_MAX = 9,
    EVERY_MS = 25,
    DEADLINE_MS = 200, /* a member without a leader keeps a transaction for seven seconds */
};

struct retry;

struct retry_member {
    struct retry *retry;
    struct etcd_client *client;
    bool is_busy;
};

struct retry {
    struct loop *loop;
    struct loop_timer *timer;
    struct loop_fd *input;
    struct etcd_txn *txn;
    struct retry_member members[MEMBERS_MAX];
    size_t count;
    struct now last; /* success; boot time 0: none yet */
    struct etcd_retry_gap longest;
    bool is_over;
};

static void on_done(void *context, const struct etcd_result *result)
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
    struct etcd_txn *txn = member->retry->txn;
    struct etcd_bytes key = etcd_text("/bare-retry");
    etcd_txn_reset(txn);
    etcd_txn_if_version(txn, key, ETCD_GREATER, -1);
    etcd_txn_put(txn, &(struct etcd_put){.key = key, .value = etcd_text("x")});
    struct etcd_reply reply = {on_done, member, DEADLINE_MS};
    member->is_busy = etcd_txn_send(member->client, txn, &reply, NULL) == OK;
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
    if (!text || loop_new(&retry->loop) != OK || etcd_txn_new(&retry->txn) != OK ||
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
        etcd_client_free(retry.members[i].client);
    loop_fd_free(retry.input);
    loop_timer_free(retry.timer);
    etcd_txn_free(retry.txn);
    loop_free(retry.loop);
    return retry.longest;
}
