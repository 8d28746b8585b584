/* The files that jobs were read from, for errors that are found afterwards: they are shown as
 * FILE:LINE:COLUMN, with the line. */
#ifndef PEAL_JOB_SOURCES_H
#define PEAL_JOB_SOURCES_H

#include "cli/cli.h"
#include "definition/job_codec.h"
#include "strbuf.h"
#include "table.h"

struct job_source;

struct job_sources {
    struct job_source *items;
    size_t count;
    struct table names; /* of the jobs, which must live as long: the first file that has each */
};
void job_sources_init(struct job_sources *sources);
void job_sources_release(struct job_sources *sources);

/* Adds a file and its jobs; takes the text over, which is empty afterwards. E_INVALID: other files
 * have some of the jobs, too, which is reported. E_NOMEM. */
MUST_CHECK enum status job_sources_add(struct job_sources *sources, const char *name,
                                       struct strbuf *text, const struct job_list *jobs);

/* The jobs may go: which file has a job is not known any more, unless by its text. */
void job_sources_forget_jobs(struct job_sources *sources);

/* A mistake in a field of a job; `value` is the text in it that is wrong. NULL: not known. */
struct job_mistake {
    const char *job, *field, *value, *message;
};
void job_sources_tell(const struct job_sources *sources, const struct job_mistake *mistake);

/* A mistake with its place in this file. */
void job_sources_show(const struct job_sources *sources, const char *file,
                      const struct job_error *err);

/* Where the field of a job stands, or its name if `field` is NULL or the file does not have it. */
struct source_place {
    const char *file; /* NULL: no file has the job */
    int line, column;
};
struct source_place job_sources_place(const struct job_sources *sources, const char *job,
                                      const char *field);

/* Does a file define a job of this name, be it a valid one? */
bool job_sources_have(const struct job_sources *sources, const char *job);

/* "FILE:4:13: message", the line, and a caret. */
void job_error_tell(const char *name, const char *text, const struct job_error *err);

#endif
