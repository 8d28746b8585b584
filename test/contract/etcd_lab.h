/* Nodes on a real etcd when things go wrong. Each node has a loop of its own, so that one can stand
 * still, as if it were stopped or dead, while the others go on. */
#ifndef PEAL_ETCD_LAB_H
#define PEAL_ETCD_LAB_H

#include "clock.h"
#include "etcd_server.h"
#include "kv/store_kv.h"
#include "store_world.h"

enum { NODES = 3, TTL_MS = 5000, HANG_MS = 60000 };
enum { STAYS = 100 }; /* turns of 10 ms or more for each node, for what must not change */

struct node {
    struct loop *loop;
    struct loop_timer *tick;
    struct world *world;
    struct peer self;
    bool is_frozen;
};

/* cmocka gives a backend no context. */
struct lab {
    struct etcd_cluster cluster;
    const char *user, *password;
    int places;
    struct node nodes[NODES];
};
extern struct lab lab;

/* Runs the tests on an etcd of one member; for main(). 77: there is none here. */
int lab_run(const char *name, const struct CMUnitTest *tests, size_t count);

int64_t now_ms(void);

/* All that are not frozen, a bit. */
void turn(void);

/* The condition must come true while all nodes live that are not frozen. The limit only ends a
 * hang: what is to be there sooner than something else is compared with that. */
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int64_t until_ms = now_ms() + HANG_MS;                                                     \
        while (!(condition)) {                                                                     \
            if (now_ms() > until_ms)                                                               \
                fail_msg("line %d: never came true: %s", __LINE__, #condition);                    \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- nodes ---- */

void new_lab(void); /* keys of its own */
struct node *open_node(int index);
struct node *start_node(int index, const char *name, uint64_t home);
void end_node(struct node *node);
void end_all(void);

bool leads(const struct node *node);
bool hears_of(const struct node *node, const char *name, bool is_alive);
enum status health(const struct node *node, struct strbuf *why);
bool is_well(const struct node *node);

/* Says something new, without waiting until it is heard. */
void say(struct node *node, int running);
bool has_heard(const struct node *node, const char *name, int running);

/* ---- asking etcd behind their backs ---- */

int64_t put(const char *kind, const char *value); /* the revision of it */
void delete_below(const char *kind);
void compact(int64_t revision);
bool is_etcd_leader(int member);

/* ---- how long a TTL is here ---- */

/* A lease like that of a node which nobody keeps. When etcd lets it go, a TTL has passed, however
 * slow the machine is. */
struct left_lease {
    int64_t id, since_ms;
};
struct left_lease leave_lease(void);
bool has_run_out(const struct left_lease *left);

#endif
