/* Jobs as units of systemd: to stdout, or as files of a folder. */
#ifndef PEAL_SYSTEMD_FILES_H
#define PEAL_SYSTEMD_FILES_H

#include "jobs/definition.h"

/* Writes a timer and a service for each job, as NAME.timer and NAME.service into `folder`, which is
 * made where there is none; NULL: to stdout, as `systemctl cat` prints them. A job that can't be a
 * timer is told on stderr, with the reason. */
MUST_CHECK enum exit_code systemd_files_write(const struct job_list *jobs,
                                              const struct reading *reading, const char *folder);

#endif
