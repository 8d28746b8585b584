/* Watches over one feed of changes: an implementation reads it in the order of revisions, without a
 * gap, and each change is handed to the watches that want it.
 *
 * A watch that begins further back than what was read moves the cursor back; the others know what
 * they have had. A watch is live when it was told where the feed stands.
 *
 *     PENDING -> LIVE -> ENDED (compacted)
 *        ^--------'  the connection is lost
 *
 * One reading: begin, and when its answer is there: head, change for each (or compacted), told. */
#ifndef PEAL_KV_FEED_H
#define PEAL_KV_FEED_H

#include "kv_backend.h"

struct kv_feed_watch;

struct kv_feed {
    struct kv_feed_watch *watches;
    int64_t cursor; /* the last change that was read */
    int64_t asked;  /* the change after which the current reading begins */
};

/* The base of a client's watch_new and watch_free. */
MUST_CHECK enum status kv_feed_watch_new(struct kv_feed *feed, struct kv_client *client,
                                         const struct kv_watch_config *config,
                                         kv_watch_notify *notify, void *context,
                                         struct kv_watch **ret);
void kv_feed_watch_free(struct kv_feed *feed, struct kv_watch *base);

/* The connection is there, at revision `rev`; or it is lost: all watches are told. */
void kv_feed_opened(struct kv_feed *feed, int64_t rev);
void kv_feed_broken(struct kv_feed *feed, const char *why);

/* After which change to read. */
int64_t kv_feed_begin(struct kv_feed *feed);
/* Does a watch want what lies before the cursor? Then another reading is due. */
bool kv_feed_is_behind(const struct kv_feed *feed);

/* Where the feed stands: watches become live. `floor`: the first change that is kept. */
void kv_feed_head(struct kv_feed *feed, int64_t rev, int64_t floor, uint64_t cluster_id);
/* A change. What lies between the cursor and it was compacted: who wanted that is ended. */
void kv_feed_change(struct kv_feed *feed, int64_t rev, int64_t floor, const struct kv_event *events,
                    size_t count);
/* There is none above the cursor though the feed stands at `rev`: all of them were compacted. */
void kv_feed_compacted(struct kv_feed *feed, int64_t rev, int64_t floor);
/* All changes up to `rev` were read. */
void kv_feed_told(struct kv_feed *feed, int64_t rev);

#endif
