/* Tells people of ends: decides who is told of what, keeps it on disk until it is sent, sends it,
 * and tries again. Nothing here waits for anybody: a receiver that is slow or away delays its own
 * messages alone.
 *
 *     end -> notices (one for each event and channel) -> journal, on disk -> sent, in order, by
 *            channel -> out of the journal
 *
 * A notice is sent at least once: again if it is not known whether it arrived. */
#ifndef PEAL_NOTIFIER_H
#define PEAL_NOTIFIER_H

#include "channel.h"
#include "loop.h"
#include "notice.h"
#include "sender.h"
#include "zone/zone_db.h"

struct notifier;

struct notifier_config {
    const char *data_dir;
    const char *node;
    const char *public_url; /* of the console, for links; NULL: none */
    struct zone_db *zones;  /* NULL: times are told in UTC */
    struct sender_config sender;
    int64_t retry_first_ms; /* 2,000: before it is tried again; doubles each time */
    int64_t retry_last_ms;  /* 60,000: but not longer than this */
    size_t waiting_max;     /* 10,000: messages */
    void (*log)(void *context, const char *event, const char *particulars); /* NULL: no log */
    void *log_context;
};

/* Of one channel, on this node, since its agent started; `waiting` and `held` are now. */
struct channel_stats {
    uint64_t sent;
    uint64_t failed;   /* attempts */
    uint64_t given_up; /* messages */
    size_t waiting;    /* with those that are held back */
    size_t held;       /* by `quiet` */
    int64_t sent_ms;   /* when the last was; 0: none was */
    int64_t failed_ms;
    char error[240]; /* of the attempt that failed last */
};

/* An end, and what its job says of who is told. */
struct ending {
    const struct run *run; /* or */
    const struct ledger_entry *entry;
    bool was_bad;                    /* the job's end before this was a failure */
    const struct job_notify *notify; /* NULL: the job says nothing */
    const char *timezone;            /* of the job; NULL: not known */
    int64_t jitter_ms;
    const char *output; /* its last bytes */
    size_t output_length;
    bool output_is_cut; /* there was more before */
};

/* E_IO, E_VERSION, E_CORRUPT: *why says what is wrong with the journal. */
MUST_CHECK enum status notifier_new(struct loop *loop, const struct notifier_config *config,
                                    struct notifier **ret, struct strbuf *why);

/* Answers what is waited for; what is not sent stays on disk. */
struct notifier *notifier_free(struct notifier *notifier);

/* ---- channels ---- */

/* A document of kind CHANNEL_DOC, as the feed tells it; json NULL: it is gone. */
void notifier_take_channel(struct notifier *notifier, const char *name, const char *json,
                           int64_t revision);

/* All documents are there: sending begins. */
void notifier_go_live(struct notifier *notifier);

/* NULL: there is none. Good until the next change. */
const struct channel *notifier_channel(const struct notifier *notifier, const char *name);

/* In the order of their names: the first after `after` (NULL: the first); NULL: none. */
const struct channel *notifier_next_channel(const struct notifier *notifier, const char *after);

void notifier_stats(const struct notifier *notifier, const char *name, struct channel_stats *ret);

/* ---- ends ---- */

/* Whether anybody is to hear of it: cheap, and neither time zone nor output are looked at. */
bool notifier_would_tell(const struct notifier *notifier, const struct ending *ending);

/* Queues what follows from an end. */
void notifier_tell(struct notifier *notifier, const struct ending *ending, int64_t now_ms);

/* Calls `done`, perhaps at once, when all that was told so far is on disk; or can't be written, and
 * is kept in memory alone, which the log says. */
typedef void notifier_done(void *context);
void notifier_sync(struct notifier *notifier, notifier_done *done, void *context);

/* ---- trying a channel ---- */

typedef void notifier_tried(void *context, const struct outcome *outcome);

/* Sends a sample, now, once. E_NOMEM: `tried` is not called. */
MUST_CHECK enum status notifier_try(struct notifier *notifier, const struct channel *channel,
                                    int64_t now_ms, notifier_tried *tried, void *context);

#endif
