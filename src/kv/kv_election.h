/* One leader among many candidates. Each candidate writes a key of its own below a prefix, tied to
 * its lease; the oldest key leads. Observers need not be candidates. A leader whose lease is lost
 * knows it before the server makes the next one leader. */
#ifndef PEAL_KV_ELECTION_H
#define PEAL_KV_ELECTION_H

#include "kv.h"
#include "kv_lease.h"

struct kv_election;

enum kv_election_kind {
    KV_ELECTION_LED,     /* somebody leads: `key`, `value`; `is_self` says whether it is us */
    KV_ELECTION_VACANT,  /* nobody leads */
    KV_ELECTION_DROPPED, /* we are no candidate any more: resigned, lease lost, key deleted */
    KV_ELECTION_FAILED,  /* a request failed, and is tried again; `message` says why */
};

struct kv_election_notice {
    enum kv_election_kind kind;
    bool is_self;
    struct kv_bytes key, value;
    int64_t revision; /* LED: revision at which the leader became a candidate; a fencing number */
    const char *message;
};

/* Comes from the loop, never from within a call; LED only when something changed. */
typedef void kv_election_notify(void *context, const struct kv_election_notice *notice);

/* Starts as an observer. `prefix` is copied. */
MUST_CHECK enum status kv_election_new(struct kv_client *client, struct kv_bytes prefix,
                                       kv_election_notify *notify, void *context,
                                       struct kv_election **ret);

/* Does not resign: free or revoke the lease for that. Accepts NULL; returns NULL. */
struct kv_election *kv_election_free(struct kv_election *election);

/* Becomes a candidate, with a lease that is granted and outlives the candidacy; when the lease is
 * lost call kv_election_drop. E_BUSY: already a candidate. */
MUST_CHECK enum status kv_election_campaign(struct kv_election *election,
                                            const struct kv_lease *lease, struct kv_bytes value);

/* Stops leading at once and deletes the candidate's key; DROPPED comes when that is done. */
void kv_election_resign(struct kv_election *election);

/* Ends the candidacy because the lease is lost. DROPPED comes from the next turn of the loop. */
void kv_election_drop(struct kv_election *election);

/* True only while the lease is surely held. Nobody else leads then in the cluster with
 * kv_election_cluster_id; an etcd restored from a backup is another cluster, and may elect
 * another leader before the leases of the old one have expired. */
bool kv_election_is_self(const struct kv_election *election);

/* The id of the cluster that named the leader; 0: none has yet. */
uint64_t kv_election_cluster_id(const struct kv_election *election);

#endif
