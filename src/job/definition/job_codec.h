/* Jobs as text. One decoder reads a tree of values; JSON and YAML are two ways to that tree. */
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

/* A mistake in a job file: where, what, and what to do. */
struct job_error {
    int line, column;  /* from 1; 0: unknown */
    char path[96];     /* JSON pointer of the field in its job: /schedules/0; "": the job itself */
    char message[240]; /* with a suggestion where there is one */
    char hint[160];    /* that suggestion alone; "": there is none */
    int text_column;   /* in the field's own text, from 1; 0: unknown */
};

/* Reads a file's text: YAML (one or many documents, or a list of jobs) or JSON (which is YAML).
 * Every job is checked whole: fields, ranges, schedules (with `zones`), either a command or a
 * shell. Unknown fields are errors with the nearest known one. E_INVALID: *reterr. E_TOO_LARGE:
 * more than 10 MiB, or more than a million nodes. `default_tz` is for jobs without a time zone. */
MUST_CHECK enum status jobs_decode_text(const char *text, size_t length, const char *default_tz,
                                        struct zone_db *zones, struct job_list *ret,
                                        struct job_error *reterr);

/* Reads the text of one job for somebody who goes on editing it: *ret is what it says, as a JSON
 * value, also if that makes no job; *reterr then says where and why, and has no message else. Only
 * true, false, null and whole numbers are no texts there: `1.10` stays what was typed. E_INVALID:
 * it is no YAML, or no map; *reterr says where. */
MUST_CHECK enum status job_read_text(const char *text, size_t length, const char *default_tz,
                                     struct zone_db *zones, json_t **ret, struct job_error *reterr);

/* Reads one job from a JSON value (API bodies, and what the store holds). `with_meta` accepts the
 * fields that peal keeps (uid, created_ms, ...); without it they are unknown. */
MUST_CHECK enum status job_decode_json(const json_t *value, bool with_meta, const char *default_tz,
                                       struct zone_db *zones, struct job **ret,
                                       struct job_error *reterr);

/* The other way; only what differs from the defaults. NULL when out of memory. */
json_t *job_encode_json(const struct job *job, bool with_meta);

/* The default of a field that is no group; NULL: it is none that could be written down, or out of
 * memory. */
json_t *job_field_default(const struct field *field);

/* What differs between two definitions, encoded without meta. */
struct job_changes {
    bool any;   /* people see a difference */
    bool ticks; /* other instants are due */
    bool runs;  /* something else runs, or as somebody else: needs the right to define */
    bool after; /* it waits for other jobs, or other ends */
};
struct job_changes job_changes_find(const json_t *from, const json_t *to);

/* As compact JSON text for the store, with meta; NULL when out of memory. */
char *job_encode_text(const struct job *job);

/* Reads such a text. E_INVALID: damaged, or of a version with other fields; *reterr says where.
 * `zones` NULL: the schedules are not looked into, for those who know them already. */
MUST_CHECK enum status job_decode_stored(const char *text, struct zone_db *zones, struct job **ret,
                                         struct job_error *reterr);

/* As a YAML document that people would have written. */
MUST_CHECK enum status job_encode_yaml(const struct job *job, struct strbuf *out);

#endif
