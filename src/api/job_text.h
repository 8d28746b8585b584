/* Jobs as the API shows them, as text: a page of them is written, not built. */
#ifndef PEAL_JOB_TEXT_H
#define PEAL_JOB_TEXT_H

#include <stdbool.h>

#include "catalog.h"
#include "strbuf.h"

/* A job's runs under way. */
struct job_load {
    int64_t running, queued;
};

/* `problem`: why the job can't be planned, or NULL. `fields`: only these members, separated by
 * commas; NULL: all. `masks`: values of `env` that are secret are asterisks. */
void job_text_write(struct strbuf *out, const struct catalog_job *job, struct job_load load,
                    const char *problem, const char *fields, bool masks);

/* `word`, which need not end where it is cut, is one of a list that is separated by commas. */
bool field_in_list(const char *list, const char *word, size_t length);

#endif
