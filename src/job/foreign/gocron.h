/* Tasks of gocron, one by one. */
#ifndef PEAL_GOCRON_H
#define PEAL_GOCRON_H

#include "definition/after.h"
#include "foreign/foreign_build.h"

/* A task of the listing. */
struct gocron_task {
    struct foreign_task who;
    int64_t id;
    bool is_child;                 /* level 2: it runs after others, which name it */
    bool is_lost;                  /* an error was noted */
    const char *name;              /* of the job */
    struct gocron_parent *parents; /* of a child */
    size_t parent_count;
};

struct gocron_parent {
    const struct gocron_task *task;
    enum after_on on;
};

/* Reads a number of the task. False: it is none, or not within the range, which is noted as an
 * error. A field that is missing or null leaves *inout as it is. */
MUST_CHECK enum status gocron_number(struct foreign_build *build, struct gocron_task *task,
                                     const char *field, int64_t least, int64_t most,
                                     int64_t *inout);

/* The definition of the task's job, without a name and without a time; NULL with OK: an error was
 * noted, and the task is lost. Notes what can't be converted. */
MUST_CHECK enum status gocron_definition(struct foreign_build *build, struct gocron_task *task,
                                         json_t **ret);

/* Appends the schedule for a spec of gocron: seconds first, the day of the week optional, `?` as
 * `*` in every field, and Go's durations. What is wrong with it stays in it. */
void gocron_schedule(const char *spec, struct strbuf *out);

/* The text of a field; "" if there is none. */
const char *gocron_text(const struct gocron_task *task, const char *field);

extern const struct foreign_origin gocron_origin;

#endif
