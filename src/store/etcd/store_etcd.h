/* The store in etcd (3.4 and later), for many nodes. Each item of a request is one transaction; up
 * to a hundred of them travel together. Decisions are made on a mirror, which a watch keeps up to
 * date; the transaction compares the revisions that a decision depends on, and a lost comparison
 * repeats the decision. README.md has the keys. */
#ifndef PEAL_STORE_ETCD_H
#define PEAL_STORE_ETCD_H

#include "loop.h"
#include "store.h"

struct store_etcd_config {
    const char *const *endpoints; /* as in struct etcd_client_config, like all up to server_name */
    size_t endpoint_count;
    const char *user, *password;
    const char *ca_file, *cert_file, *key_file;
    const char *server_name;
    const char *prefix; /* of all keys, without a slash at its end; NULL: "/peal" */
    const char *node;   /* whose metadata is stored; NULL: "" */
    /* Keeps the highest revision seen, so that an etcd that was restored from a backup is detected
     * also after a restart; NULL: only in memory. */
    const char *revision_file;
    int64_t deadline_ms; /* of a request; 0: 2 s */
    int64_t check_ms;    /* interval of full re-reads; 0: five minutes */
    int64_t silence_ms;  /* of the watch, before it is probed; 0: 10 s */
};

/* Runs the loop until the initial state has been read. E_UNREACHABLE: no etcd answered; E_VERSION:
 * written by a newer version; E_CORRUPT; E_INVALID: the configuration; E_IO; E_NOMEM. *why says
 * more. The loop must outlive the store, whose answers and changes come only while the loop runs;
 * store_free runs it too, and must not be called from within one of its callbacks. SIGPIPE must be
 * ignored. */
MUST_CHECK enum status store_etcd_open(struct loop *loop, const struct store_etcd_config *config,
                                       struct store_wake wake, struct store **ret,
                                       struct strbuf *why);

/* After a restore from a backup, while store_health is E_ROLLED_BACK: lifts the halt, as the person
 * `by` decided. Open runs end as LOST, each job's cursor moves to `now_ms` with an entry MISSED of
 * unknown count, fences continue above all earlier ones, and all nodes work again. It begins when
 * the leases of the old etcd have expired, some 5 s after the restore was noticed; `now_ms` moves
 * on by that wait. `done` comes from store_dispatch or the loop; E_CONFLICT: another node was
 * faster; E_UNREACHABLE: etcd was restored again. An interrupted advance can be started again, on
 * any node. Not OK: `done` is not called. E_NOT_FOUND: there is no halt; E_BUSY: one is under way;
 * E_UNREACHABLE, E_NOMEM. */
typedef void store_etcd_advanced(void *context, enum status st);
MUST_CHECK enum status store_etcd_advance(struct store *store, int64_t now_ms, const char *by,
                                          store_etcd_advanced *done, void *context);

#endif
