/* The sentences of `why`: what became of a tick, in plain words of either language. Pure. */
#ifndef PEAL_WHY_TEXT_H
#define PEAL_WHY_TEXT_H

#include "job.h"
#include "run.h"
#include "state/catalog.h"
#include "text/message.h"

struct why_answer {
    enum language language;
    int64_t tick_ms; /* NEVER_MS: there is none */
    const char *state;
    enum run_reason reason;
    struct strbuf text;
    const struct run *run;
    const struct ledger_entry *entry;
};

void why_answer_init(struct why_answer *answer, enum language language, int64_t tick_ms);

void why_tell_run(const struct run *run, int64_t now_ms, struct why_answer *answer);
/* It is due, and no node has the labels of its job's `where`. */
void why_tell_nobody(const char *where, struct why_answer *answer);
void why_tell_entry(const struct ledger_entry *entry, struct why_answer *answer);

/* What there is to say about a tick of which nothing is on record. */
struct why_facts {
    const struct catalog_job *job;
    const struct job *definition;
    int64_t tick_ms, now_ms;
    bool any_tick;               /* nobody asked for a certain tick */
    bool is_tick;                /* of the schedule as it is now */
    int64_t before_ms, after_ms; /* the nearest ticks; NEVER_MS: none */
    bool draining;
    bool nobody;          /* has the labels of the job's `where` */
    const char *doubt;    /* why the clock is not believed; NULL: it is */
    int64_t believed_ms;  /* when it will be */
    const char *calendar; /* that takes the tick out; NULL: none does */
    const char *missing;  /* a calendar of the job that is not there; NULL: all are */
};

/* What a job waits for instead of ticks; the jobs are in the order of its definition's `after`, and
 * NULL where there is none of that name. */
void why_tell_after(const struct why_facts *facts, const struct catalog_job *const *others,
                    struct why_answer *answer);

/* States besides those of runs: none, not_a_tick, upcoming, before_creation, waiting, unknown. */
void why_explain(const struct why_facts *facts, struct why_answer *answer);

#endif
