/* A real etcd as the place where the stores of a test live, one prefix each. */
#ifndef PEAL_ETCD_PLACE_H
#define PEAL_ETCD_PLACE_H

#include "etcd.h"
#include "etcd_server.h"
#include "kv/store_kv.h"
#include "store_contract.h"

/* A deadline of requests that a busy machine doesn't pass: for tests in which etcd is always there.
 * What was sent and is not known of is sent again, and the answer to that says less. */
enum { ETCD_PATIENT_MS = 30000 };

/* cmocka gives a backend no context. */
struct etcd_place {
    struct etcd_cluster cluster; /* arguments and flags before the start, if any */
    struct loop *loop;
    struct loop_timer *tick;
    struct etcd_client_config client; /* of the stores, but for the endpoints */
    struct store_kv_config config;    /* what stores are opened with, but for client and prefix */
    int places;
};

extern struct etcd_place etcd_place;
extern const struct store_backend etcd_backend;

/* Ends the program, as skipped, when there is no etcd. */
void etcd_place_start(int members);
void etcd_place_stop(void);

void etcd_place_new_loop(void);
void etcd_place_free_loop(void);

void etcd_place_turn(void); /* waits for an event, at most 100 ms */
enum status etcd_place_open_node(const char *place, const char *node, struct store_wake wake,
                                 struct store **ret);
enum status etcd_place_open(const char *place, struct store_wake wake, struct store **ret);

/* Turns until the condition holds; fails the test after a minute, which only ends a hang. */
#define etcd_place_wait(condition)                                                                 \
    do {                                                                                           \
        int64_t until_ms_ = clock_now().boot.ms + 60000;                                           \
        while (!(condition)) {                                                                     \
            if (clock_now().boot.ms > until_ms_)                                                   \
                fail_msg("%s:%d: never came true: %s", __FILE__, __LINE__, #condition);            \
            etcd_place_turn();                                                                     \
        }                                                                                          \
    } while (0)

/* A client of the test's own, with the settings of the stores. */
struct kv_client *etcd_place_client(void);

#endif
