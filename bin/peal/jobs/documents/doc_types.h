/* The kinds of documents that files have beside jobs: one row each, for reading, comparing,
 * writing and exporting them. */
#ifndef PEAL_DOC_TYPES_H
#define PEAL_DOC_TYPES_H

#include "jobs/documents/file_docs.h"

struct doc_type_row {
    const char *kind; /* "group" */
    const char *path; /* "/groups" */
    const char *list; /* as jobs are told of them, "groups"; NULL: no job names one */
    const char *(*complain)(const char *name); /* NULL: they have no name */
    const char *const *members;                /* that people write */
    /* Checks doc->value, which has no kind and no name any more, and sets doc->shown, and a name if
     * there is none yet. E_INVALID: *reterr. */
    enum status (*read)(struct file_doc *doc, struct zone_db *zones, struct job_error *reterr);
};
extern const struct doc_type_row doc_type_rows[DOC_TYPES];

/* Finds a kind by its name; DOC_TYPES: there is none. */
enum doc_type doc_type_of(const char *kind);

/* "job, workflow, group, calendar, channel or maintenance" */
extern const char doc_type_words[];

/* *ret: what the agent shows, as `shown` of a file_doc. E_INVALID: this version can't read it. */
MUST_CHECK enum status doc_of_agent(enum doc_type type, const json_t *item, struct zone_db *zones,
                                    json_t **ret);

/* As it stands in a file: kind, name, and what it is. NULL: out of memory. */
json_t *doc_document(enum doc_type type, const char *name, json_t *shown);

/* The same of one that was read. */
json_t *file_doc_document(const struct file_doc *doc);

/* What stands for the name of maintenance, "shop 2027-01-01T00:00:00Z/2027-01-02T00:00:00Z": one
 * that has begun has no beginning, a pause no end, and "*" is the whole cluster. */
void maintenance_words(const json_t *shown, struct strbuf *out);

/* "group db-backup", in the language of the command. */
void doc_words(enum doc_type type, const char *name, struct strbuf *out);

#endif
