/* The store of many nodes, over keys and values with revisions (kv.h): in etcd, for one. Each item
 * of a request is one transaction; up to a hundred of them travel together. Decisions are made on a
 * mirror, which a watch keeps up to date; the transaction compares the revisions that a decision
 * depends on, and a lost comparison repeats the decision. README.md has the keys. */
#ifndef PEAL_STORE_ETCD_H
#define PEAL_STORE_ETCD_H

#include "kv.h"
#include "store.h"

/* Documents that are written whenever a run gets a slot of the group that has this name. */
#define SLOTS_DOC "slots"

struct store_kv_config {
    struct kv_client *client; /* the store's from now on, also when it can't be opened */
    const char *prefix;       /* of all keys, without a slash at its end; NULL: "/peal" */
    const char *node;         /* whose metadata is stored; NULL: "" */
    /* Keeps the highest revision seen, so that a server that was restored from a backup is detected
     * also after a restart; NULL: only in memory. */
    const char *revision_file;
    int64_t check_ms;   /* interval of full re-reads; 0: five minutes */
    int64_t silence_ms; /* of the watch, before it is probed; 0: 10 s */
};

/* Runs the loop until the initial state has been read. E_UNREACHABLE: no server answered;
 * E_VERSION: written by a newer version; E_CORRUPT; E_INVALID: the configuration; E_IO; E_NOMEM.
 * *why says more. The loop must outlive the store, whose answers and changes come only while the
 * loop runs; store_free runs it too, and must not be called from within one of its callbacks.
 * SIGPIPE must be ignored. */
MUST_CHECK enum status store_kv_open(struct loop *loop, const struct store_kv_config *config,
                                     struct store_wake wake, struct store **ret,
                                     struct strbuf *why);

/* After a restore from a backup, while store_health is E_ROLLED_BACK: lifts the halt, as the person
 * `by` decided. Open runs end as LOST, each job's cursor moves to `now_ms` with an entry MISSED of
 * unknown count, fences continue above all earlier ones, and all nodes work again. It begins when
 * the leases of before have expired, some 5 s after the restore was noticed; `now_ms` moves
 * on by that wait. It must be by a clock that is right to some seconds: what ran after it, before
 * the halt, runs again, and until it comes nothing runs. `done` comes from store_dispatch or the
 * loop; E_CONFLICT: another node was faster; E_UNREACHABLE: it was restored again. An interrupted
 * advance can be started again, on any node. Not OK: `done` is not called. E_NOT_FOUND: there is no
 * halt; E_BUSY: one is under way; E_UNREACHABLE, E_NOMEM. */
typedef void store_kv_advanced(void *context, enum status st);
MUST_CHECK enum status store_kv_advance(struct store *store, int64_t now_ms, const char *by,
                                        store_kv_advanced *done, void *context);

#endif
