/* Converts jobs between files and the agent's API. */
#ifndef PEAL_DEFINITION_H
#define PEAL_DEFINITION_H

#include "client/client.h"
#include "definition/job_codec.h"
#include "jobs/check/job_sources.h"
#include "jobs/documents/file_docs.h"
#include "table.h"

/* Context for decoding definitions: the zones, and the default zone of jobs, which is the
 * agent's. */
struct reading {
    struct zone_db *zones;
    struct strbuf default_tz;
    struct table names;           /* of the jobs that were read, which their list owns */
    struct job_observer observer; /* of the jobs on their way to the list; zero: none */
    struct file_docs docs;        /* what the files have beside jobs */
    bool hides_secrets; /* values of channels are not looked up where files refer to them */
};

/* Release it in any case. `client` NULL: the zone of this machine. */
MUST_CHECK enum exit_code reading_init(struct reading *reading, struct client *client);
void reading_release(struct reading *reading);

/* Reads jobs from files, folders (*.yaml, *.yml and *.json in them) and "-" for stdin, and adds
 * them to *jobs, their texts to *sources, and what else they define to reading->docs. Every mistake
 * is reported with its place; duplicate names are mistakes, and so are files that define nothing.
 * EXIT_INVALID: *jobs are those without. */
MUST_CHECK enum exit_code definitions_read(struct reading *reading, const char *const *paths,
                                           size_t count, struct job_list *jobs,
                                           struct job_sources *sources);

/* The same from files of a revision of their git repository: `paths` are files and folders of the
 * work tree. */
MUST_CHECK enum exit_code definitions_read_git(struct reading *reading, const char *revision,
                                               const char *const *paths, size_t count,
                                               struct job_list *jobs, struct job_sources *sources);

/* A job that was read; NULL: none has this name. */
const struct job *definitions_find(const struct reading *reading, const char *name);

/* Converts a job of the API to a definition as a person would write it. */
MUST_CHECK enum status definition_decode(const struct reading *reading, const json_t *api_job,
                                         struct job **ret);
MUST_CHECK enum status definition_yaml(const struct reading *reading, const json_t *api_job,
                                       struct strbuf *out);

/* For --prune: was this job of the API applied from files, none of which has it now? */
bool definition_is_pruned(const struct reading *reading, const json_t *api_job);

/* All schedules of a job of the API in one line, or its dependencies: "after extract, probe
 * (always)". definition_after: only the dependencies; empty: it has schedules. */
void definition_schedules(const json_t *api_job, struct strbuf *out);
void definition_after(const json_t *api_job, struct strbuf *out);

/* The `on` of a dependency in the language of the command: "failure". */
const char *after_word(const char *on);

#endif
