/* Outputs of steps across workflows: references to steps of a workflow that is a step, and declared
 * outputs that nobody uses. */
#ifndef PEAL_OUTPUT_CHECK_H
#define PEAL_OUTPUT_CHECK_H

#include "jobs/check/job_sources.h"

struct output_check {
    const struct job_list *jobs;
    const struct job_sources *sources;
    const json_t *contained; /* by the name of a workflow: those that are its steps */
};

/* "steps[2].after", and its path. */
struct step_place {
    char label[48], path[48];
};
struct step_place step_place(const struct job *job, const struct job_step *step, const char *field);

/* Tells of references to what is not there; what no file has is not looked at. */
MUST_CHECK enum status output_check_references(const struct output_check *check,
                                               bool *ret_is_wrong);

/* Warns of declared outputs that no workflow of the files refers to, unless the workflow is a step
 * of one that is in no file. */
MUST_CHECK enum status output_check_unused(const struct output_check *check);

#endif
