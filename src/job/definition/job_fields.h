/* The fields of a job, as one table: the decoder and the encoder both follow it, so that neither
 * can know a field that the other does not. Other documents have tables of their own. */
#ifndef PEAL_JOB_FIELDS_H
#define PEAL_JOB_FIELDS_H

#include "job.h"

enum field_kind {
    FIELD_TEXT,      /* char *; min..max bytes */
    FIELD_SCRIPT,    /* char *; makes the job a JOB_SHELL */
    FIELD_ARGV,      /* char **, NULL-terminated */
    FIELD_SCHEDULE,  /* one text */
    FIELD_SCHEDULES, /* a list of them */
    FIELD_CALENDARS, /* a list of names */
    FIELD_AFTER,     /* struct job_after *, and their count */
    FIELD_ZONE,      /* char * */
    FIELD_SELECTOR,  /* char *, of at most max bytes */
    FIELD_TIME,      /* int64_t s, TIME_UNSET */
    FIELD_DURATION,  /* int64_t s */
    FIELD_SIZE,      /* int64_t bytes */
    FIELD_INT,       /* int */
    FIELD_INT64,     /* int64_t */
    FIELD_BOOL,      /* bool */
    FIELD_CHOICE,    /* an enum; `words` by its values */
    FIELD_UMASK,     /* int, -1: none */
    FIELD_PAIRS,     /* struct job_pairs; `complain` is asked about each name */
    FIELD_NAMES,     /* char **, NULL-terminated: a list of texts, or one; at most max */
    FIELD_SET,       /* unsigned, a bit for each of `words`: a list of them, or one */
    FIELD_ID,        /* struct id */
    FIELD_GROUP,     /* a map of `fields`; the first may stand for the whole if it is `alone` */
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_kind kind;
    bool meta;     /* kept by peal, not written by people */
    bool alone;    /* first of a group: may stand for the whole */
    size_t offset; /* in struct job, or in what else the table is of */
    int64_t min, max;
    const char *const *words; /* NULL-terminated */
    const struct field *fields;
    const char *(*complain)(const char *text); /* what is wrong with it, or NULL */
};

/* In the order in which they are decoded (the zone before the times) and written. */
extern const struct field job_fields[];

/* "skip", "allow", ... as "skip, allow, queue or replace". */
void field_words(const struct field *field, char *text, size_t size);

/* The known name that is nearest to what was typed, or NULL when none is near. */
const char *field_nearest(const struct field *fields, bool with_meta, const char *typed);
const char *word_nearest(const char *const *words, const char *typed);

/* What is wrong with a job's name, or NULL; and with a channel's. */
const char *job_name_complaint(const char *name);
const char *channel_name_complaint(const char *name);

#endif
