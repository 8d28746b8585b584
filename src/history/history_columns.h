/* Runs and ledger entries as rows of tables, for the backends that store them so. */
#ifndef PEAL_HISTORY_COLUMNS_H
#define PEAL_HISTORY_COLUMNS_H

#include "columns.h"
#include "history_internal.h"

/* Runs and entries are stored alike, changes in their own way. */
enum record_table { TABLE_RUNS, TABLE_ENTRIES, TABLES, TABLE_CHANGES = TABLES, ALL_TABLES };

/* The columns that every SQL backend stores alike: of runs and entries all but id, job, ended_ms
 * and stray; of changes all but id, job_uid, before and after. */
struct column_set table_columns(enum record_table table);
/* Those of them that this record has: a run that is not of a workflow has no such columns. */
struct column_set record_columns(enum record_table table, const void *record);
/* table_record: id, job_uid and (except of changes) job_name, then table_columns; table_head: the
 * columns before table_columns alone. */
struct column_set table_record(enum record_table table);
struct column_set table_head(enum record_table table);
extern const char *const table_names[ALL_TABLES];

/* The struct run or struct ledger_entry that a row holds. */
static inline void *row_record(struct history_row *row)
{
    return row->is_entry ? (void *)&row->entry : (void *)&row->run;
}

static inline enum record_table row_table(const struct history_row *row)
{
    return row->is_entry ? TABLE_ENTRIES : TABLE_RUNS;
}

/* Replaces invalid UTF-8 and NUL by '?': databases refuse them. */
void text_add_clean(struct strbuf *to, const char *text, size_t length);

/* Copies the run or entry of the record into *row. */
void row_of_record(const struct history_record *record, struct history_row *row);

/* The job's uid and name, of a run or an entry. */
const struct id *history_row_job_uid(const struct history_row *row);
const char *history_row_job_name(const struct history_row *row);

/* An id holds the time at which the run was made, usually within seconds of its tick, so a span of
 * ticks is a slightly wider span of ids. Strays are the exceptions: retries, backfills and runs
 * that an outage delayed. A stray's class tells the distance of its id from its ticks: class 1 is
 * beyond STRAY_MS, class 2 beyond eight times STRAY_MS, and so on. Negative classes were made
 * before their ticks; STRAY_BOTH has ticks on both sides. The class bounds how far outside a span
 * of ticks the ids of its strays can be. It is stored: changing it needs a migration. */
enum { STRAY_MS = 10 * 1000, STRAY_FARTHEST = 8, STRAY_BOTH = 9 };
int row_stray(const struct history_row *row); /* 0: not a stray */
int stray_class(int64_t made_ms, int64_t from_ms, int64_t to_ms);

/* The span of ids for a query's span of ticks, strays aside; all ids if the query has no span. */
struct id_span query_ids(const struct history_query *query);

/* The span of ids outside query_ids() in which strays of a class may match the query. STRAY_BOTH
 * has one on each side: -STRAY_BOTH asks for the lower one. False: there is none. */
bool stray_ids(const struct history_query *query, int stray, struct id_span *ret);

/* Classes of run durations: class n begins at LASTING_FIRST_MS * LASTING_FACTOR^n. The indexes are
 * built on these bounds: changing them needs a migration. */
enum { LASTING_CLASSES = 10, LASTING_FIRST_MS = 1000, LASTING_FACTOR = 4 };
int lasting_class(int64_t duration_ms); /* -1: shorter than class 0 */

/* The states that the table can hold and the query asks for, as 1 << enum run_state. */
unsigned table_states(enum record_table table, const struct history_query *query);

/* ---- output: history_pieces.c ---- */

enum {
    PIECE_BYTES = 64 * 1024, /* most output in one row */
    PIECE_MS = 100,          /* most time between the first and last chunk of a piece */
};

/* A row of output, gathered from chunks. */
struct piece {
    struct output_chunk chunk; /* the first chunk; its bytes are not used */
    int64_t start;             /* offset of the first byte in the kept output */
    int seq;
    bool begun;
    size_t length;
    char bytes[PIECE_BYTES];
};

struct piece_sink {
    enum status (*put)(void *context, const struct id *run_id, const struct piece *piece);
    void *context;
};

/* Passes the output of a run to the sink, piece by piece; *piece is the buffer. With the run's
 * input before it, if this is its first record: at negative offsets, and with negative numbers. */
MUST_CHECK enum status pieces_make(const struct history_record *record, bool is_first,
                                   struct piece *piece, const struct piece_sink *sink);

/* Does the record bring output or, if it is the first of its run, input? */
static inline bool record_has_pieces(const struct history_record *record, bool is_first)
{
    return record->chunk_count || (is_first && record->input_length);
}

#endif
