/* The fields of a job, as one table. The decoder, the encoder, the comparison of definitions, the
 * right to define, the masks of secrets, OpenAPI, the reference in docs/JOBS.md, the options of
 * `peal add` and the form of the console follow it, so that none knows a field that another does
 * not. Other documents have tables of their own. */
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

/* Where a field is shown: the section of the reference and of the console's form. */
enum field_section {
    SECTION_NAME,
    SECTION_WHEN,
    SECTION_WHAT,
    SECTION_LIMITS,
    SECTION_HOW,
    SECTION_NOTIFY,
    SECTION_KEPT,
};

/* What people are told of a field. */
struct field_about {
    enum field_section section;
    const char *label[2], *help[2]; /* by enum language; a help is one or two sentences */
    const char *unset;              /* the default in words; NULL: the row's `initial` is it */
    const char *sample;             /* an example of a value, or NULL */
    const char *see;                /* a link for the reference, or NULL */
    const char *option, *value;     /* of `peal add`: its name, and what help calls its value (NULL:
                                     * a flag); without a name it has none */
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_kind kind;
    bool meta;        /* kept by peal, not written by people */
    bool alone;       /* first of a group: may stand for the whole */
    bool of_ticks;    /* goes with a schedule, not with `after` */
    bool moves_ticks; /* a change makes other instants due */
    bool defines;     /* what runs, and as whom: a change needs the right to define */
    bool secret;      /* masked for those without that right; of pairs, the values whose names say
                       * so */
    size_t offset;    /* in struct job, or in what else the table is of */
    int64_t min, max;
    int64_t initial;          /* the default of numbers and choices */
    const char *const *words; /* NULL-terminated */
    const struct field *fields;
    const char *(*complain)(const char *text); /* what is wrong with it, or NULL */
    const char *also; /* other words for it, and spellings of other schedulers: "cron when" */
    const struct field_about *about; /* of a job's fields that people write, but groups */
};

/* In the order in which they are decoded (the zone before the times) and written. */
extern const struct field job_fields[];

/* The field of this name, looked for from *next on and then in the whole table: what is stored has
 * its fields in the table's order. *next is then the one after it. NULL: there is none. */
const struct field *field_find(const struct field *fields, const struct field **next,
                               const char *name, size_t length);

/* "skip", "allow", ... as "skip, allow, queue or replace". */
void field_words(const struct field *field, char *text, size_t size);

/* The known name that is nearest to what was typed, or NULL when none is near. */
const char *field_nearest(const struct field *fields, bool with_meta, const char *typed);
const char *word_nearest(const char *const *words, const char *typed);

/* What is wrong with a job's name, or NULL; and with a channel's. */
const char *job_name_complaint(const char *name);
const char *channel_name_complaint(const char *name);

#endif
