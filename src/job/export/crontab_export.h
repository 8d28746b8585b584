/* Jobs as a crontab. docs/FROM-CRONTAB.md says what is converted. */
#ifndef PEAL_CRONTAB_EXPORT_H
#define PEAL_CRONTAB_EXPORT_H

#include "job.h"

/* Appends the jobs as a crontab. Fields that cron lacks become comments at the job; a job that a
 * crontab can't express is commented out, with the reason. */
MUST_CHECK enum status crontab_export(struct job *const *jobs, size_t count, bool system,
                                      struct zone_db *zones, struct strbuf *out);

#endif
