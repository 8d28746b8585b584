/* A cluster of etcd in front of etcd_model.h: three members that agree, with leases that run out, a
 * leader that can be lost, members that can be killed or lag, and watches. */
#ifndef PEAL_SIM_ETCD_SERVE_H
#define PEAL_SIM_ETCD_SERVE_H

#include "etcd_model.h"
#include "net.h"

struct serve_watch;
struct serve_limbo;
TAILQ_HEAD(serve_watches, serve_watch);
TAILQ_HEAD(serve_limbos, serve_limbo);

struct etcd_serve {
    struct stage *stage;
    struct net *net;
    struct etcd_model model;
    struct arena arena;
    int64_t leader_from_ms; /* there is none before */
    bool had_leader;
    struct task lead;     /* there may be a leader again; or streams without one are ended */
    struct task expire;   /* the first lease runs out */
    struct task progress; /* those who watch in silence are told how far it is ... */
    int64_t progress_ms;  /* ... so often */
    struct serve_watches watches;
    struct serve_limbos limbo; /* requests that nobody can decide on while there is no leader */
    int64_t last_lease;
    bool is_torn[NET_MEMBERS]; /* what it tells comes one event at a time */
    /* Told of each revision before anybody else is. */
    void (*changed)(void *context, struct model_version *const *versions, size_t count);
    /* A machine revokes the lease of another one; NULL: nobody is told. */
    void (*revoking)(void *context, int machine);
    /* Of a server that a replica takes the place of: the replica may lack the last commits. It is
     * restored without them, if what the nodes remember allows it; NULL: it lacks nothing. */
    void (*fall_behind)(void *context, int64_t incarnation);
    void *context;
};

void etcd_serve_init(struct etcd_serve *serve, struct stage *stage, struct net *net);
void etcd_serve_release(struct etcd_serve *serve);

bool etcd_serve_has_leader(const struct etcd_serve *serve);

/* No leader for so long; after that all leases count anew. */
void etcd_serve_lose_leader(struct etcd_serve *serve, int64_t ms);
/* A member is killed, or started; without a majority there is no leader. */
void etcd_serve_set_down(struct etcd_serve *serve, int member, bool is_down);
/* All members come back from a backup of that revision; `keeps_id`: in a cluster with the same id.
 */
void etcd_serve_restore(struct etcd_serve *serve, int64_t revision, bool keeps_id);
/* As if the lease had run out. */
void etcd_serve_expire(struct etcd_serve *serve, int64_t lease);
/* The streams of watches of this machine tell nothing more, until others are opened. */
void etcd_serve_stick(struct etcd_serve *serve, int machine);
/* How often those who watch in silence are told how far it is; ten minutes unless told, as etcd's
 * --experimental-watch-progress-notify-interval. */
void etcd_serve_set_progress(struct etcd_serve *serve, int64_t every_ms);

/* ---- etcd_streams.c ---- */

void serve_streams_init(struct etcd_serve *serve);
void serve_streams_release(struct etcd_serve *serve);
void serve_stream_message(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                          size_t length);
void serve_stream_closed(struct etcd_serve *serve, struct net_stream *stream);
void serve_tell(struct etcd_serve *serve, struct model_version *const *versions, size_t count);
void serve_end_streams(struct etcd_serve *serve);

/* In the arena: the header of an answer, and a message that was sent. */
Etcdpb__Header *serve_header(struct etcd_serve *serve, int64_t revision);
void *serve_unpack(struct etcd_serve *serve, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t length);

/* When the next lease runs out. */
void serve_set_expiry(struct etcd_serve *serve);
void serve_renew(struct etcd_serve *serve, struct model_lease *lease);

#endif
