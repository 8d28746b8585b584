/* The notifier's parts:
 *
 *   notifier.c        channels, ends, the journal
 *   notifier_lane.c   the queue of one channel
 *   notifier_send.c   sending and retries
 *   notifier_past.c   what was sent or given up
 *   notifier_pings.c  pings of jobs
 *   notifier_mutes.c  mutes of jobs, and what they took */
#ifndef PEAL_NOTIFIER_INTERNAL_H
#define PEAL_NOTIFIER_INTERNAL_H

#include <sys/queue.h>

#include "clock.h"
#include "journal.h"
#include "notifier.h"
#include "table.h"

enum {
    GROUP_AFTER = 5,       /* so many messages go alone in the time of `group` */
    GROUP_FIRST_MS = 5000, /* the first group is gathered no longer than this */
};

/* A notice that waits. */
struct waiting {
    struct notice notice;
    uint64_t number; /* its number in the journal */
    size_t bytes;    /* of its frame */
    int tries;
    char *answer;          /* to the last try; NULL: none yet */
    struct boot_ms try_at; /* after a refusal: not before */
    TAILQ_ENTRY(waiting) link;
};

/* A message that was sent or given up. */
struct past {
    enum notify_event event;
    struct id id;                       /* of the run, or of the ledger's entry */
    bool is_entry, was_sent, was_muted; /* neither: given up */
    char *job, *answer;
    int64_t made_ms, ended_ms;
    int tries;    /* of the agent that has ended it */
    int64_t held; /* number of notices that it has replaced */
    size_t bytes; /* of its frame */
    TAILQ_ENTRY(past) link;
};

/* When a channel was last notified of an event of a job. */
struct told {
    struct id job_uid;
    enum notify_event event;
    int64_t at_ms;
};

/* The queue of a channel, by name. One message at a time is under way, so that a recovery does not
 * overtake its failure. */
struct lane {
    struct notifier *notifier;
    char name[CHANNEL_NAME_MAX + 1];
    struct channel *channel;                   /* NULL: no channel of that name (any more) */
    bool is_unreadable;                        /* there is one, of a newer version */
    TAILQ_HEAD(waiting_list, waiting) waiting; /* oldest first */
    struct waiting *sending;                   /* one of them; NULL: none */
    TAILQ_HEAD(past_list, past) past;          /* MESSAGES_KEPT at most, oldest first */
    size_t past_count;
    int troubles;          /* failures in a row */
    struct boot_ms try_at; /* after a failure of the receiver: not before */
    struct table told;
    int64_t alone_ms[GROUP_AFTER]; /* when the last messages were made that went alone; a ring */
    size_t alone_next;
    int64_t grouped_ms; /* until when the last group was gathered; 0: none */
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
    struct pinger *pinger;
    struct lane *pings; /* those that were given up; beside the lanes, and with no channel */
    struct journal *journal;
    struct loop_timer *timer;
    int wake_fd;
    struct loop_fd *wake_watch;
    TAILQ_HEAD(lanes, lane) lanes;
    struct table mutes;                      /* by the job's uid */
    TAILQ_HEAD(sample_list, sample) samples; /* under way */
    bool is_live;
    uint64_t next_number;
    size_t waiting_count, waiting_bytes;
    size_t past_bytes; /* of the journal */
    TAILQ_HEAD(unread_list, unread)
    unread; /* messages of a newer version in the journal */
    size_t unread_count, unread_bytes;
    struct strbuf frames; /* to be written to the journal */
    size_t unwritten;     /* notices in `frames` that must be synced to disk */
    bool is_disk_bad;     /* and it was logged */
};

/* ---- notifier.c ---- */

void notifier_log(const struct notifier *notifier, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The notice is sent or given up: removes it from the journal and frees it. `answer` is of the
 * receiver, or says why. */
void notifier_end(struct notifier *notifier, struct lane *lane, struct waiting *waiting,
                  bool was_sent, const char *answer, int64_t now_ms);

/* ---- notifier_past.c ---- */

/* Keeps what became of a message; the oldest one of the lane goes. NULL: out of memory. */
struct past *past_add(struct lane *lane, const struct waiting *waiting, bool was_sent,
                      const char *answer, int64_t now_ms);
void past_note_bytes(struct lane *lane, struct past *past, size_t bytes);

/* For the journal, and from it. */
json_t *past_encode(const struct lane *lane, const struct past *past);
void past_load(struct notifier *notifier, const json_t *end, size_t bytes);
void past_release(struct lane *lane);

/* ---- notifier_mutes.c ---- */

void mutes_init(struct notifier *notifier);
void mutes_release(struct notifier *notifier);

/* Keeps that the mute has taken a message. */
void lane_note_muted(struct lane *lane, const struct notice *notice, const struct mute *mute);

/* ---- notifier_pings.c ---- */

MUST_CHECK enum status pings_init(struct notifier *notifier, const struct notifier_config *config);
void pings_release(struct notifier *notifier);

/* ---- notifier_unread.c ---- */

/* Keeps a message of the journal unchanged. Too many, or out of memory: it is dropped. */
void unread_keep(struct notifier *notifier, uint64_t number, const char *payload, size_t length);
void unread_done(struct notifier *notifier, uint64_t number); /* if it is one of them */
void unread_write(const struct notifier *notifier, struct strbuf *frames);
void unread_release(struct notifier *notifier);

/* ---- notifier_lane.c ---- */

/* NULL: none of that name. */
struct lane *lane_find(const struct notifier *notifier, const char *name);

/* One that is in no list. NULL: out of memory. */
struct lane *lane_new(struct notifier *notifier, const char *name);

/* Makes it if need be; NULL: out of memory. */
struct lane *lane_get(struct notifier *notifier, const char *name);
void lane_free(struct lane *lane);

/* Until when the channel's `quiet` holds back a new notice; 0: it may be sent now. */
int64_t lane_hold_until(struct lane *lane, const struct notice *notice, int64_t now_ms);

/* The held-back notice of the same job and event, which a new one replaces; NULL: none. */
struct waiting *lane_held(const struct lane *lane, const struct notice *notice, int64_t now_ms);

/* The group that is being gathered; NULL: none. */
struct waiting *lane_group(const struct lane *lane, int64_t now_ms);

/* May another message go alone now? Then it counts; else *ret_until_ms is when a group that begins
 * with it is sent. */
bool lane_may_send_alone(struct lane *lane, int64_t now_ms, int64_t *ret_until_ms);

/* The waiting notice with the same key; NULL: none. */
struct waiting *lane_same(const struct lane *lane, const struct notice *notice);

/* Of an event that is no end, and so may be found again after a restart: was it sent, or given
 * up? */
bool lane_had(const struct lane *lane, const struct notice *notice);

/* Notes that a held-back notice counts as sent at `at_ms`, also after a restart. */
void lane_note_told(struct lane *lane, const struct notice *notice, int64_t at_ms);

/* ---- notifier_send.c ---- */

/* Sends what is due, and sets the timer for the rest. */
void notifier_pump(struct notifier *notifier);
void notifier_free_samples(struct notifier *notifier);

#endif
