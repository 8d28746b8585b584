/* Jobs as JSON text for the API, written from the stored text without a tree of values. */
#ifndef PEAL_JOB_TEXT_H
#define PEAL_JOB_TEXT_H

#include <stdbool.h>

#include "definition/job_secrets.h"
#include "state/catalog.h"
#include "strbuf.h"

struct mute;

/* Number of a job's open runs. */
struct job_load {
    int64_t running, queued;
    int64_t retrying; /* of the queued: attempts after the first */
};

/* What to show besides the definition, and which members. */
struct job_view {
    struct job_load load;
    const char *problem; /* why the job can't be planned; NULL: none */
    const char *warning; /* the reason of its warning (job_warning.h); NULL: none */
    const char *warning_text;
    int64_t warning_ms; /* since when; 0: not known */
    const char *fields; /* names of the members to show, separated by commas; NULL: all */
    enum secrets secrets;
    const struct mute *mute; /* NULL: none */
    int64_t now_ms;          /* for the mute alone */
};

void job_text_write(struct strbuf *out, const struct catalog_job *job, const struct job_view *view);

/* The tick that will run next, after those that are skipped on request; NEVER_MS if the job is
 * paused, deleted or can't be decoded. */
int64_t job_next_run(const struct catalog_job *job);

/* A definition of the store or the audit trail, without the fields that peal maintains. */
void definition_text_write(struct strbuf *out, const char *stored, enum secrets secrets);

#endif
