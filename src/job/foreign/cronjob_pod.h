/* The pod of a CronJob: the container that runs, as a command of peal-container. */
#ifndef PEAL_CRONJOB_POD_H
#define PEAL_CRONJOB_POD_H

#include "foreign/foreign_build.h"

/* The value of a key; NULL: there is none, or no map. */
const struct node *cronjob_get(const struct node *map, const char *key);

/* The text of a key, or "". */
const char *cronjob_text(const struct node *map, const char *key);

/* A warning for each key with a value that is not among the known ones; `path` stands before it. */
MUST_CHECK enum status cronjob_note_rest(struct foreign_build *build,
                                         const struct foreign_task *task, const struct node *map,
                                         const char *path, const char *const *known);

/* Sets command and env of the definition. *ret_good is false: it can't be a job, which has been
 * noted. */
MUST_CHECK enum status cronjob_set_pod(struct foreign_build *build, const struct foreign_task *task,
                                       const struct node *pod, json_t *definition, bool *ret_good);

#endif
