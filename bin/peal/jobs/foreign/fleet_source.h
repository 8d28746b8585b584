/* The crontabs of many machines, as collect-crontabs gathers them. */
#ifndef PEAL_FLEET_SOURCE_H
#define PEAL_FLEET_SOURCE_H

#include "jobs/definition.h"
#include "strbuf.h"

/* Reads FOLDER/HOST/{crontab, cron.d/NAME, users/USER, anacrontab} with the zone in
 * FOLDER/HOST/timezone, and adds their jobs to *jobs, which is empty: what several hosts have alike
 * is one job. Notes go to stderr, with their place, and so do the labels that the nodes need.
 * *ret_lost: number of lines that could not be read. */
MUST_CHECK enum exit_code fleet_source_read(const char *folder, const char *prefix,
                                            const struct reading *reading, struct job_list *jobs,
                                            size_t *ret_lost);

/* The same jobs, to be compared: nothing is told, and lines that can't be read are left out. */
struct fleet_lines {
    struct job_list jobs;
    char **hosts; /* of each job: "db-1,web-1" */
};
void fleet_lines_init(struct fleet_lines *lines);
void fleet_lines_release(struct fleet_lines *lines);
MUST_CHECK enum exit_code fleet_source_lines(const char *folder, const struct reading *reading,
                                             struct fleet_lines *ret);

/* Calls `take` for each host of the folder, by name, until it fails. EXIT_INVALID, reported: there
 * is none, or its name can't be a label. */
typedef enum exit_code fleet_host(void *context, const char *host);
MUST_CHECK enum exit_code fleet_source_hosts(const char *folder, fleet_host *take, void *context);

/* Sets *zone to the time zone of the host, that of this machine if it has none that is known. */
MUST_CHECK enum exit_code fleet_source_zone(const char *folder, const char *host,
                                            const struct reading *reading, struct strbuf *zone);

#endif
