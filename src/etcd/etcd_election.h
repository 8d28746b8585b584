/* One leader among many candidates. Each candidate writes a key of its own below a prefix, tied to
 * its lease; the oldest key leads. Anyone can look on. A leader whose lease is lost knows it before
 * the server gives the lead to the next one. */
#ifndef PEAL_ETCD_ELECTION_H
#define PEAL_ETCD_ELECTION_H

#include "etcd.h"
#include "etcd_lease.h"

struct etcd_election;

enum etcd_election_kind {
    ETCD_ELECTION_LED,     /* somebody leads: `key`, `value`; `is_self` says whether it is us */
    ETCD_ELECTION_VACANT,  /* nobody leads */
    ETCD_ELECTION_DROPPED, /* we are no candidate any more: resigned, lease lost, key deleted */
    ETCD_ELECTION_FAILED,  /* a request failed, and is tried again; `message` says why */
};

struct etcd_election_notice {
    enum etcd_election_kind kind;
    bool is_self;
    struct etcd_bytes key, value;
    int64_t revision; /* LED: when the leader became a candidate; a fencing number */
    const char *message;
};

/* Comes from the loop, never from within a call; LED only when something changed. */
typedef void etcd_election_notify(void *context, const struct etcd_election_notice *notice);

/* Looks on. `prefix` is copied. */
MUST_CHECK enum status etcd_election_new(struct etcd_client *client, struct etcd_bytes prefix,
                                         etcd_election_notify *notify, void *context,
                                         struct etcd_election **ret);

/* Does not resign: free or revoke the lease for that. Accepts NULL; returns NULL. */
struct etcd_election *etcd_election_free(struct etcd_election *election);

/* Becomes a candidate, with a lease that is granted and outlives the candidacy; when the lease is
 * lost call etcd_election_drop. E_BUSY: is one already. */
MUST_CHECK enum status etcd_election_campaign(struct etcd_election *election,
                                              const struct etcd_lease *lease,
                                              struct etcd_bytes value);

/* Leads no more from now on, and deletes our key; DROPPED comes when that is done. */
void etcd_election_resign(struct etcd_election *election);

/* The lease is lost: not a candidate from now on. DROPPED comes from the next turn of the loop. */
void etcd_election_drop(struct etcd_election *election);

/* True only while the lease is surely held. Nobody else leads then in the cluster that has said so;
 * an etcd that was restored from a backup may give the lead to another one before the leases of the
 * etcd before have run out. */
bool etcd_election_is_self(const struct etcd_election *election);

/* The id of the cluster that has said who leads; 0: none has yet. */
uint64_t etcd_election_cluster_id(const struct etcd_election *election);

#endif
