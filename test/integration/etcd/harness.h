/* A real etcd, a loop, and a client, for tests which read top-down: ask, wait, check. */
#ifndef PEAL_ETCD_HARNESS_H
#define PEAL_ETCD_HARNESS_H

#include "etcd.h"
#include "etcd_server.h"
#include "kv_election.h"
#include "kv_lease.h"
#include "kv_txn.h"
#include "kv_watch.h"

/* Of a request that names none. Long, for the machine may be busy; tests of time-outs say so. */
enum { HARNESS_DEADLINE_MS = 10000 };

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct harness {
    struct etcd_cluster cluster;
    struct loop *loop;
    struct loop_timer *alarm, *tick;
    struct kv_client *client;
    struct parse_error error;
    bool rang;
};

/* What came of a request; the parts that tests look at, copied. */
struct answer {
    bool is_done;
    enum status status;
    int code;
    char message[600];
    int64_t revision, count, deleted;
    size_t kv_count;
    bool more, succeeded;
    size_t inner_succeeded, inner_count;
    char key[128], value[256]; /* of the first kv */
    int64_t version, create_revision;
    int64_t lease_id, ttl_s;
    uint64_t member_id, leader_id;
    char server_version[32];
    int64_t db_bytes;
    size_t alarms;
    uint64_t alarm_member_id; /* of the first */
};

/* Skips the program, loudly, when there is no etcd. Call first in main. */
void harness_require(void);

/* One member, or `count` of them. The client knows all endpoints. */
struct harness *harness_new(int count, const char *const *arguments);
void harness_start(struct harness *h, int count, const char *const *arguments); /* no client */
void harness_free(struct harness *h);
struct kv_client *harness_client(struct harness *h, int first_member);

int harness_setup(void **state); /* one member */
int harness_teardown(void **state);

/* Runs the loop until the condition holds; fails the test after a minute, which only ends a
 * hang. */
#define harness_wait(h, condition)                                                                 \
    do {                                                                                           \
        harness_begin_wait(h);                                                                     \
        while (!(condition))                                                                       \
            harness_turn(h, #condition, __FILE__, __LINE__);                                       \
    } while (0)
void harness_begin_wait(struct harness *h);
void harness_turn(struct harness *h, const char *condition, const char *file, int line);
void harness_run_for(struct harness *h, int64_t ms);

/* The machine sleeps: its clocks go on by so much, and nothing of this program runs meanwhile. */
void harness_sleep(int64_t ms);

/* The `done` of all tests; the context is a struct answer. */
void answer_take(void *context, const struct kv_result *result);
struct kv_reply answer_reply(struct answer *answer);

/* Ask and wait. */
struct answer harness_put(struct harness *h, const char *key, const char *value);
struct answer harness_get(struct harness *h, const char *key);
struct answer harness_range(struct harness *h, const struct kv_range *range);
struct answer harness_put_any(struct harness *h, const struct kv_put *put);
void harness_check(const struct answer *answer, enum status want, int line);
#define check_ok(answer) harness_check(&(answer), OK, __LINE__)

/* Many puts, `in_flight` at a time; each must be done. Keys are "PREFIX%06d". */
void harness_fill(struct harness *h, const char *prefix, int first, int count, size_t value_length);

int64_t now_ms(void);

#endif
