/* What happens to a range of keys, in order, without a gap and without a repeat, across lost
 * connections and restarted servers, for as long as the revisions are not compacted away. All
 * watches of a client share one stream. */
#ifndef PEAL_ETCD_WATCH_H
#define PEAL_ETCD_WATCH_H

#include "etcd.h"

struct etcd_watch;

struct etcd_watch_config {
    struct etcd_bytes key, end; /* as in struct etcd_range */
    bool prefix;
    int64_t start_revision; /* the first to be told; 0: what comes from now on */
    bool want_previous;     /* the value before each event, if it is not compacted */
    bool want_progress;     /* PROGRESS every ten minutes or so when nothing happens */
};

struct etcd_event {
    bool is_delete;
    struct etcd_kv kv;       /* a delete has key and mod_revision alone */
    struct etcd_kv previous; /* version 0: none, or not asked for */
};

enum etcd_watch_kind {
    ETCD_WATCH_LIVE,      /* the server has taken the watch; again after each reconnect */
    ETCD_WATCH_EVENTS,    /* one or more; none: those before were all of their revision */
    ETCD_WATCH_PROGRESS,  /* nothing until `revision` that was not told */
    ETCD_WATCH_BROKEN,    /* the stream is lost; it comes back by itself. `message` says why */
    ETCD_WATCH_COMPACTED, /* the end: revisions before `compact_revision` are gone. List again */
    ETCD_WATCH_FAILED,    /* the end: refused by the server. `message` says why */
};

struct etcd_watch_notice {
    enum etcd_watch_kind kind;
    const struct etcd_event *events;
    size_t event_count;
    bool is_part;        /* EVENTS: of the last revision there are more, which come next */
    int64_t revision;    /* LIVE, EVENTS, PROGRESS: of the store */
    uint64_t cluster_id; /* LIVE: of whom it is told from now on; 0: not said */
    int64_t compact_revision;
    const char *message;
};

/* Comes from the loop, never from within a call. It may make and free watches, also its own. */
typedef void etcd_watch_notify(void *context, const struct etcd_watch_notice *notice);

MUST_CHECK enum status etcd_watch_new(struct etcd_client *client,
                                      const struct etcd_watch_config *config,
                                      etcd_watch_notify *notify, void *context,
                                      struct etcd_watch **ret);
struct etcd_watch *etcd_watch_free(struct etcd_watch *watch); /* accepts NULL; returns NULL */

/* It tells nothing, though it should: all watches of the client go on from where they are on
 * another stream, since what has happened to one has happened to them all. */
void etcd_watch_restart(struct etcd_watch *watch);

/* The first revision that was not told yet: where another watch would go on. */
int64_t etcd_watch_next_revision(const struct etcd_watch *watch);

#endif
