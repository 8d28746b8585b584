/* Runs and ledger entries as rows of tables, for the backends that store them so. */
#ifndef PEAL_HISTORY_COLUMNS_H
#define PEAL_HISTORY_COLUMNS_H

#include "columns.h"
#include "history_internal.h"

/* Runs and entries are stored alike, changes in their own way. */
enum record_table { TABLE_RUNS, TABLE_ENTRIES, TABLES, TABLE_CHANGES = TABLES, ALL_TABLES };

/* The columns of a table that are the same everywhere: of runs and entries all but id, job,
 * ended_ms and stray, of changes all but id, job_uid, before and after. */
struct column_set table_columns(enum record_table table);
/* The same after id, job_uid and, unless of changes, job_name; and those alone. */
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

/* Bytes that are no character of UTF-8 become '?': databases refuse them. */
void text_add_clean(struct strbuf *to, const char *text, size_t length);

/* A row for a record, which has its place in *row. */
void row_of_record(const struct history_record *record, struct history_row *row);

/* What runs and entries share. */
const struct id *history_row_job_uid(const struct history_row *row);
const char *history_row_job_name(const struct history_row *row);

/* An id says when its run was made, which is within seconds of its tick, so that a span of ticks is
 * a span of ids, a little wider. But for strays: retries, backfills and what an outage delayed.
 * Such a one has a class, by how far its ticks are from when it was made: beyond STRAY_MS in class
 * 1, beyond eight times as much in class 2, and so on. Those that were made before their ticks have
 * the same with a minus; those that have ticks on both sides are in STRAY_BOTH. Of a class is known
 * how far beyond a span of ticks their ids can be. It is stored: it can't be changed without a
 * migration. */
enum { STRAY_MS = 10 * 1000, STRAY_FARTHEST = 8, STRAY_BOTH = 9 };
int row_stray(const struct history_row *row); /* 0: it is none */
int stray_class(int64_t made_ms, int64_t from_ms, int64_t to_ms);

/* The ids next to the span of ticks that a query asks for; all of them if it asks for none. */
struct id_span query_ids(const struct history_query *query);

/* The ids beyond those where strays of a class can be that the query asks for; STRAY_BOTH has some
 * on both sides, those on the lower one as -STRAY_BOTH. False: nowhere. */
bool stray_ids(const struct history_query *query, int stray, struct id_span *ret);

/* How long a run lasted, as one of few classes: it is in the last whose bound it reaches. What is
 * shorter than the first, or has no duration, has none. Stored, too. */
enum { LASTING_CLASSES = 10, LASTING_FIRST_MS = 1000, LASTING_FACTOR = 4 };
int lasting_class(int64_t duration_ms); /* -1: none */

/* The states that can be in a table and are asked for, as 1 << enum run_state. */
unsigned table_states(enum record_table table, const struct history_query *query);

/* ---- output: history_pieces.c ---- */

enum {
    PIECE_BYTES = 64 * 1024, /* of output in one row */
    PIECE_MS = 100,          /* between the reads of what is put together */
};

/* Chunks are gathered into pieces, which are rows. */
struct piece {
    struct output_chunk chunk; /* its bytes are not used */
    int64_t start;             /* place of its first byte in the kept output */
    int seq;
    bool begun;
    size_t length;
    char bytes[PIECE_BYTES];
};

struct piece_sink {
    enum status (*put)(void *context, const struct id *run_id, const struct piece *piece);
    void *context;
};

/* Gives the output of a run to the sink, piece by piece; *piece is room for that. */
MUST_CHECK enum status pieces_make(const struct history_record *record, struct piece *piece,
                                   const struct piece_sink *sink);

#endif
