/* The crontabs of many machines, as collect-crontabs gathers them. */
#ifndef PEAL_FLEET_SOURCE_H
#define PEAL_FLEET_SOURCE_H

#include "jobs/definition.h"

/* Reads FOLDER/HOST/{crontab, cron.d/NAME, users/USER, anacrontab} with the zone in
 * FOLDER/HOST/timezone, and adds their jobs to *jobs, which is empty: what several hosts have alike
 * is one job. Notes go to stderr, with their place, and so do the labels that the nodes need.
 * *ret_lost: number of lines that could not be read. */
MUST_CHECK enum exit_code fleet_source_read(const char *folder, const char *prefix,
                                            const struct reading *reading, struct job_list *jobs,
                                            size_t *ret_lost);

#endif
