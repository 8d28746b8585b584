/* The parts of the PostgreSQL backend. A `struct link` is one connection, used by one thread. */
#ifndef PEAL_HISTORY_POSTGRES_INTERNAL_H
#define PEAL_HISTORY_POSTGRES_INTERNAL_H

#include <libpq-fe.h>

#include "history_columns.h"
#include "history_stats.h"
#include "postgres/history_postgres.h"

/* ---- where: history_postgres_place.c ---- */

struct place {
    char *conninfo;  /* the URL without what is ours */
    char schema[64]; /* a plain name: needs no quotes */
    char name[256];  /* for people: "USER@HOST:PORT/DATABASE" */
    struct history_server_limits limits;
};

MUST_CHECK enum status place_read(const char *url, const struct history_server_limits *limits,
                                  struct place *ret, struct strbuf *why);
void place_release(struct place *place);

/* ---- parameters of statements: history_postgres_params.c ---- */

enum { PARAMS_MAX = 40 };

/* Values in PostgreSQL's binary form. Out of memory is found out when they are sent. */
struct params {
    int count;
    size_t at[PARAMS_MAX], length[PARAMS_MAX]; /* in bytes; NULL values have the length SIZE_MAX */
    Oid types[PARAMS_MAX];
    struct strbuf bytes;
};

enum array_type { ARRAY_INT, ARRAY_ID, ARRAY_TEXT, ARRAY_BYTES };

void params_init(struct params *params);
void params_release(struct params *params);
void params_int(struct params *params, int64_t value);
void params_id(struct params *params, const struct id *id);
void params_text(struct params *params, const char *text); /* NULL is NULL */
void params_null_int(struct params *params);
void params_null_ints(struct params *params); /* an array of them */
void params_null_id(struct params *params);

/* One array at a time: begin, its elements, end. */
void params_array(struct params *params, enum array_type type);
void params_add_int(struct params *params, int64_t value);
void params_add_id(struct params *params, const struct id *id);
/* What is not UTF-8 is replaced: the database would refuse it. */
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
    SQL_SELECT_OLD, /* and keep others from changing them */
    SQL_DELETE,
    SQL_OLDEST_KEPT, /* id of the oldest of the newest n of jobs */
    SQL_OLDER,       /* ids of jobs that are smaller than one */
    SQL_ENDED,       /* ids of jobs that ended before a time */
    SQL_ENDED_ALL,   /* ids that ended before a time */
    SQL_BYTES,       /* ids of jobs, newest first, with how much output each has */
    SQL_BYTES_ALL,   /* the same of all jobs */
    SQL_PAGE,        /* for each page_scope: rows of a page */
    SQL_PAGE_LAST = SQL_PAGE + 5,
    SQL_HORIZON, /* for each, too: how far down so many rows reach */
    SQL_HORIZON_LAST = SQL_HORIZON + 5,
    SQL_STRAYS, /* rows of a page that are beyond its span of ids */
    PER_TABLE,  /* the ones above are there for each table */
    SQL_ADD_JOBS = PER_TABLE,
    SQL_KEYS_BY_UID,
    SQL_KEYS_BY_NAME,
    SQL_KEYS_BY_TEXT,
    SQL_NEXT_JOB_UID,
    SQL_DROP_JOBS,
    SQL_DROP_JOB,
    SQL_ADD_OUTPUT,
    SQL_DELETE_OUTPUT,
    SQL_READ_OUTPUT,
    SQL_ADD_STATS,
    SQL_READ_STATS,
    SQL_DELETE_STATS,
    SQL_DELETE_JOB_STATS,
    SQL_MONTHS,
    SQL_ADD_CHANGES,
    SQL_FIND_CHANGES, /* four ways to walk along them */
    SQL_FIND_CHANGES_LAST = SQL_FIND_CHANGES + 3,
    SQL_DEFINITIONS,
    SQL_DELETE_CHANGES,
    STATEMENTS,
};

struct link {
    struct history_link base;
    const struct place *place;
    enum link_use use;
    int stop_fd;                           /* readable: what is asked for is given up; -1: never */
    PGconn *conn;                          /* NULL: away */
    bool prepared[ALL_TABLES][STATEMENTS]; /* on this connection */
    char sqlstate[6];                      /* of what failed last, if the server said so */
    int months[64];                        /* partitions that are known to be there */
    size_t month_count;
};

static inline struct link *link_of(struct history_link *link)
{
    return (struct link *)link;
}

void link_init(struct link *link, const struct place *place, enum link_use use, int stop_fd);
void link_close(struct link *link);

/* Connects, and makes or migrates the schema. Unless OK, base.words says why and what to do. */
MUST_CHECK enum status link_open(struct history_link *base);

/* All that follow: E_UNREACHABLE: the connection is gone, and link->conn NULL. E_CONFLICT: others
 * were in the way; try the whole transaction again. *ret is the caller's to PQclear. */

/* A statement of the table below; `table` is TABLE_RUNS for those that are not there for each,
 * TABLE_CHANGES for those of changes. */
MUST_CHECK enum status link_run(struct link *link, enum record_table table, enum statement which,
                                const struct params *params, PGresult **ret);
MUST_CHECK enum status link_do(struct link *link, enum record_table table, enum statement which,
                               const struct params *params);
/* Commands as text, without parameters; *ret, unless NULL, is the result of the last of them. */
MUST_CHECK enum status link_command(struct link *link, const char *sql, PGresult **ret);

MUST_CHECK enum status link_commandf(struct link *link, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* After a failure: back to no transaction. */
void link_roll_back(struct link *link);

/* Refuses the connection as a whole: closes it, with words for why. */
enum status link_refuse(struct link *link, enum status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Words with a next step for what the server answered, or for why it did not. */
enum status explain_failure(const struct place *place, const char *sqlstate, const char *message,
                            struct strbuf *words);
enum status explain_away(const struct place *place, const char *message, struct strbuf *words);

/* ---- the SQL: history_postgres_sql.c ---- */

void statement_text(enum record_table table, enum statement which, struct strbuf *text);

/* The columns of table_columns, each with a comma before it. */
void statement_add_columns(enum record_table table, struct strbuf *text);

enum change_scope { CHANGES_ALL, CHANGES_JOB, CHANGES_JOB_NAME, CHANGES_ACTOR };

/* A row's columns from `place` on are those of table_record. */
void postgres_load_record(const PGresult *result, int row, int place, enum record_table table,
                          void *record);

/* What arrays of a column are of, and the value of a record for one row of such an array. */
static inline enum array_type column_array(const struct column *column)
{
    return column_is_text(column) ? ARRAY_TEXT : ARRAY_INT;
}

void params_add_column(struct params *params, const struct column *column, const void *record);

/* A result of SQL_SELECT, SQL_SELECT_OLD, SQL_PAGE or SQL_STRAYS: its columns from `first` on. */
void postgres_load_row(const PGresult *result, int row, int first, enum record_table table,
                       struct history_row *ret);

/* ---- pages: history_postgres_page_sql.c, history_postgres_pages.c ---- */

/* Along what the rows are walked: SQL_PAGE + ... and SQL_HORIZON + ... */
enum page_scope { PAGE_ALL, PAGE_STATES, PAGE_LASTING, PAGE_TEXT, PAGE_NODE, PAGE_JOBS };

void page_text(enum record_table table, enum page_scope scope, struct strbuf *text);
void horizon_text(enum record_table table, enum page_scope scope, struct strbuf *text);
void strays_text(enum record_table table, struct strbuf *text);

MUST_CHECK enum status postgres_read_page(struct link *link, struct history_read *read);

/* The class of a run's duration (lasting_class) and one, of those that have one; in the words of
 * the index. */
#define POSTGRES_LASTS "started_ms <> 0 AND finished_ms <> 0 AND finished_ms - started_ms >= 1000"
#define POSTGRES_LASTING                                                                           \
    "width_bucket(finished_ms - started_ms, '{1000, 4000, 16000, 64000, 256000, 1024000,"          \
    " 4096000, 16384000, 65536000, 262144000}'::bigint[])"

/* ---- the schema: history_postgres_schema.c ---- */

/* On a new connection. */
MUST_CHECK enum status schema_ensure(struct link *link);

/* A month since year 0, and its name in those of tables: "202711". */
int month_of_ms(int64_t ms);
int64_t month_start_ms(int month);
void month_name(int month, char name[16]);

/* Makes the partitions of a month. */
MUST_CHECK enum status schema_ensure_month(struct link *link, int month);
void schema_forget_months(struct link *link); /* some were dropped */

/* ---- what the requests do ---- */

MUST_CHECK enum status postgres_append(struct history_link *base,
                                       const struct history_append *append);

/* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. */
MUST_CHECK enum status postgres_read_request(struct history_link *base,
                                             struct history_request *request);

/* The keys of a job (zero: of any) under a name (NULL: any), as the elements of an array. */
MUST_CHECK enum status postgres_find_keys(struct link *link, const struct id *uid, const char *name,
                                          struct params *params, int *ret_count);

/* ---- changes: history_postgres_changes.c ---- */

/* Within the append's transaction: those of its records that are changes. */
MUST_CHECK enum status postgres_add_changes(struct link *link, const struct history_append *append);
MUST_CHECK enum status postgres_read_changes(struct link *link, struct history_changes *changes);

/* In the letters that lower() of the database makes of ASCII; NULL is nothing. */
void postgres_add_lower(const char *text, struct strbuf *to);

enum {
    VISITS_MAX = 100 * 1000, /* changes that one search looks at */
    VISITS_FIRST = 1000,     /* in its first step; each next one looks at ten times as many */
};

extern const struct prune_driver postgres_prune_driver; /* history_postgres_prune.c */

#endif
