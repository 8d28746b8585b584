/* One leader among many candidates. Each candidate writes a key of its own below a prefix, tied to
 * its lease; the oldest key leads. Observers need not be candidates. A leader whose lease is lost
 * knows it before the server makes the next one leader. */
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
    int64_t revision; /* LED: revision at which the leader became a candidate; a fencing number */
    const char *message;
};

/* Comes from the loop, never from within a call; LED only when something changed. */
typedef void etcd_election_notify(void *context, const struct etcd_election_notice *notice);

/* Starts as an observer. `prefix` is copied. */
MUST_CHECK enum status etcd_election_new(struct etcd_client *client, struct etcd_bytes prefix,
                                         etcd_election_notify *notify, void *context,
                                         struct etcd_election **ret);

/* Does not resign: free or revoke the lease for that. Accepts NULL; returns NULL. */
struct etcd_election *etcd_election_free(struct etcd_election *election);

/* Becomes a candidate, with a lease that is granted and outlives the candidacy; when the lease is
 * lost call etcd_election_drop. E_BUSY: already a candidate. */
MUST_CHECK enum status etcd_election_campaign(struct etcd_election *election,
                                              const struct etcd_lease *lease,
                                              struct etcd_bytes value);

/* Stops leading at once and deletes the candidate's key; DROPPED comes when that is done. */
void etcd_election_resign(struct etcd_election *election);

/* Ends the candidacy because the lease is lost. DROPPED comes from the next turn of the loop. */
void etcd_election_drop(struct etcd_election *election);

/* True only while the lease is surely held. Nobody else leads then in the cluster with
 * etcd_election_cluster_id; an etcd restored from a backup is another cluster, and may elect
 * another leader before the leases of the old one have expired. */
bool etcd_election_is_self(const struct etcd_election *election);

/* The id of the cluster that named the leader; 0: none has yet. */
uint64_t etcd_election_cluster_id(const struct etcd_election *election);

#endif
