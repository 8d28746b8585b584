/* The sentences of `why`: the fate of a tick, in English or Chinese. Pure. */
#ifndef PEAL_WHY_TEXT_H
#define PEAL_WHY_TEXT_H

#include "job.h"
#include "run.h"
#include "state/catalog.h"
#include "text/message.h"

struct why_answer {
    enum language language;
    int64_t tick_ms; /* NEVER_MS: none */
    const char *state;
    enum run_reason reason;
    struct strbuf text;
    const struct run *run;
    const struct ledger_entry *entry;
};

void why_answer_init(struct why_answer *answer, enum language language, int64_t tick_ms);

void why_tell_run(const struct run *run, int64_t now_ms, struct why_answer *answer);
/* The run is due, for one node alone, which does not take it now: `lack` says why not. */
void why_tell_held(const char *node, const char *lack, struct why_answer *answer);
/* The run is due, and waits for a slot of a group; `holders` are runs that have them, "": not
 * known.
 */
struct slot_wait;
void why_tell_slot(const struct slot_wait *wait, const char *holders, struct why_answer *answer);
/* Also that a function goes on after its timeout. */
void why_tell_function(const struct job *definition, const struct run *run, int64_t now_ms,
                       struct why_answer *answer);
void why_tell_entry(const struct ledger_entry *entry, struct why_answer *answer);

/* The facts about a tick without a record. */
struct why_facts {
    const struct catalog_job *job;
    const struct job *definition;
    int64_t tick_ms, now_ms;
    bool any_tick;               /* no particular tick was asked for */
    bool is_tick;                /* a tick of the current schedule */
    int64_t before_ms, after_ms; /* the nearest ticks; NEVER_MS: none */
    bool draining;
    enum run_reason hindrance; /* why no node can start runs; NONE: no reason is known */
    const char *trouble;       /* the store's own message about its trouble */
    bool nobody;               /* no node matches the job's `where`, or has the function */
    int64_t nobody_ms;         /* since when; 0: not known */
    const char *unmatched;   /* the terms of `where` that no node matches, if others are matched */
    const char *lacking;     /* nodes of its program that have not the function; "": none */
    const char *doubt;       /* why the clock is doubted; NULL: it is not */
    int64_t believed_ms;     /* when the doubt ends */
    struct calendar_out out; /* the calendar that excludes the tick */
    const struct maintenance *maintenance; /* in which it would start; NULL: none */
    const struct conditions_look *look;    /* at the conditions of the tick; NULL: it has none */
    const char *missing;                   /* a missing calendar of the job; NULL: none */
};

/* The run is due, and no node can run it. */
void why_tell_nobody(const struct why_facts *facts, struct why_answer *answer);

/* What a job with `after` waits for; `others` are in the order of its `after`, NULL for a missing
 * job. */
void why_tell_after(const struct why_facts *facts, const struct catalog_job *const *others,
                    struct why_answer *answer);

/* States besides those of runs: none, not_a_tick, upcoming, before_creation, waiting, unknown. */
void why_explain(const struct why_facts *facts, struct why_answer *answer);

#endif
