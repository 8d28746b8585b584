/* A plan: what would change if the jobs of some files took the place of those that an agent, or
 * other files, have. */
#ifndef PEAL_PLAN_H
#define PEAL_PLAN_H

#include <jansson.h>

#include "herd/calendar_book.h"
#include "jobs/check/job_sources.h"
#include "plan/plan_docs.h"
#include "plan/plan_gates.h"
#include "plan/plan_ticks.h"

struct plan_item {
    const char *name;
    enum plan_action action;
    const struct job *before, *after; /* NULL: there is none */
    struct source_place place;
    json_t *changes; /* owns what the fields point to */
    struct plan_field *fields;
    size_t field_count;
    const struct plan_ticks *ticks; /* NULL: they stay as they are */
    size_t together;                /* others that start in the most crowded second of its ticks */
    int64_t together_s;
    struct plan_skipped *skipped; /* of its ticks, if they change */
    size_t skipped_count;
    struct plan_crowded *crowded; /* groups of it */
    size_t crowded_count;
};

struct job_plan {
    int64_t from_s, until_s;
    struct plan_item *items;
    size_t count, same;
    size_t counts[4];                   /* by action */
    uint64_t kept, gained, lost, moved; /* ticks of the jobs whose ticks change */
    int64_t together_until_s;           /* how far starts in one second are counted */
    struct plan_clock clock;
    struct plan_docs docs;
    struct calendar_book book;  /* of before */
    struct calendar_book after; /* lies over it */
    struct plan_gates gates;    /* of the agent; empty without one */
};

void job_plan_init(struct job_plan *plan, struct zone_db *zones, int64_t from_s, int64_t until_s);
void job_plan_release(struct job_plan *plan);

/* Adds a change; `before` or `after` may be NULL, and both outlive the plan, as do `sources`. Jobs
 * that are equal are counted as same, unless a calendar of theirs changes: plan->docs is complete.
 */
MUST_CHECK enum status job_plan_add(struct job_plan *plan, const struct job *before,
                                    const struct job *after, const struct job_sources *sources);

/* Adds a job that stays as it is, if a calendar of it changes. */
MUST_CHECK enum status job_plan_touch(struct job_plan *plan, const struct job *job);

/* To be called when all were added: how their ticks change, which start together with others, and
 * what keeps them from starting. `after` and `others` are all jobs that there will be. E_INVALID: a
 * schedule can't be read. */
MUST_CHECK enum status job_plan_look_ahead(struct job_plan *plan, const struct job_list *after,
                                           const struct job_list *others);

/* The ways to print it; `detail`: single ticks, and values in full. */
MUST_CHECK enum status job_plan_print_text(const struct job_plan *plan, bool detail);
MUST_CHECK enum status job_plan_print_markdown(const struct job_plan *plan, bool detail);
MUST_CHECK enum status job_plan_print_json(const struct job_plan *plan, bool detail);

#endif
