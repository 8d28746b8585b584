/* What a successful run must show besides its end: the field `expect`. */
#ifndef PEAL_JOB_EXPECT_H
#define PEAL_JOB_EXPECT_H

#include "job.h"
#include "strbuf.h"

enum { EXPECT_PATTERN_MAX = 500, EXPECT_EXITS_MAX = 20 };

/* What is wrong with a value; NULL: nothing. */
const char *expect_exit_complaint(const char *range);
const char *expect_newer_complaint(const char *text);

extern const char *const expect_duration_names[]; /* by enum expect_duration; NULL at the end */

bool job_expects_anything(const struct job_expect *expect);

/* Is the exit code one of a success? 0 alone, unless told. */
bool job_expects_exit(const struct job_expect *expect, int code);
void job_expected_exits(const struct job_expect *expect, struct strbuf *out); /* "0,3-5" */

/* How old the file may be at the end of the run. */
enum expect_age {
    EXPECT_OF_RUN, /* written since the start of the run */
    EXPECT_WITHIN, /* *ret_s before its end */
    EXPECT_ANY_AGE,
};
enum expect_age job_expected_age(const struct job_expect *expect, int64_t *ret_s);

#endif
