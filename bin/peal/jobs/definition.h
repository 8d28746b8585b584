/* Jobs on their way between files, people and the agent. */
#ifndef PEAL_DEFINITION_H
#define PEAL_DEFINITION_H

#include "client/client.h"
#include "definition/job_codec.h"

/* What reading a definition needs: the zones, and the zone of jobs that name none, which is the
 * agent's. */
struct reading {
    struct zone_db *zones;
    struct strbuf default_tz;
};

/* Release it in any case. `client` NULL: the zone of this machine. */
MUST_CHECK enum exit_code reading_init(struct reading *reading, struct client *client);
void reading_release(struct reading *reading);

/* Reads jobs from files, folders (*.yaml, *.yml and *.json in them) and "-" for stdin, and adds
 * them to *jobs. Every mistake is reported with its place; a name that comes twice is one, and so
 * are no jobs at all. */
MUST_CHECK enum exit_code definitions_read(const struct reading *reading, const char *const *paths,
                                           size_t count, struct job_list *jobs);

/* The same for one text; `name` is what messages call it. */
MUST_CHECK enum exit_code definitions_read_text(const struct reading *reading, const char *name,
                                                const char *text, size_t length,
                                                struct job_list *jobs);

/* A job of the API as what a person would have written. */
MUST_CHECK enum status definition_decode(const struct reading *reading, const json_t *api_job,
                                         struct job **ret);
MUST_CHECK enum status definition_yaml(const struct reading *reading, const json_t *api_job,
                                       struct strbuf *out);

/* All schedules of a job of the API in one line, or what it waits for instead: "after extract,
 * probe (always)". The second alone; empty: it has schedules. */
void definition_schedules(const json_t *api_job, struct strbuf *out);
void definition_after(const json_t *api_job, struct strbuf *out);

#endif
