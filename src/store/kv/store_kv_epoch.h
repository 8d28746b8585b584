/* How a restored etcd is detected: see store_kv_epoch.c. */
#ifndef PEAL_STORE_ETCD_EPOCH_H
#define PEAL_STORE_ETCD_EPOCH_H

#include <stdint.h>

/* Revision, raft term and cluster id of an answer. 0: not in it. */
struct epoch_sign {
    int64_t revision;
    uint64_t term, cluster_id;
};

/* The highest values of all answers. A member that stands for election, or votes, can name a term
 * that never comes into force. If a later request's answer names it again, a quorum is behind it:
 * from then on the term counts. */
struct epoch_seen {
    int64_t revision;
    uint64_t term, named_term;
};

/* What was known when a request was sent; its answer is compared with that. */
struct epoch_asked {
    struct epoch_seen seen;
    uint64_t cluster_id;                   /* of the mirror; 0: not known */
    int64_t epoch_revision, halt_revision; /* of the keys in the mirror; 0: no such key */
};

#endif
