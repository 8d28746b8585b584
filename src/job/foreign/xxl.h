/* Jobs of XXL-JOB, from rows of its tables. */
#ifndef PEAL_XXL_H
#define PEAL_XXL_H

#include "foreign/foreign_build.h"

/* Reads rows of xxl_job_info, and of xxl_job_group where they are there, as INSERTs, CSV or JSON;
 * see rows.h. As gocron_import otherwise. */
MUST_CHECK enum status xxl_import(const char *text, size_t length,
                                  const struct foreign_options *options, struct zone_db *zones,
                                  struct foreign *ret, struct parse_error *reterr);

/* A row on its way to a job; for xxl_job.c. */
struct xxl_job {
    struct foreign_task who;
    int64_t id;
    const char *app;    /* the executor's name; "": not known */
    const char *name;   /* of the job */
    bool is_lost;       /* an error was noted */
    json_t *definition; /* without a name and a time */
    json_t *times;      /* its own schedule, if any */
    bool is_scheduled;  /* it has one */
    struct xxl_parent *parents;
    size_t parent_count;
};

struct xxl_parent {
    const struct xxl_job *job;
};

/* Reads a number of the row; one that is missing leaves *inout as it is. Anything else loses the
 * job. */
MUST_CHECK enum status xxl_number(struct foreign_build *build, struct xxl_job *job,
                                  const char *column, int64_t least, int64_t most, int64_t *inout);

/* The definition without a name and a time; NULL with OK: an error was noted, and the job is lost.
 */
MUST_CHECK enum status xxl_definition(struct foreign_build *build, struct xxl_job *job,
                                      json_t **ret);

/* The schedule of the row, with `paused` where it is stopped. *ret_any is false: it has none. */
MUST_CHECK enum status xxl_schedule(struct foreign_build *build, struct xxl_job *job,
                                    json_t *definition, bool *ret_any);

extern const struct foreign_origin xxl_origin;

#endif
