/* The steps of a workflow, as its definition has them. A step is a job without a schedule: what it
 * runs and how, and when in the instance. */
#ifndef PEAL_STEPS_H
#define PEAL_STEPS_H

#include "job.h"

enum {
    STEPS_MAX = 2000,
    STEPS_FIRST_MAX = 64,   /* that wait for none */
    STEP_AFTER_MAX = 256,   /* that one waits for, and that wait for one */
    STEP_WHEN_MAX = 1024,   /* bytes */
    EACH_ITEMS_MAX = 10000, /* of a fan-out */
    EACH_AT_ONCE = 16,      /* the default */
    EACH_AT_ONCE_MAX = 64,
};

/* A step that another one waits for, and how it must have ended. */
struct step_after {
    char *step;
    enum after_on on;
};

/* A fan-out: the step runs once for each item. Exactly one of the four is given. */
struct step_each {
    char **items;         /* NULL-terminated texts, which may hold ${...} */
    int64_t from, to, by; /* a range, both ends included; by 0: none is given, and the ends are
                             EACH_UNSET */
    char *of;             /* "steps.NAME.KEY": an output that is a list: JSON, or words */
    int64_t shards;       /* that many, numbered from 0 */
    int at_once;
};

struct job_step {
    char *name;      /* unique: a letter, then letters, digits, - and _ */
    struct job *job; /* what it runs, with its own policies; of a reference: what the step says
                        otherwise (timeout, retries, env, where) */
    char *ref;       /* `job: NAME`: runs what that job runs, as it is when the instance begins */
    char *workflow;  /* `workflow: NAME`: the steps of that one, as one step */
    struct job_pairs with;    /* values for the parameters of either; they may hold ${...} */
    struct step_after *after; /* none: it begins with the instance */
    size_t after_count;
    int join;   /* how many of `after` are enough; 0: all */
    char *when; /* an expression (when.h); NULL: always */
    struct step_each each;
    bool is_final; /* from `finally` instead of `steps`: after all of those, however they ended */
};

#define EACH_UNSET INT64_MIN

void job_steps_free(struct job_step *steps, size_t count);
bool step_is_fan_out(const struct job_step *step);

/* Is it a variable of the environment that every step has, or may have, from its instance? `name`
 * need not end there. */
bool step_has_variable(const char *name, size_t length);

/* Finds the steps of a checked workflow that can never run, since they need both the success and
 * the failure of another; those that only wait for such a one are not told. E_NOMEM. */
typedef void steps_dead_found(void *context, const struct job_step *step,
                              const struct job_step *other);
MUST_CHECK enum status steps_find_dead(const struct job *job, steps_dead_found *found,
                                       void *context);

/* What is wrong with the name of a step; NULL: nothing. */
const char *step_name_complaint(const char *name);

#endif
