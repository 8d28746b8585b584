/* A notice: what one channel is to be told of one end. Facts, not words: how it is written depends
 * on the channel, which may be changed while the notice waits. Pure. */
#ifndef PEAL_NOTICE_H
#define PEAL_NOTICE_H

#include <jansson.h>

#include "channel.h"
#include "run.h"

enum {
    NOTICE_OUTPUT_MAX = 1024, /* bytes of output in it, about */
    NOTICE_KEY_MAX = ID_TEXT + CHANNEL_NAME_MAX + 16,
};

struct notice {
    enum notify_event event;
    char channel[CHANNEL_NAME_MAX + 1];
    bool is_sample; /* of nothing that happened: somebody tries the channel */
    struct id id;   /* of the run, or of the ledger's entry */
    bool is_entry;  /* ticks that had no run */
    struct id job_uid;
    char job[JOB_NAME_SIZE];
    char timezone[64]; /* of the job; "": UTC */
    enum run_state state;
    enum run_reason reason;
    char detail[160];
    int64_t tick_ms, last_tick_ms;   /* the same for a run */
    int64_t count;                   /* of ticks; 1 for a run */
    int64_t started_ms, finished_ms; /* 0: it did not */
    int attempt;
    int exit_code; /* -1: none */
    int term_signal;
    char node[64];
    char *output; /* its last lines, as text; NULL: none */
    bool output_is_cut;
    int64_t made_ms;
    int64_t not_before_ms; /* held back until then; 0: it is not */
    int64_t held;          /* how many like it were held back before it */
};

void notice_release(struct notice *notice);

/* What to tell of it, and to whom, is decided before; these only take over the facts. */
void notice_of_run(struct notice *notice, const struct run *run);
void notice_of_entry(struct notice *notice, const struct ledger_entry *entry);
void notice_sample(struct notice *notice, const char *node, int64_t now_ms);

/* The end of the output as text: whole lines if there is room for one, without control characters
 * and colours; what is not UTF-8 is replaced. Out of memory: none. */
void notice_set_output(struct notice *notice, const char *bytes, size_t length, bool is_cut);

/* The events of a run's end, as 1 << enum notify_event. `was_bad`: the end before this one, of the
 * same job, was a failure. `late_ms` is how late a start counts as late; `jitter_ms` how late it
 * was meant to be. A run that a person has killed is no failure. */
unsigned run_events(const struct run *run, bool was_bad, int64_t late_ms, int64_t jitter_ms);
unsigned entry_events(const struct ledger_entry *entry);

/* "01J...-failure-ops": the same for the same end, event and channel, so that a receiver can tell
 * that it had it before. */
void notice_key(const struct notice *notice, char key[NOTICE_KEY_MAX + 1]);

/* For the disk. E_CORRUPT: it is none. */
json_t *notice_encode(const struct notice *notice);
MUST_CHECK enum status notice_decode(const json_t *value, struct notice *ret);

#endif
