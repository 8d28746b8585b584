/* By what an etcd is known again: see store_etcd_epoch.c. */
#ifndef PEAL_STORE_ETCD_EPOCH_H
#define PEAL_STORE_ETCD_EPOCH_H

#include <stdint.h>

/* What an answer says of the etcd that it comes from. 0: it does not say. */
struct epoch_sign {
    int64_t revision;
    uint64_t term, cluster_id;
};

/* The highest that answers have said. A member that just stands for election, or votes, can name a
 * term that never comes to be. If it is named again, by the answer to something that was asked
 * after, then a quorum is behind it: from then on it counts. */
struct epoch_seen {
    int64_t revision;
    uint64_t term, named_term;
};

/* What was known when something was asked, to which its answer is held. */
struct epoch_asked {
    struct epoch_seen seen;
    uint64_t cluster_id;                   /* of what is in the mirror; 0: not known */
    int64_t epoch_revision, halt_revision; /* of the keys in the mirror; 0: it is not there */
};

#endif
