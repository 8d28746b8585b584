/* The columns of runs, ledger entries and changes: one row of a table for each, by which stores,
 * histories, other nodes and the API read and write them. A new field of a run is one more row, at
 * the end, and a migration of the tables that have it. Pure. */
#ifndef PEAL_COLUMNS_H
#define PEAL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"

/* What a column holds, and so which range it has. Enums are kept by their numbers. */
enum column_kind {
    COLUMN_ID,
    COLUMN_INT64, /* any 64 bits, signed or not */
    COLUMN_MS,    /* a time or a duration: sums and differences of a few are numbers, too */
    COLUMN_TIME,  /* a time that is shown as one */
    COLUMN_COUNT, /* not negative */
    COLUMN_INT,   /* this one and the enums are an int */
    COLUMN_WORD,  /* an enum, whose number may be one that only a newer peal has (words.h) */
    COLUMN_STATE,
    COLUMN_REASON,
    COLUMN_CAUSE,
    COLUMN_BOOL,
    COLUMN_TEXT, /* an array of char */
    COLUMN_NAME, /* the same, in which nothing needs an escape: a name is printed as it is */
};

/* Where a column is kept, and what is true of it there. A layer above may have uses of its own. */
enum column_use {
    IN_SQLITE = 1 << 0, /* rows of the store in SQLite, by this name */
    IN_ETCD = 1 << 1,   /* values of the store in etcd, in this order */
    IN_STORE = IN_SQLITE | IN_ETCD,
    /* Histories, and what nodes tell each other of theirs: IN_RECORD in this order, of which ids
     * and the job's name come first. Most keep those in ways of their own; IN_REST is what is not.
     */
    IN_RECORD = 1 << 2,
    IN_REST = 1 << 3,
    IN_HISTORY = IN_RECORD | IN_REST, /* by this name */
    IN_API = 1 << 4,                  /* by this name, and in this order */
    IDENTITY = 1 << 5, /* what the value is: never changes, and an id can't be missing */
    SINCE_2 = 1 << 6,  /* what the first peals wrote ends before it */
    SINCE_3 = 1 << 7,  /* the same, of those that wrote what is SINCE_2 */
    LATER = SINCE_2 | SINCE_3,
    /* Where the API shows null: */
    OPTIONAL = 1 << 8,     /* 0, or an empty text */
    NOT_NEGATIVE = 1 << 9, /* -1 */
    OF_RAN = 1 << 10,      /* whatever it is, unless the run has run and ended */
    COLUMN_USES = 1 << 11, /* the first that is free */
};

struct column {
    const char *name;
    enum column_kind kind;
    unsigned uses;       /* of enum column_use */
    size_t offset, size; /* in struct run, struct ledger_entry ... */
};

/* A row of the table for a struct. */
#define COLUMN(type, name, kind, field, uses)                                                      \
    {                                                                                              \
        name, COLUMN_##kind, uses, offsetof(struct type, field), sizeof(((struct type *)0)->field) \
    }

/* Those of a table that have all uses of `with`, and none of `without`. */
struct column_set {
    const struct column *columns;
    size_t count; /* of the table */
    unsigned with, without;
};

struct column_set run_columns(unsigned with, unsigned without);
struct column_set entry_columns(unsigned with, unsigned without);
struct column_set change_columns(unsigned with, unsigned without);

/* The next one of a set; NULL: the first, and no more. */
static inline const struct column *column_next(const struct column_set *set,
                                               const struct column *after)
{
    const struct column *end = set->columns + set->count;
    for (const struct column *next = after ? after + 1 : set->columns; next < end; next++) {
        if ((next->uses & (set->with | set->without)) == set->with)
            return next;
    }
    return NULL;
}

size_t column_count(const struct column_set *set);

/* ---- fields ---- */

static inline bool column_is_text(const struct column *column)
{
    return column->kind >= COLUMN_TEXT;
}

static inline bool column_is_int(const struct column *column)
{
    return column->kind >= COLUMN_INT && column->kind < COLUMN_BOOL;
}

/* The field of a record that the column is for. */
static inline const void *column_field(const struct column *column, const void *record)
{
    return (const char *)record + column->offset;
}

int64_t column_read_int(const struct column *column, const void *record); /* of no text and no id */
const char *column_read_text(const struct column *column, const void *record, size_t *ret_length);

/* The name of a state, a reason or a cause. */
const char *column_read_word(const struct column *column, const void *record);

/* False: it is beyond the range of its column, and not written. */
MUST_CHECK bool column_take_int(const struct column *column, void *record, int64_t value);
/* A number that can be no word becomes WORD_DAMAGED, one beyond its range the nearest within. */
void column_write_int(const struct column *column, void *record, int64_t value);
/* What does not fit is cut off. */
void column_write_text(const struct column *column, void *record, const void *text, size_t length);
void column_write_id(const struct column *column, void *record, const struct id *id);

#endif
