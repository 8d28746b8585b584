/* The changes of a range of keys, in order, each exactly once, across lost connections and
 * restarted servers, as long as their revisions are not compacted. All watches of a client share
 * one stream. */
#ifndef PEAL_KV_WATCH_H
#define PEAL_KV_WATCH_H

#include "kv.h"

struct kv_watch;

struct kv_watch_config {
    struct kv_bytes key, end; /* as in struct kv_range */
    bool prefix;
    int64_t start_revision; /* the first to be delivered; 0: from now on */
    bool want_previous;     /* the value before each event, if it is not compacted */
    bool want_progress;     /* PROGRESS every ten minutes or so when nothing happens */
};

struct kv_event {
    bool is_delete;
    struct kv_pair kv;       /* a delete has key and mod_revision alone */
    struct kv_pair previous; /* version 0: none, or not asked for */
};

enum kv_watch_kind {
    KV_WATCH_LIVE,      /* the server has taken the watch; again after each reconnect */
    KV_WATCH_EVENTS,    /* one or more; none: the revision of the last ones is complete */
    KV_WATCH_PROGRESS,  /* all events up to `revision` have been delivered */
    KV_WATCH_BROKEN,    /* the stream is lost; it comes back by itself. `message` says why */
    KV_WATCH_COMPACTED, /* the end: revisions before `compact_revision` are gone. List again */
    KV_WATCH_FAILED,    /* the end: refused by the server. `message` says why */
};

struct kv_watch_notice {
    enum kv_watch_kind kind;
    const struct kv_event *events;
    size_t event_count;
    bool is_part;        /* EVENTS: more events of the last revision come next */
    int64_t revision;    /* LIVE, EVENTS, PROGRESS: of the store */
    uint64_t cluster_id; /* LIVE: whose events come from now on; 0: not in the answer */
    int64_t compact_revision;
    const char *message;
};

/* Comes from the loop, never from within a call. It may make and free watches, also its own. */
typedef void kv_watch_notify(void *context, const struct kv_watch_notice *notice);

MUST_CHECK enum status kv_watch_new(struct kv_client *client, const struct kv_watch_config *config,
                                    kv_watch_notify *notify, void *context, struct kv_watch **ret);
struct kv_watch *kv_watch_free(struct kv_watch *watch); /* accepts NULL; returns NULL */

/* For a watch that is silent though it should not be: all watches of the client resume on a new
 * stream, since they share the old one. */
void kv_watch_restart(struct kv_watch *watch);

/* The first revision that was not delivered yet: where a new watch would resume. */
int64_t kv_watch_next_revision(const struct kv_watch *watch);

#endif
