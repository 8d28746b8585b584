/* Reads timers of systemd from unit files; never changes them. */
#ifndef PEAL_SYSTEMD_SOURCE_H
#define PEAL_SYSTEMD_SOURCE_H

#include "jobs/definition.h"

struct systemd_request {
    const char
        *file; /* a timer, a folder, what `systemctl cat` has printed, or "-": that on stdin */
    const char *prefix; /* of the names of the jobs; NULL: none */
    const char *user;   /* of services that name none; NULL: nobody in particular */
    bool is_user;       /* units of a user's own manager */
};

/* Adds their jobs to *jobs, which is empty. Of a folder, all timers in it with their drop-ins; of a
 * timer, that alone, with the services beside it. What could not be converted goes to stderr, with
 * its place. *ret_lost: number of timers that could not be read. */
MUST_CHECK enum exit_code systemd_source_read(const struct systemd_request *request,
                                              const struct reading *reading, struct job_list *jobs,
                                              size_t *ret_lost);

#endif
