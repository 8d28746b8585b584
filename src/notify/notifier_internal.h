/* The notifier's parts:
 *
 *   notifier.c        channels, ends, the journal
 *   notifier_lane.c   what waits for one channel
 *   notifier_send.c   sending, and trying again */
#ifndef PEAL_NOTIFIER_INTERNAL_H
#define PEAL_NOTIFIER_INTERNAL_H

#include <sys/queue.h>

#include "clock.h"
#include "journal.h"
#include "notifier.h"
#include "table.h"

/* A notice that waits. */
struct waiting {
    struct notice notice;
    uint64_t number; /* its place in the journal */
    size_t bytes;    /* of its frame */
    int tries;
    struct boot_ms try_at; /* not before, since it was refused */
    TAILQ_ENTRY(waiting) link;
};

/* When a channel was last told of an event of a job. */
struct told {
    struct id job_uid;
    enum notify_event event;
    int64_t at_ms;
};

/* All that is known of a channel's name. One message at a time is under way, so that a failure is
 * not overtaken by its recovery. */
struct lane {
    struct notifier *notifier;
    char name[CHANNEL_NAME_MAX + 1];
    struct channel *channel;                   /* NULL: there is none of that name (any more) */
    TAILQ_HEAD(waiting_list, waiting) waiting; /* oldest first */
    struct waiting *sending;                   /* one of them; NULL: none */
    int troubles;                              /* in a row */
    struct boot_ms try_at;                     /* not before, since the receiver has trouble */
    struct table told;
    struct channel_stats stats;
    TAILQ_ENTRY(lane) link; /* by name */
};

struct notifier {
    struct loop *loop;
    char *node, *public_url;
    struct notice_world world;
    int64_t retry_first_ms, retry_last_ms;
    size_t waiting_max;
    void (*log)(void *context, const char *event, const char *particulars);
    void *log_context;
    struct sender *sender;
    struct journal *journal;
    struct loop_timer *timer;
    int wake_fd;
    struct loop_fd *wake_watch;
    TAILQ_HEAD(lanes, lane) lanes;
    TAILQ_HEAD(sample_list, sample) samples; /* under way */
    bool is_live;
    uint64_t next_number;
    size_t waiting_count, waiting_bytes;
    TAILQ_HEAD(unread_list, unread)
    unread; /* in the journal, and only a newer peal can read them */
    size_t unread_count, unread_bytes;
    struct strbuf frames; /* to be written to the journal */
    size_t unwritten;     /* notices in them: somebody is to know when they are on disk */
    bool is_disk_bad;     /* and it was said so */
};

/* ---- notifier.c ---- */

void notifier_log(const struct notifier *notifier, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* It is sent or given up: out of the journal, and freed. */
void notifier_remove(struct notifier *notifier, struct lane *lane, struct waiting *waiting);

/* ---- notifier_unread.c ---- */

/* A message of the journal, as it is there. Too many, or out of memory: it is dropped. */
void unread_keep(struct notifier *notifier, uint64_t number, const char *payload, size_t length);
void unread_done(struct notifier *notifier, uint64_t number); /* if it is one of these */
void unread_write(const struct notifier *notifier, struct strbuf *frames);
void unread_release(struct notifier *notifier);

/* ---- notifier_lane.c ---- */

/* NULL: none of that name. */
struct lane *lane_find(const struct notifier *notifier, const char *name);

/* Makes it if need be; NULL: out of memory. */
struct lane *lane_get(struct notifier *notifier, const char *name);
void lane_free(struct lane *lane);

/* How the channel's `quiet` bears on a new notice: it goes out now (0), or not before. */
int64_t lane_hold_until(struct lane *lane, const struct notice *notice, int64_t now_ms);

/* The one that is held back already, which a new one like it takes the place of; NULL: none. */
struct waiting *lane_held(const struct lane *lane, const struct notice *notice, int64_t now_ms);

/* One with the same key; NULL: none. */
struct waiting *lane_same(const struct lane *lane, const struct notice *notice);

/* A notice that was held back is known to be told at that time, also after a restart. */
void lane_note_told(struct lane *lane, const struct notice *notice, int64_t at_ms);

/* ---- notifier_send.c ---- */

/* Sends what can be sent, and sets the timer for the rest. */
void notifier_pump(struct notifier *notifier);
void notifier_free_samples(struct notifier *notifier);

#endif
