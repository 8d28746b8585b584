/* Shared by the decoders and encoders of jobs, inside this layer. */
#ifndef PEAL_JOB_INTERNAL_H
#define PEAL_JOB_INTERNAL_H

#include "job.h"
#include "job_name.h"

enum {
    JOB_SCHEDULES_MAX = 100,
    JOB_CALENDARS_MAX = 10,
};

/* Names by value of the policy; NULL at the end. */
extern const char *const overlap_names[];
extern const char *const catch_up_names[];
extern const char *const place_names[];
extern const char *const output_mode_names[];
extern const char *const retry_backoff_names[];
extern const char *const retry_notify_names[];

/* Appends a copy. */
MUST_CHECK enum status job_schedules_add(struct job *job, const char *text);
MUST_CHECK enum status job_calendars_add(struct job *job, const char *name);

/* Parses one schedule of the job. `zone_is_given`: the job has the field `timezone`, so that a time
 * zone in the schedule is an error. */
MUST_CHECK enum status job_schedule_parse(const struct job *job, size_t index, bool zone_is_given,
                                          struct zone_db *zones, struct schedule **ret,
                                          struct parse_error *reterr);

#endif
