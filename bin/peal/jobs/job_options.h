/* The options of `peal add` that set fields of a job, made from the table of fields. */
#ifndef PEAL_JOB_OPTIONS_H
#define PEAL_JOB_OPTIONS_H

#include <jansson.h>

#include "cli/cli.h"

enum { JOB_OPTIONS_MAX = 64 };

/* The values given, in the order of the rows. */
struct job_options {
    union job_option_value {
        bool flag;
        const char *text;
        struct option_list list;
    } values[JOB_OPTIONS_MAX];
};

/* Rows for OPTION_MADE; their places are offsets in a struct job_options. */
const struct option_row *job_option_rows(void);

/* Sets the given fields in a definition. Prints errors itself. */
MUST_CHECK enum exit_code job_options_fill(json_t *definition, const struct job_options *options);

#endif
