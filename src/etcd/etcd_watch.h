/* The changes of a range of keys, in order, each exactly once, across lost connections and
 * restarted servers, as long as their revisions are not compacted. All watches of a client share
 * one stream. */
#ifndef PEAL_ETCD_WATCH_H
#define PEAL_ETCD_WATCH_H

#include "etcd.h"

struct etcd_watch;

struct etcd_watch_config {
    struct etcd_bytes key, end; /* as in struct etcd_range */
    bool prefix;
    int64_t start_revision; /* the first to be delivered; 0: from now on */
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
    ETCD_WATCH_EVENTS,    /* one or more; none: the revision of the last ones is complete */
    ETCD_WATCH_PROGRESS,  /* all events up to `revision` have been delivered */
    ETCD_WATCH_BROKEN,    /* the stream is lost; it comes back by itself. `message` says why */
    ETCD_WATCH_COMPACTED, /* the end: revisions before `compact_revision` are gone. List again */
    ETCD_WATCH_FAILED,    /* the end: refused by the server. `message` says why */
};

struct etcd_watch_notice {
    enum etcd_watch_kind kind;
    const struct etcd_event *events;
    size_t event_count;
    bool is_part;        /* EVENTS: more events of the last revision come next */
    int64_t revision;    /* LIVE, EVENTS, PROGRESS: of the store */
    uint64_t cluster_id; /* LIVE: whose events come from now on; 0: not in the answer */
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

/* For a watch that is silent though it should not be: all watches of the client resume on a new
 * stream, since they share the old one. */
void etcd_watch_restart(struct etcd_watch *watch);

/* The first revision that was not delivered yet: where a new watch would resume. */
int64_t etcd_watch_next_revision(const struct etcd_watch *watch);

#endif
