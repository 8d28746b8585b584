/* Reads a listing of the jobs of another program. */
#ifndef PEAL_FOREIGN_SOURCE_H
#define PEAL_FOREIGN_SOURCE_H

#include "foreign/foreign.h"
#include "jobs/definition.h"

typedef enum status foreign_read(const char *text, size_t length,
                                 const struct foreign_options *options, struct zone_db *zones,
                                 struct foreign *ret, struct parse_error *reterr);

struct foreign_request {
    const char *file;   /* "-": stdin */
    const char *prefix; /* of the names of the jobs; NULL: none */
    foreign_read *read; /* by program */
};

/* Prints the notes to stderr, in the language of the command; `place` stands before those that are
 * in no file of their own. */
void foreign_source_tell(struct foreign *foreign, const char *place);

/* Adds its jobs to *jobs, which is empty. What could not be converted goes to stderr, with its
 * place and the task. *ret_lost: number of tasks that could not be read. */
MUST_CHECK enum exit_code foreign_source_read(const struct foreign_request *request,
                                              const struct reading *reading, struct job_list *jobs,
                                              size_t *ret_lost);

#endif
