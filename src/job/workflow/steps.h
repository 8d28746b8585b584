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
    STEP_OUTPUTS_MAX = 64,  /* that one declares */
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
    unsigned given;  /* of a reference: fields that stand beside it (step_field_bit), be it with
                        their defaults, which are then used instead of that job's */
    char *workflow;  /* `workflow: NAME`: the steps of that one, as one step */
    struct job_pairs with;    /* values for the parameters of either; they may hold ${...} */
    struct step_after *after; /* none: it begins with the instance */
    size_t after_count;
    int join;   /* how many of `after` are enough; 0: all */
    char *when; /* an expression (when.h); NULL: always */
    struct step_each each;
    char **outputs; /* the keys that it writes, NULL-terminated; NULL: not declared */
    bool is_final;  /* from `finally` instead of `steps`: after all of those, however they ended */
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

/* Finds outputs that are declared and that no text of the workflow refers to. E_NOMEM. */
typedef void steps_unused_found(void *context, const struct job_step *step, const char *output);
MUST_CHECK enum status steps_find_unused(const struct job *job, steps_unused_found *found,
                                         void *context);

/* Visits the references in all texts of the steps. E_NOMEM. */
struct ref;
typedef void steps_visit_ref(void *context, const struct job_step *step, const struct ref *ref);
MUST_CHECK enum status steps_each_ref(const struct job *job, steps_visit_ref *visit, void *context);

/* What is wrong with a reference to a step inside of a workflow that is a step, OUTER/INNER; NULL:
 * nothing, or it is not known, since `find` has not such a workflow. */
typedef const struct job *steps_find_job(void *context, const char *name);
const char *steps_complain_inner(const struct job *workflow, const struct ref *ref,
                                 steps_find_job *find, void *context);

/* The bit of a field of jobs that may stand beside `job`; 0: it may not. */
struct field;
unsigned step_field_bit(const struct field *field);

/* The keys that the step can write, NULL-terminated; NULL: any. */
const char *const *step_known_outputs(const struct job_step *step);

/* What is wrong with the name of a step; NULL: nothing. */
const char *step_name_complaint(const char *name);

#endif
