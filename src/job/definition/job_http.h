/* The fields of a job that is an HTTP call: checks, and its variables. */
#ifndef PEAL_JOB_HTTP_H
#define PEAL_JOB_HTTP_H

#include <stdbool.h>

#include "job.h"

/* What is wrong with the text; NULL: nothing. */
const char *http_url_complaint(const char *url);
const char *http_method_complaint(const char *method);
const char *http_header_complaint(const char *name);
const char *http_status_complaint(const char *range);

/* A header's value must not begin another header: no CR, LF or other control characters. */
bool http_value_is_clean(const char *value);

/* GET, or POST with a body, unless the job names one. */
const char *job_http_method(const struct job *job);

/* The expected statuses as "200-299,304", appended to `out`. */
struct strbuf;
void job_http_statuses(const struct job *job, struct strbuf *out);

/* Is it a variable that every run has, or may have, from peal? `name` need not end there. */
bool job_http_has_variable(const char *name, size_t length);

#endif
