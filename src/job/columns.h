/* The columns of runs, ledger entries and changes: tables by which stores, histories, the protocol
 * between nodes and the API read and write these records. A new field is a row at the end of its
 * table, and a migration of each database that has it. Pure. */
#ifndef PEAL_COLUMNS_H
#define PEAL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"

/* The type of a column, which determines its range. Enums are stored as numbers. */
enum column_kind {
    COLUMN_ID,
    COLUMN_INT64, /* any 64 bits, signed or not */
    COLUMN_MS,    /* a time or a duration; sums of a few can't overflow */
    COLUMN_TIME,  /* the same range; shown as a date and time */
    COLUMN_COUNT, /* not negative */
    COLUMN_INT,   /* an int, as are all the enums below */
    COLUMN_WORD,  /* an enum; its number may be known only to a newer peal (words.h) */
    COLUMN_STATE,
    COLUMN_REASON,
    COLUMN_CAUSE,
    COLUMN_BOOL,
    COLUMN_TEXT, /* an array of char */
    COLUMN_NAME, /* the same, without characters that JSON escapes */
};

/* Where a column is stored or shown, and its properties. A layer above may add uses of its own. */
enum column_use {
    IN_SQLITE = 1 << 0, /* rows of the store in SQLite, by this name */
    IN_ETCD = 1 << 1,   /* values of the store in etcd, in this order */
    IN_STORE = IN_SQLITE | IN_ETCD,
    /* Histories, and history records between nodes: IN_RECORD, in this order. The ids and the
     * job's name come first; most formats store those specially. IN_REST marks all others. */
    IN_RECORD = 1 << 2,
    IN_REST = 1 << 3,
    IN_HISTORY = IN_RECORD | IN_REST, /* by this name */
    IN_API = 1 << 4,                  /* by this name, and in this order */
    IDENTITY = 1 << 5,                /* never changes; an id is never missing */
    SINCE_2 = 1 << 6,                 /* missing in values of the first format */
    SINCE_3 = 1 << 7,                 /* missing in values of the first and the second format */
    SINCE_4 = 1 << 8,                 /* missing in values of the first three formats */
    SINCE_5 = 1 << 12,                /* missing in values of the first four formats */
    SINCE_6 = 1 << 14,                /* missing in values of the first five formats */
    SINCE_7 = 1 << 15,                /* missing in values of the first six formats */
    SINCE_8 = 1 << 16,                /* missing in values of the first seven formats */
    LATER = SINCE_2 | SINCE_3 | SINCE_4 | SINCE_5 | SINCE_6 | SINCE_7 | SINCE_8,
    /* When the API shows null: */
    OPTIONAL = 1 << 9,      /* for 0, the empty text and the id of zeroes */
    NOT_NEGATIVE = 1 << 10, /* for -1 */
    OF_RAN = 1 << 11,       /* for any value, unless the run was started and has ended */
    OF_PARTS = 1 << 13,     /* for any value, unless the tick has several runs */
    COLUMN_USES = 1 << 17,  /* the first free bit */
};

struct column {
    const char *name;
    enum column_kind kind;
    unsigned uses;       /* bits of enum column_use */
    size_t offset, size; /* in struct run, struct ledger_entry ... */
};

/* A row of the table of `struct type`. */
#define COLUMN(type, name, kind, field, uses)                                                      \
    {                                                                                              \
        name, COLUMN_##kind, uses, offsetof(struct type, field), sizeof(((struct type *)0)->field) \
    }

/* The columns of a table that have all uses of `with` and none of `without`. */
struct column_set {
    const struct column *columns;
    size_t count; /* of the whole table */
    unsigned with, without;
};

struct column_set run_columns(unsigned with, unsigned without);
struct column_set entry_columns(unsigned with, unsigned without);
struct column_set change_columns(unsigned with, unsigned without);

/* The column after `after` (NULL: the first); NULL at the end of the set. */
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

/* The member of the record that the column describes. */
static inline const void *column_field(const struct column *column, const void *record)
{
    return (const char *)record + column->offset;
}

int64_t column_read_int(const struct column *column, const void *record); /* neither text nor id */
const char *column_read_text(const struct column *column, const void *record, size_t *ret_length);

/* The name of a state, a reason or a cause. */
const char *column_read_word(const struct column *column, const void *record);

/* False: the value is out of the column's range, and is not written. */
MUST_CHECK bool column_take_int(const struct column *column, void *record, int64_t value);
/* An impossible number of an enum becomes WORD_DAMAGED; any other is clamped to the range. */
void column_write_int(const struct column *column, void *record, int64_t value);
/* Truncates a text that is too long. */
void column_write_text(const struct column *column, void *record, const void *text, size_t length);
void column_write_id(const struct column *column, void *record, const struct id *id);

#endif
