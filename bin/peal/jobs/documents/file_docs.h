/* What stands beside jobs in their files: groups, calendars, channels and maintenance, each a
 * document with a `kind`. docs/JOBS.md has the format. */
#ifndef PEAL_FILE_DOCS_H
#define PEAL_FILE_DOCS_H

#include <jansson.h>

#include "definition/job_codec.h"
#include "jobs/check/job_sources.h"
#include "zone/zone_db.h"

/* In the order in which they are written. */
enum doc_type { DOC_GROUP, DOC_CALENDAR, DOC_CHANNEL, DOC_MAINTENANCE, DOC_TYPES };

/* Where a value stands in the file. */
struct doc_place {
    char *pointer; /* "/labels/zone" */
    int line, column;
};

struct file_doc {
    enum doc_type type;
    char *name;    /* of maintenance a text made of its namespace and times */
    json_t *value; /* as it is sent; a secret that is not here is a mask, or has no URL */
    json_t *shown; /* as the agent would show it: defaults left out, secrets masked */
    json_t *holes; /* by the pointer of a secret that is not here: what the file has for it */
    char *file;    /* of job_sources, which has its text */
    struct doc_place *places;
    size_t place_count;
};

struct file_docs {
    struct file_doc *items; /* by type and name, once they are complete */
    size_t count;
};

void file_docs_init(struct file_docs *docs);
void file_docs_release(struct file_docs *docs);

/* One file on its way into the documents. */
struct doc_reading {
    struct file_docs *docs;
    const char *file;      /* its name in messages */
    size_t from;           /* the first document of it */
    struct zone_db *zones; /* of calendars */
    bool has_secrets;      /* secrets are looked up in the environment and in files */
};

/* The reader for jobs_decode_file; `reading` must outlive it. */
struct document_reader doc_reader_of(struct doc_reading *reading);

/* Sorts them. E_INVALID: some are there twice, which is reported; E_NOMEM. */
MUST_CHECK enum status file_docs_settle(struct file_docs *docs, const struct job_sources *sources);

/* NULL: there is none. */
const struct file_doc *file_docs_find(const struct file_docs *docs, enum doc_type type,
                                      const char *name);

/* Where the value at the pointer stands, or what is around it; `doc` NULL: nowhere. */
struct source_place file_doc_place(const struct file_doc *doc, const char *pointer);

/* A mistake at a pointer of the document, or at its beginning: "FILE:4:13: message", with the line.
 */
void file_doc_tell(const struct file_doc *doc, const struct job_sources *sources,
                   const char *pointer, const char *message);

/* {"groups": [names], ...} of those that jobs can name: for a batch that is only checked. NULL: out
 * of memory. */
json_t *file_docs_assumed(const struct file_docs *docs);

#endif
