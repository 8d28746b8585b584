/* Where the values of jobs stand in the text of a file, for errors that are found after it was
 * decoded. */
#ifndef PEAL_JOB_PLACES_H
#define PEAL_JOB_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

struct job_places;

/* Nothing of the text is kept. E_INVALID, E_TOO_LARGE: as jobs_decode_text says. */
MUST_CHECK enum status job_places_new(const char *text, size_t length, struct job_places **ret);
struct job_places *job_places_free(struct job_places *places);

/* Line and column, from 1, of the text `value` in a field of the job; without the value (or NULL)
 * of the field, without the field (or NULL) of the job's name. A field of a step is given by its
 * path: "steps/2/job". False: no such job in the file. */
bool job_places_find(const struct job_places *places, const char *job, const char *field,
                     const char *value, int *ret_line, int *ret_column);

#endif
