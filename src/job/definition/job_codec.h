/* Jobs as text. JSON and YAML are parsed into a tree of values, which one decoder reads. */
#ifndef PEAL_JOB_CODEC_H
#define PEAL_JOB_CODEC_H

#include <jansson.h>

#include "job.h"

struct field;

struct job_list {
    struct job **items;
    size_t count;
};
void job_list_init(struct job_list *list);
void job_list_release(struct job_list *list);

/* An error in a job file: position, message and suggestion. */
struct job_error {
    int line, column;  /* from 1; 0: unknown */
    char path[96];     /* JSON pointer of the field in its job: /schedules/0; "": the job itself */
    char message[240]; /* with a suggestion where there is one */
    char hint[160];    /* the suggestion alone; "": none */
    int text_column;   /* within the text of the field, from 1; 0: unknown */
};

/* The errors of a file, in its order: the first JOB_ERRORS_MAX that were found, and how many there
 * are besides. */
enum { JOB_ERRORS_MAX = 100 };
struct job_errors {
    struct job_error *items;
    size_t count, more;
};
void job_errors_init(struct job_errors *errors);
void job_errors_release(struct job_errors *errors);

/* Reads a file: YAML (one or many documents, or a list of jobs) or JSON (which is YAML). Checks
 * every job: fields, ranges, schedules (with `zones`), either a command or a shell. An unknown
 * field is an error that suggests the nearest known one. E_INVALID: *reterr. E_TOO_LARGE: more than
 * 10 MiB, or more than a million nodes. `default_tz` is for jobs without a time zone. */
MUST_CHECK enum status jobs_decode_text(const char *text, size_t length, const char *default_tz,
                                        struct zone_db *zones, struct job_list *ret,
                                        struct job_error *reterr);

/* Is told of each job as soon as it is read, which the list has later. `forgotten`: those of this
 * file are freed, and read again. */
struct job_observer {
    void (*added)(void *context, const struct job *job); /* NULL: nobody */
    void (*forgotten)(void *context);
    void *context;
};

/* Takes the documents of a file that are no jobs: maps whose `kind` is neither "job" nor
 * "workflow". OK: taken, or its mistakes are in *errors; E_NOMEM. `forgotten`: those of this file
 * are read again. */
struct node;
struct document_reader {
    enum status (*read)(void *context, const struct node *document, struct job_errors *errors);
    void (*forgotten)(void *context);
    void *context;
};

/* Is it such a document? */
bool job_file_is_document(const struct node *node);

/* The same, with every mistake: E_INVALID, with *ret the jobs that have none, and at least one
 * error in *errors, which the caller has initialised. `reader` NULL: other documents are mistakes.
 */
MUST_CHECK enum status jobs_decode_file(const char *text, size_t length, const char *default_tz,
                                        struct zone_db *zones, const struct job_observer *observer,
                                        const struct document_reader *reader, struct job_list *ret,
                                        struct job_errors *errors);

/* Reads the text of one job for an editor. *ret is its JSON value, even if the job is invalid:
 * *reterr then has the error, and otherwise an empty message. Plain scalars other than true, false,
 * null and whole numbers stay texts: `1.10` is "1.10". E_INVALID: not YAML, or not one map; *reterr
 * says where. */
MUST_CHECK enum status job_read_text(const char *text, size_t length, const char *default_tz,
                                     struct zone_db *zones, json_t **ret, struct job_error *reterr);

/* Reads one job from a JSON value. `with_meta` accepts the fields that peal maintains (uid,
 * created_ms, ...), which are unknown fields otherwise. */
MUST_CHECK enum status job_decode_json(const json_t *value, bool with_meta, const char *default_tz,
                                       struct zone_db *zones, struct job **ret,
                                       struct job_error *reterr);

/* The fields that differ from the defaults. NULL when out of memory. */
json_t *job_encode_json(const struct job *job, bool with_meta);

/* The default of a field that is not a group; NULL: not a fixed value, but described by the field's
 * `unset`, or out of memory. */
json_t *job_field_default(const struct field *field);

/* Which kinds of fields differ between two definitions, encoded without meta. */
struct job_changes {
    bool any;
    bool ticks; /* fields that determine the ticks */
    bool runs;  /* fields that need the right to define: what runs, and as which user */
    bool after; /* the field `after` */
    bool steps; /* the steps of a workflow */
};
struct job_changes job_changes_find(const json_t *from, const json_t *to);

/* Compact JSON for the store, with meta; NULL when out of memory. */
char *job_encode_text(const struct job *job);

/* The same without meta. */
char *job_encode_definition(const struct job *job);

/* Reads a definition from the store. E_INVALID: damaged, or of a version with other fields; *reterr
 * says where. `zones` NULL: does not parse the schedules, which were checked when written. */
MUST_CHECK enum status job_decode_stored(const char *text, struct zone_db *zones, struct job **ret,
                                         struct job_error *reterr);

/* Appends the job as a YAML document in the style of a handwritten one. */
MUST_CHECK enum status job_encode_yaml(const struct job *job, struct strbuf *out);

#endif
