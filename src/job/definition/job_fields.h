/* The fields of a job, as one table. The decoder, the encoder, the comparison of definitions, the
 * right to define, the masks of secrets, OpenAPI, the reference in docs/JOBS.md, the options of
 * `peal add` and the form of the console are derived from it. Other documents have tables of their
 * own. */
#ifndef PEAL_JOB_FIELDS_H
#define PEAL_JOB_FIELDS_H

#include "job.h"
#include "language.h"

enum field_kind {
    FIELD_TEXT,       /* char *; min..max bytes */
    FIELD_SCRIPT,     /* char *; makes the job a JOB_SHELL */
    FIELD_ARGV,       /* char **, NULL-terminated */
    FIELD_SCHEDULE,   /* one text */
    FIELD_SCHEDULES,  /* a list of texts */
    FIELD_CALENDARS,  /* a list of names */
    FIELD_AFTER,      /* struct job_after *, with a count */
    FIELD_ZONE,       /* char * */
    FIELD_SELECTOR,   /* char *, of at most max bytes */
    FIELD_TIME,       /* int64_t s, TIME_UNSET */
    FIELD_DURATION,   /* int64_t s */
    FIELD_SIZE,       /* int64_t bytes */
    FIELD_INT,        /* int */
    FIELD_INT64,      /* int64_t */
    FIELD_BOOL,       /* bool */
    FIELD_CHOICE,     /* an enum; `words` are its names by value */
    FIELD_UMASK,      /* int, -1: none */
    FIELD_PAIRS,      /* struct job_pairs; `complain` checks each name */
    FIELD_PARAMS,     /* struct job_params, at most max */
    FIELD_NAMES,      /* char **, NULL-terminated: a list of texts, or one text; at most max */
    FIELD_SET,        /* unsigned, a bit for each of `words`: a list of words, or one word */
    FIELD_ID,         /* struct id */
    FIELD_GROUP,      /* a map of `fields`; may be given as the value of the first if `alone` */
    FIELD_KIND,       /* of a job: only checked, since the other fields tell */
    FIELD_STEPS,      /* struct job_step *, with a count; makes the job a JOB_WORKFLOW */
    FIELD_FINALLY,    /* the same array: steps that are final */
    FIELD_STEP_AFTER, /* of a step: struct step_after *, with a count */
    FIELD_JOIN,       /* of a step: int, 0: all */
    FIELD_ITEMS,      /* of a step: char **, NULL-terminated: a list of texts, at most max */
};

/* Where a field may stand in a workflow. */
enum field_of {
    OF_WHOLE,   /* in the workflow: its schedule, its name */
    OF_EITHER,  /* in the workflow, and in a step: the environment, the time-out */
    OF_STEP,    /* in a step: the command, the retries */
    OF_NEITHER, /* in other jobs alone */
};

/* The section of the reference and of the console's form that shows a field. */
enum field_section {
    SECTION_NAME,
    SECTION_WHEN,
    SECTION_WHAT,
    SECTION_STEPS,
    SECTION_HTTP,
    SECTION_FUNCTION,
    SECTION_LIMITS,
    SECTION_HOW,
    SECTION_EXPECT,
    SECTION_NOTIFY,
    SECTION_KEPT,
};

/* The documentation of a field. */
struct field_about {
    enum field_section section;
    const char *label[LANGUAGES],
        *help[LANGUAGES];       /* by enum language; a help is one or two sentences */
    const char *unset;          /* the default in words; NULL: the row's `initial` */
    const char *sample;         /* an example of a value, or NULL */
    const char *see;            /* a link for the reference, or NULL */
    const char *option, *value; /* of `peal add`: name (NULL: no option), and name of its value
                                 * in the help (NULL: a flag) */
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_kind kind;
    bool meta;         /* maintained by peal, not written by users */
    bool alone;        /* first of a group: its value may be given instead of the map */
    bool of_ticks;     /* needs a schedule; not allowed with `after` */
    bool of_process;   /* needs a process; not allowed with `http` or `function` */
    bool numbers;      /* names, or the text, may be written as numbers */
    bool moves_ticks;  /* a change moves the ticks */
    bool defines;      /* what runs, and as which user: a change needs the right to define */
    bool secret;       /* masked for clients without that right; of pairs, only the values with
                        * names like PASSWORD */
    enum field_of of;  /* a workflow, its steps, or both; of a field that is not in a group */
    bool in_reference; /* of a step: may stand beside `job`, and is used instead of that job's */
    size_t offset;     /* in struct job, or in the table's other struct */
    int64_t min, max;
    int64_t initial;          /* the default of numbers and choices */
    const char *const *words; /* NULL-terminated */
    const struct field *fields;
    const char *(*complain)(const char *text); /* what is wrong with the text; NULL: nothing */
    const char *also; /* other names, as of other schedulers, for suggestions: "cron when" */
    const struct field_about *about; /* NULL for groups and fields that peal maintains */
};

/* The column `about` of a row. */
#define ABOUT(where, label_en, label_zh, help_en, help_zh, ...)                                    \
    .about = &(const struct field_about)                                                           \
    {                                                                                              \
        .section = (where), .label = {label_en, label_zh}, .help = {help_en, help_zh}, __VA_ARGS__ \
    }

/* In the order of decoding (the zone before the times) and of encoding. */
extern const struct field job_fields[];

/* The fields of struct job_step, besides those of job_fields that a step has (field_is_of_step). */
extern const struct field step_fields[];
bool field_is_of_step(const struct field *field);

/* Finds a field of a step in both tables; NULL: none. */
const struct field *step_field_find(const char *name, size_t length);

/* Sets the members of the object to the defaults of the table, where those are not 0. */
void fields_set_defaults(const struct field *fields, void *object);

/* Frees the members, except for arrays with a count. */
void fields_release(const struct field *fields, void *object);

/* Finds a field by name; NULL: none. Searches from *next on first, and sets *next to the field
 * after the found one, since stored definitions have the table's order. */
const struct field *field_find(const struct field *fields, const struct field **next,
                               const char *name, size_t length);

/* "skip", "allow", ... as "skip, allow, queue or replace". */
void field_words(const struct field *field, char *text, size_t size);

/* The known name nearest to the typed one; NULL: none is near. */
const char *field_nearest(const struct field *fields, bool with_meta, const char *typed);
const char *word_nearest(const char *const *words, const char *typed);

#endif
