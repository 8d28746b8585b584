/* Sends notifications of ends: selects channels and events, journals the messages until they are
 * sent, sends and retries. Nothing blocks: a slow or dead receiver delays only its own messages.
 *
 *     end -> notices (one for each event and channel) -> journal, on disk -> sent, in order, by
 *            channel -> out of the journal
 *
 * Delivery is at least once: a notice with an unknown outcome is sent again. */
#ifndef PEAL_NOTIFIER_H
#define PEAL_NOTIFIER_H

#include "channel.h"
#include "loop.h"
#include "mute.h"
#include "notice.h"
#include "send/pinger.h"
#include "send/sender.h"
#include "zone/zone_db.h"

struct notifier;

struct notifier_config {
    const char *data_dir;
    const char *node;
    const char *public_url; /* of the console, for links; NULL: none */
    struct zone_db *zones;  /* NULL: times are in UTC */
    struct sender_config sender;
    int64_t retry_first_ms; /* 2,000: first pause before a retry; doubles each time */
    int64_t retry_last_ms;  /* 60,000: longest pause */
    size_t waiting_max;     /* 10,000 messages */
    int64_t ping_for_ms;    /* 600,000: how long a ping is retried */
    /* Of pings of jobs: see pinger.h. */
    bool (*refuses)(void *context, const struct sockaddr *address, char why[POST_WHY]);
    void *refuses_context;
    void (*log)(void *context, const char *event, const char *particulars); /* NULL: no log */
    void *log_context;
};

/* Counters of one channel, on this node, since its agent started; `waiting` and `held` are
 * current. */
struct channel_stats {
    uint64_t sent;
    uint64_t failed;   /* attempts */
    uint64_t given_up; /* messages */
    uint64_t muted;    /* likewise */
    size_t waiting;    /* including those held back */
    size_t held;       /* by `quiet` */
    int64_t sent_ms;   /* time of the last one; 0: none */
    int64_t failed_ms;
    int64_t failing_ms; /* of the first failed attempt since the last one that was sent; 0: none */
    char error[240];    /* of the last failed attempt */
};

void channel_note_failure(struct channel_stats *stats, int64_t at_ms);

/* "failing": the last attempt failed. "ok": it was sent. "idle": there was none yet. */
const char *channel_state(const struct channel_stats *stats);

/* An end, with its job's notify settings. */
struct ending {
    const struct run *run; /* or */
    const struct ledger_entry *entry;
    bool was_bad;                    /* the job's end before this one was a failure */
    bool tells_each;                 /* of every failed attempt at a tick, not of the last alone */
    const struct job_notify *notify; /* NULL: the job has none */
    const struct mute *mute;         /* of the job, while it is active; NULL: none */
    const char *timezone;            /* of the job; NULL: not known */
    int64_t jitter_ms;
    unsigned more_events; /* that others have found */
    bool is_no_end;       /* and nothing else: the run goes on, or there is none */
    const char *detail;   /* of those; NULL: none */
    const char *output;   /* its last bytes */
    size_t output_length;
    bool output_is_cut; /* the beginning is missing */
};

/* E_IO, E_VERSION, E_CORRUPT: *why says what is wrong with the journal. */
MUST_CHECK enum status notifier_new(struct loop *loop, const struct notifier_config *config,
                                    struct notifier **ret, struct strbuf *why);

/* Calls pending `done`s; unsent messages stay in the journal. */
struct notifier *notifier_free(struct notifier *notifier);

/* ---- channels ---- */

/* Takes in a document of kind CHANNEL_DOC from the feed; json NULL: deleted. */
void notifier_take_channel(struct notifier *notifier, const char *name, const char *json,
                           int64_t revision);

/* All documents are loaded: sending begins. */
void notifier_go_live(struct notifier *notifier);

/* NULL: no such channel. Valid until the next change. */
const struct channel *notifier_channel(const struct notifier *notifier, const char *name);

/* The first channel after the name `after` (NULL: the first of all); NULL: the end. */
const struct channel *notifier_next_channel(const struct notifier *notifier, const char *after);

void notifier_stats(const struct notifier *notifier, const char *name, struct channel_stats *ret);

/* ---- mutes ---- */

/* Takes in a document of kind MUTE_DOC from the feed; json NULL: deleted. */
void notifier_take_mute(struct notifier *notifier, const char *uid, const char *json,
                        int64_t revision);

/* Of a job, also one that has ended; NULL: none. Valid until the next change. */
const struct mute *notifier_mute(const struct notifier *notifier, const struct id *job_uid);

/* Walks all of them, in no order: starts with *at = 0; NULL at the end. */
const struct mute *notifier_next_mute(const struct notifier *notifier, size_t *at);

/* ---- ends ---- */

/* Would a channel be notified? Cheap; ignores time zone and output. */
bool notifier_would_tell(const struct notifier *notifier, const struct ending *ending);

/* Queues the notices of an end. */
void notifier_tell(struct notifier *notifier, const struct ending *ending, int64_t now_ms);

/* Their channel in the log of messages, a name that no channel can have. */
#define PINGS_NAME "~ping"

/* Sends a ping, beside all channels. */
void notifier_ping(struct notifier *notifier, const struct ping *ping);
struct ping_stats notifier_ping_stats(const struct notifier *notifier);

/* Calls `done`, perhaps at once, when all notices so far are on disk; or when they can't be
 * written, which is logged, and are only in memory. */
typedef void notifier_done(void *context);
void notifier_sync(struct notifier *notifier, notifier_done *done, void *context);

/* ---- trying a channel ---- */

typedef void notifier_tried(void *context, const struct outcome *outcome);

/* What a test message is about; NULL, or empty: of peal's own. */
struct sample_about {
    enum notify_event event;
    const char *job, *timezone;
    const struct job_notify *notify; /* of that job: its templates */
};

/* Sends a test message at once, without retries. E_NOMEM: `tried` is not called. */
MUST_CHECK enum status notifier_try(struct notifier *notifier, const struct channel *channel,
                                    const struct sample_about *about, int64_t now_ms,
                                    notifier_tried *tried, void *context);

/* The title and the text that it would have. E_NOMEM. */
MUST_CHECK enum status notifier_preview(const struct notifier *notifier,
                                        const struct channel *channel,
                                        const struct sample_about *about, int64_t now_ms,
                                        struct strbuf *title, struct strbuf *text);

#endif
