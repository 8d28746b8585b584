/* Jobs as the API shows them, as text: a page of them is written, not built. */
#ifndef PEAL_JOB_TEXT_H
#define PEAL_JOB_TEXT_H

#include <stdbool.h>

#include "definition/job_secrets.h"
#include "state/catalog.h"
#include "strbuf.h"

/* A job's runs under way. */
struct job_load {
    int64_t running, queued;
};

/* What is shown besides the definition, and how much of that. */
struct job_view {
    struct job_load load;
    const char *problem; /* why the job can't be planned, or NULL */
    const char *fields;  /* only these members, separated by commas; NULL: all */
    enum secrets secrets;
};

void job_text_write(struct strbuf *out, const struct catalog_job *job, const struct job_view *view);

/* A definition alone, as the store or the trail has it, without what peal keeps in it. */
void definition_text_write(struct strbuf *out, const char *stored, enum secrets secrets);

/* `word`, which need not end where it is cut, is one of a list that is separated by commas. */
bool field_in_list(const char *list, const char *word, size_t length);

#endif
