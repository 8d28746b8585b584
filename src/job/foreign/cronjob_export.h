/* Jobs as CronJobs of Kubernetes. */
#ifndef PEAL_CRONJOB_EXPORT_H
#define PEAL_CRONJOB_EXPORT_H

#include "job.h"

struct cronjob_options {
    const char *image; /* of jobs that are no containers; NULL: those are left out */
    const char *space; /* the namespace; NULL: none is named */
    int64_t from_s;    /* ticks are compared from then on */
    struct zone_db *zones;
};

/* Appends a document of YAML for each schedule of the job. What Kubernetes lacks becomes a comment
 * in it; a job that can't be a CronJob becomes comments alone, with the reason. `name` is that of
 * the CronJob, by cronjob_name(). */
MUST_CHECK enum status cronjob_export(const struct job *job, const char *name,
                                      const struct cronjob_options *options, struct strbuf *out);

/* Appends a name that Kubernetes takes: small letters, digits and '-', CRONJOB_NAME_MAX at most: a
 * CronJob's has 52, and numbers may come behind it. */
enum { CRONJOB_NAME_MAX = 48 };
void cronjob_name(const char *job, struct strbuf *out);

#endif
