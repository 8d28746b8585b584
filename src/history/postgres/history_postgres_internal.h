/* The parts of the PostgreSQL backend. A `struct postgres_link` is one connection, used by one
 * thread. */
#ifndef PEAL_HISTORY_POSTGRES_INTERNAL_H
#define PEAL_HISTORY_POSTGRES_INTERNAL_H

#include <libpq-fe.h>

#include "history_columns.h"
#include "history_stats.h"
#include "pg_address.h"
#include "postgres/history_postgres.h"

struct place {
    struct pg_address at;
    struct history_server_limits limits;
};

/* ---- parameters of statements: history_postgres_params.c ---- */

enum { PARAMS_MAX = 40 };

/* Parameter values in PostgreSQL's binary form. link_run reports E_NOMEM of the calls below. */
struct params {
    int count;
    size_t at[PARAMS_MAX], length[PARAMS_MAX]; /* within `bytes`; length SIZE_MAX: SQL NULL */
    Oid types[PARAMS_MAX];
    struct strbuf bytes;
};

enum array_type { ARRAY_INT, ARRAY_ID, ARRAY_TEXT, ARRAY_BYTES };

void params_init(struct params *params);
void params_release(struct params *params);
void params_int(struct params *params, int64_t value);
void params_id(struct params *params, const struct id *id);
void params_text(struct params *params, const char *text); /* NULL: SQL NULL */
void params_null_int(struct params *params);
void params_null_ints(struct params *params); /* NULL as an array of integers */
void params_null_id(struct params *params);

/* An array: params_array, its elements, params_array_end. */
void params_array(struct params *params, enum array_type type);
void params_add_int(struct params *params, int64_t value);
void params_add_id(struct params *params, const struct id *id);
/* Invalid UTF-8 is replaced, since the database would refuse it. */
void params_add_text(struct params *params, const char *text, size_t length);
void params_add_bytes(struct params *params, const void *bytes, size_t length);
void params_array_end(struct params *params);

int64_t result_int(const PGresult *result, int row, int column); /* of any width, or a bool */
struct id result_id(const PGresult *result, int row, int column);
const char *result_bytes(const PGresult *result, int row, int column, size_t *ret_length);

/* ---- the connection: history_postgres_link.c ---- */

enum link_use { LINK_WRITES, LINK_READS };

enum statement {
    SQL_INSERT,
    SQL_UPDATE,
    SQL_SELECT,
    SQL_SELECT_OLD, /* selects rows and locks them against changes */
    SQL_DELETE,
    SQL_OLDEST_KEPT, /* id of the nth newest row of a job's keys */
    SQL_OLDER,       /* rows of a job's keys below an id */
    SQL_ENDED,       /* the same, ended before a time */
    SQL_ENDED_ALL,   /* rows of all jobs below an id that ended before a time */
    SQL_BYTES,       /* runs of a job's keys, newest first, with the size of their output */
    SQL_BYTES_ALL,   /* the same of all jobs */
    SQL_KINDS,       /* runs of a job's keys, newest first; 1: a step */
    SQL_PAGE,        /* one for each page_scope: rows of a page */
    SQL_PAGE_LAST = SQL_PAGE + 5,
    SQL_HORIZON, /* one for each page_scope: id of the nth row of the walk */
    SQL_HORIZON_LAST = SQL_HORIZON + 5,
    SQL_STRAYS, /* strays of a page, outside its span of ids */
    PER_TABLE,  /* the statements above exist for runs and for entries */
    SQL_ADD_JOBS = PER_TABLE,
    SQL_KEYS_BY_UID,
    SQL_KEYS_BY_NAME,
    SQL_KEYS_BY_TEXT,
    SQL_NEXT_JOB_UID,
    SQL_DROP_JOBS,
    SQL_DROP_JOB,
    SQL_ADD_OUTPUT,
    SQL_DELETE_OUTPUT,
    SQL_REPLACE_OUTPUT,
    SQL_READ_OUTPUT,
    SQL_ADD_STATS,
    SQL_READ_STATS,
    SQL_DELETE_STATS,
    SQL_DELETE_JOB_STATS,
    SQL_MONTHS,
    SQL_ADD_CHANGES,
    SQL_FIND_CHANGES, /* one for each change_scope */
    SQL_FIND_CHANGES_LAST = SQL_FIND_CHANGES + 3,
    SQL_DEFINITIONS,
    SQL_DELETE_CHANGES,
    STATEMENTS,
};

struct postgres_link {
    struct history_link base;
    const struct place *place;
    enum link_use use;
    int stop_fd;                           /* becomes readable to cancel a request; -1: none */
    PGconn *conn;                          /* NULL: not connected */
    bool prepared[ALL_TABLES][STATEMENTS]; /* on this connection */
    char sqlstate[6];                      /* of the last error from the server; else empty */
    int months[64];                        /* partitions that are known to exist */
    size_t month_count;
};

static inline struct postgres_link *link_of(struct history_link *link)
{
    return (struct postgres_link *)link;
}

void link_init(struct postgres_link *link, const struct place *place, enum link_use use,
               int stop_fd);
void link_close(struct postgres_link *link);

/* Connects, and creates or migrates the schema. Unless OK, base.words says why and what to do. */
MUST_CHECK enum status link_open(struct history_link *base);

/* For the functions below: E_UNREACHABLE: the connection is lost, and link->conn is NULL.
 * E_CONFLICT: a conflict with another transaction; retry the whole transaction. The caller frees
 * *ret with PQclear. */

/* Runs a prepared statement. `table` is TABLE_CHANGES for statements on changes, TABLE_RUNS for
 * other statements from PER_TABLE on. */
MUST_CHECK enum status link_run(struct postgres_link *link, enum record_table table,
                                enum statement which, const struct params *params, PGresult **ret);
MUST_CHECK enum status link_do(struct postgres_link *link, enum record_table table,
                               enum statement which, const struct params *params);
/* Runs SQL text without parameters; *ret, unless NULL, is the result of the last command. */
MUST_CHECK enum status link_command(struct postgres_link *link, const char *sql, PGresult **ret);

MUST_CHECK enum status link_commandf(struct postgres_link *link, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Rolls back the transaction, if there is one. */
void link_roll_back(struct postgres_link *link);

/* Rejects the server: closes the connection and puts the reason into base.words. */
enum status link_refuse(struct postgres_link *link, enum status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the reason and a next step: for an error of the server, or for a server that is away. */
enum status explain_failure(const struct place *place, const char *sqlstate, const char *message,
                            struct strbuf *words);
enum status explain_away(const struct place *place, const char *message, struct strbuf *words);

/* ---- the SQL: history_postgres_sql.c ---- */

void statement_text(enum record_table table, enum statement which, struct strbuf *text);

/* The columns of table_columns, each with a comma before it. */
void statement_add_columns(enum record_table table, struct strbuf *text);

enum change_scope { CHANGES_ALL, CHANGES_JOB, CHANGES_JOB_NAME, CHANGES_ACTOR };

/* Loads table_record from the columns of the row from `place` on. */
void postgres_load_record(const PGresult *result, int row, int place, enum record_table table,
                          void *record);

/* The array type for a column; params_add_column adds a record's value of it to such an array. */
static inline enum array_type column_array(const struct column *column)
{
    if (column->kind == COLUMN_ID)
        return ARRAY_ID;
    return column_is_text(column) ? ARRAY_TEXT : ARRAY_INT;
}

void params_add_column(struct params *params, const struct column *column, const void *record);

/* Loads a row of SQL_SELECT, SQL_SELECT_OLD, SQL_PAGE or SQL_STRAYS from column `first` on. */
void postgres_load_row(const PGresult *result, int row, int first, enum record_table table,
                       struct history_row *ret);

/* ---- pages: history_postgres_page_sql.c, history_postgres_pages.c ---- */

/* The index of a walk: SQL_PAGE + scope and SQL_HORIZON + scope. */
enum page_scope { PAGE_ALL, PAGE_STATES, PAGE_LASTING, PAGE_TEXT, PAGE_NODE, PAGE_JOBS };

void page_text(enum record_table table, enum page_scope scope, struct strbuf *text);
void horizon_text(enum record_table table, enum page_scope scope, struct strbuf *text);
void strays_text(enum record_table table, struct strbuf *text);

MUST_CHECK enum status postgres_read_page(struct postgres_link *link, struct history_read *read);

/* One more than the duration class of a run (lasting_class), and the condition that it has one,
 * written exactly as in the index: else the planner does not use the index. */
#define POSTGRES_LASTS "started_ms <> 0 AND finished_ms <> 0 AND finished_ms - started_ms >= 1000"
#define POSTGRES_LASTING                                                                           \
    "width_bucket(finished_ms - started_ms, '{1000, 4000, 16000, 64000, 256000, 1024000,"          \
    " 4096000, 16384000, 65536000, 262144000}'::bigint[])"

/* ---- the schema: history_postgres_schema.c ---- */

/* Creates or migrates the tables; called on a new connection. */
MUST_CHECK enum status schema_ensure(struct postgres_link *link);

/* Months are counted from year 0; the name is part of partition names: "202711". */
int month_of_ms(int64_t ms);
int64_t month_start_ms(int month);
void month_name(int month, char name[16]);

/* Creates the partitions of a month if they do not exist. */
MUST_CHECK enum status schema_ensure_month(struct postgres_link *link, int month);
void schema_forget_months(struct postgres_link *link); /* after partitions may have been dropped */

/* ---- what the requests do ---- */

MUST_CHECK enum status postgres_append(struct history_link *base,
                                       const struct history_append *append);

/* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. */
MUST_CHECK enum status postgres_read_request(struct history_link *base,
                                             struct history_request *request);

/* Adds the keys of a job (zero: any) with a name (NULL: any) to the array begun in `params`. */
MUST_CHECK enum status postgres_find_keys(struct postgres_link *link, const struct id *uid,
                                          const char *name, struct params *params, int *ret_count);

/* ---- changes: history_postgres_changes.c ---- */

/* Inserts the changes among the append's records, within the append's transaction. */
MUST_CHECK enum status postgres_add_changes(struct postgres_link *link,
                                            const struct history_append *append);
MUST_CHECK enum status postgres_read_changes(struct postgres_link *link,
                                             struct history_changes *changes);

/* Adds the text with ASCII letters in lower case, as the database's lower() does; NULL: empty. */
void postgres_add_lower(const char *text, struct strbuf *to);

enum {
    VISITS_MAX = 100 * 1000, /* changes that one search examines */
    VISITS_FIRST = 1000,     /* in its first step; each further step examines ten times as many */
};

extern const struct prune_driver postgres_prune_driver; /* history_postgres_prune.c */

#endif
