/* A notice: one event of one end, for one channel. It holds facts, not text: the text depends on
 * the channel, which may be changed while the notice waits. Pure. */
#ifndef PEAL_NOTICE_H
#define PEAL_NOTICE_H

#include <jansson.h>

#include "channel.h"
#include "run.h"

enum {
    NOTICE_OUTPUT_MAX = 1024, /* approximate bytes of output */
    NOTICE_KEY_MAX = ID_TEXT + CHANNEL_NAME_MAX + 16,
    NOTICE_JOBS_MAX = 400, /* bytes of names */
};

struct notice {
    enum notify_event event;
    char channel[CHANNEL_NAME_MAX + 1];
    bool is_sample; /* a test message: nothing happened */
    struct id id;   /* of the run, or of the ledger's entry */
    bool is_entry;  /* of ticks without a run */
    struct id job_uid;
    char job[JOB_NAME_SIZE];
    char timezone[64]; /* of the job; "": UTC */
    enum run_state state;
    enum run_reason reason;
    char detail[160];
    int64_t tick_ms, last_tick_ms;   /* equal for a run */
    int64_t count;                   /* of ticks; 1 for a run */
    int64_t started_ms, finished_ms; /* 0: not started, not finished */
    int attempt;
    int exit_code; /* -1: none */
    int term_signal;
    char node[64];
    char *output;       /* its last lines, as text; NULL: none */
    char *title, *text; /* templates of its job; NULL: as the channel has them */
    bool output_is_cut;
    int64_t made_ms;
    int64_t not_before_ms; /* held back until then by `quiet`; 0: not held */
    int64_t held;          /* number of similar notices that this one replaces */
    struct {               /* of a notice that stands for many, of different jobs and events */
        int64_t counts[NOTIFY_EVENTS]; /* all 0: it is of one */
        int64_t from_ms;               /* when the first of them was made */
        char jobs[NOTICE_JOBS_MAX];    /* the first names, "a, b" */
        bool has_more;                 /* than these names */
    } group;
};

bool notice_is_group(const struct notice *notice);
int64_t notice_group_count(const struct notice *notice);

/* Makes a group of one; takes another notice into it: its event, and the name of its job. */
void notice_group_start(struct notice *notice);
void notice_group_add(struct notice *into, const struct notice *other);

void notice_release(struct notice *notice);

/* A copy with memory of its own. False: out of memory. */
MUST_CHECK bool notice_copy(const struct notice *notice, struct notice *ret);

/* Takes copies of the templates of its job, NULL: none. Out of memory: as without. */
void notice_set_templates(struct notice *notice, const struct job_notify *notify);

/* Copy the facts; event and channel are set by the caller. */
void notice_of_run(struct notice *notice, const struct run *run);
void notice_of_entry(struct notice *notice, const struct ledger_entry *entry);
/* A made-up run of peal-sample, which has failed; as_event makes it one of that event. */
void notice_sample(struct notice *notice, const char *node, int64_t now_ms);
void notice_sample_as(struct notice *notice, enum notify_event event);

/* Keeps the end of the output as text: whole lines if there is room for one, without control
 * characters and colours; invalid UTF-8 is replaced. Out of memory: no output. */
void notice_set_output(struct notice *notice, const char *bytes, size_t length, bool is_cut);

/* The events of a run's end, as 1 << enum notify_event. `was_bad`: the end before this one, of the
 * same job, was a failure. A start counts as late after `late_ms`, in addition to its `jitter_ms`.
 * A run that a person has killed is no failure. */
unsigned run_events(const struct run *run, bool was_bad, int64_t late_ms, int64_t jitter_ms);

/* What remains of the events of a run that is one of several attempts at a tick. With `each`, every
 * failure is told, and the success after it is a recovery. Else a failure that is retried is not
 * told, but it is when its next attempt was skipped: then it was the last. */
unsigned attempt_events(const struct run *run, unsigned events, bool each);
unsigned entry_events(const struct ledger_entry *entry);

/* The idempotency key, "01J...-failure-ops": the same for the same end, event and channel, so that
 * a receiver can drop duplicates. */
void notice_key(const struct notice *notice, char key[NOTICE_KEY_MAX + 1]);
void notice_key_of(const struct id *id, enum notify_event event, const char *channel,
                   char key[NOTICE_KEY_MAX + 1]);

#define NOTIFY_EVENT_WORDS "failure, lost, recovery, late, success, too_long, too_short, overdue"

/* False: this version has no such event. */
bool notice_event_by_name(const char *name, enum notify_event *ret);

/* For the journal. E_CORRUPT: not a notice. */
json_t *notice_encode(const struct notice *notice);
MUST_CHECK enum status notice_decode(const json_t *value, struct notice *ret);

#endif
