/* Creates, migrates or rejects the tables; creates their partitions, one for each month of ids, so
 * that expired rows can be dropped as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

enum { SERVER_VERSION = 120000 };

/* Keeps nodes from migrating or creating partitions at the same time. Held until the end of the
 * transaction. */
#define LOCK(what)                                                                                 \
    "SELECT pg_advisory_xact_lock(1885692268, hashtext('%s' || '" what "'))" /* "peal" */

/* The first six bytes of an id are the time at which it was made. */
#define MADE_MS "('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint"
#define STRAY_CLASS(distance_ms)                                                                   \
    "width_bucket(" distance_ms ", '{10001, 80001, 640001, 5120001, 40960001, 327680001,"          \
    " 2621440001, 20971520001}'::bigint[])"

/* Turns the boolean column `stray` into a class: see stray_class in history_columns.c. */
#define CLASS_STRAYS(table, from_ms, to_ms)                                                        \
    "ALTER TABLE " table " RENAME COLUMN stray TO was_stray;"                                      \
    "ALTER TABLE " table " ADD COLUMN stray smallint NOT NULL DEFAULT 0;"                          \
    "UPDATE " table " SET stray = CASE WHEN " STRAY_CLASS(                                         \
        MADE_MS                                                                                    \
        " - " from_ms) " = 0 THEN"                                                                 \
                       " -" STRAY_CLASS(to_ms " - " MADE_MS) " WHEN " STRAY_CLASS(                 \
                           to_ms                                                                   \
                           " - " MADE_MS) " = 0 THEN " STRAY_CLASS(MADE_MS                         \
                                                                   " - " from_ms) " ELSE 9 END "   \
                                                                                  "WHERE "         \
                                                                                  "was_stray;"     \
                                                                                  "ALTER "         \
                                                                                  "TABLE " table   \
                                                                                  " DROP COLUMN "  \
                                                                                  "was_stray;"     \
                                                                                  "CREATE "        \
                                                                                  "INDEX " table   \
                                                                                  "_far ON " table \
                                                                                  " (stray, id) "  \
                                                                                  "WHERE stray "   \
                                                                                  "<> 0;"

/* migrations[v] leads from version v to v + 1. Never edit a released migration: append one. */
static const char *const migrations[] = {
    /* A row of `jobs` is a uid and a name of a job; runs and entries refer to its short key. */
    "CREATE TABLE jobs (key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, uid uuid NOT NULL,"
    " name text COLLATE \"C\" NOT NULL, UNIQUE (uid, name));"
    "CREATE INDEX jobs_name ON jobs (name);"

    "CREATE TABLE runs ("
    " id uuid PRIMARY KEY, job bigint NOT NULL, ended_ms bigint NOT NULL,"
    " tick_ms bigint NOT NULL, nonce bigint NOT NULL, fence bigint NOT NULL,"
    " job_revision bigint NOT NULL, not_before_ms bigint NOT NULL, claimed_ms bigint NOT NULL,"
    " started_ms bigint NOT NULL, finished_ms bigint NOT NULL, user_ms bigint NOT NULL,"
    " system_ms bigint NOT NULL, max_rss_kb bigint NOT NULL, output_bytes bigint NOT NULL,"
    " attempt integer NOT NULL, exit_code integer NOT NULL, term_signal integer NOT NULL,"
    " state smallint NOT NULL, reason smallint NOT NULL, cause smallint NOT NULL,"
    " stray boolean NOT NULL, output_truncated boolean NOT NULL,"
    " node text COLLATE \"C\" NOT NULL, \"by\" text COLLATE \"C\" NOT NULL,"
    " detail text COLLATE \"C\" NOT NULL) PARTITION BY RANGE (id);"
    "CREATE INDEX runs_job ON runs (job, state, id);"
    "CREATE INDEX runs_state ON runs (state, id);"
    "CREATE INDEX runs_stray ON runs (tick_ms) WHERE stray;"

    "CREATE TABLE entries ("
    " id uuid PRIMARY KEY, job bigint NOT NULL, ended_ms bigint NOT NULL,"
    " from_ms bigint NOT NULL, to_ms bigint NOT NULL, count bigint NOT NULL,"
    " recorded_ms bigint NOT NULL, state smallint NOT NULL, reason smallint NOT NULL,"
    " stray boolean NOT NULL, detail text COLLATE \"C\" NOT NULL) PARTITION BY RANGE (id);"
    "CREATE INDEX entries_job ON entries (job, state, id);"
    "CREATE INDEX entries_state ON entries (state, id);"
    "CREATE INDEX entries_stray ON entries (to_ms) WHERE stray;"

    /* `start` is the offset of the first byte in the run's kept output. */
    "CREATE TABLE output ("
    " run_id uuid NOT NULL, start bigint NOT NULL, seq integer NOT NULL, stream smallint NOT NULL,"
    " at_ms bigint NOT NULL, gap_bytes bigint NOT NULL, bytes bytea NOT NULL,"
    " PRIMARY KEY (run_id, start, seq)) PARTITION BY RANGE (run_id);"

    /* Statistics of all jobs together have the zero uid and are spread over slots, so that writers
     * do not wait for each other's row locks. */
    "CREATE TABLE stats ("
    " job_uid uuid NOT NULL, hour bigint NOT NULL, state smallint NOT NULL,"
    " bucket smallint NOT NULL, slot smallint NOT NULL, count bigint NOT NULL,"
    " sum_ms bigint NOT NULL, min_ms bigint NOT NULL, max_ms bigint NOT NULL,"
    " punctual bigint NOT NULL, late_sum_ms bigint NOT NULL,"
    " PRIMARY KEY (job_uid, hour, state, bucket, slot)) WITH (fillfactor = 70);"
    "CREATE INDEX stats_hour ON stats (hour);",

    /* The trail of changes. An absent definition is an empty text. */
    "CREATE TABLE changes ("
    " id uuid PRIMARY KEY, job_uid uuid NOT NULL, revision bigint NOT NULL, via smallint NOT NULL,"
    " action smallint NOT NULL, target_kind smallint NOT NULL,"
    " actor text COLLATE \"C\" NOT NULL, address text COLLATE \"C\" NOT NULL,"
    " request_id text COLLATE \"C\" NOT NULL, target text COLLATE \"C\" NOT NULL,"
    " job_name text COLLATE \"C\" NOT NULL, detail text COLLATE \"C\" NOT NULL,"
    " before text NOT NULL, after text NOT NULL);"
    "CREATE INDEX changes_job ON changes (job_uid, id);"
    "CREATE INDEX changes_job_name ON changes (job_name, id);"
    "CREATE INDEX changes_actor ON changes (actor, id);"
    "ALTER TABLE runs ADD COLUMN traceparent text COLLATE \"C\" NOT NULL DEFAULT '';",

    /* An index for each filter; classes of strays. */
    CLASS_STRAYS("runs", "tick_ms", "tick_ms") CLASS_STRAYS(
        "entries", "from_ms",
        "to_ms") "CREATE INDEX runs_node ON runs (node, state, id);"
                 "CREATE INDEX runs_lasting ON runs ((" POSTGRES_LASTING
                 "), id) WHERE " POSTGRES_LASTS ";"
                 "CREATE INDEX runs_reason ON runs (reason, id) WHERE reason <> 0;"
                 "CREATE INDEX entries_reason ON entries (reason, id) WHERE reason <> 0;"
                 "CREATE INDEX runs_detail ON runs (id) INCLUDE (detail) WHERE detail <> '';"
                 "CREATE INDEX entries_detail ON entries (id) INCLUDE (detail) WHERE detail <> '';",

    /* Further attempts, and several runs of one tick. */
    "ALTER TABLE runs ADD COLUMN retried boolean NOT NULL DEFAULT false,"
    " ADD COLUMN attempts integer NOT NULL DEFAULT 0,"
    " ADD COLUMN part integer NOT NULL DEFAULT 0,"
    " ADD COLUMN parts integer NOT NULL DEFAULT 0,"
    " ADD COLUMN pinned text COLLATE \"C\" NOT NULL DEFAULT '';",

    /* Workflows. */
    "ALTER TABLE runs ADD COLUMN instance uuid NOT NULL"
    " DEFAULT '00000000-0000-0000-0000-000000000000',"
    " ADD COLUMN step text COLLATE \"C\" NOT NULL DEFAULT '';",
};

enum { VERSION = sizeof(migrations) / sizeof(migrations[0]) };

/* ---- versions ---- */

/* Runs SQL text that returns a number. */
static enum status ask_number(struct postgres_link *link, const char *sql, long *ret)
{
    PGresult *result = NULL;
    enum status st = link_command(link, sql, &result);
    if (st != OK)
        return st;
    *ret = PQntuples(result) ? atol(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    return OK;
}

static enum status refuse_newer(struct postgres_link *link, long version)
{
    return link_refuse(link, E_VERSION,
                       "its schema \"%s\" was written by a newer peal (its format is %ld, this one "
                       "knows %d). Install that version here, too, or name another schema in the "
                       "history's address (schema=...).",
                       link->place->at.schema, version, VERSION);
}

/* The lock waits for another node's migration, after which nothing may be left to do. */
static enum status migrate(struct postgres_link *link)
{
    const char *schema = link->place->at.schema;
    long version = 0;
    enum status st = link_commandf(link, "BEGIN; " LOCK(""), schema);
    if (st == OK)
        st = link_commandf(link,
                           "DO $$ BEGIN IF to_regnamespace('%s') IS NULL THEN"
                           " CREATE SCHEMA %s; END IF; END $$;"
                           "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY,"
                           " applied timestamptz NOT NULL DEFAULT now())",
                           schema, schema);
    if (st == OK)
        st = ask_number(link, "SELECT coalesce(max(version), 0) FROM migrations", &version);
    for (; version < VERSION && st == OK; version++) {
        st = link_command(link, migrations[version], NULL);
        if (st == OK)
            st = link_commandf(link, "INSERT INTO migrations (version) VALUES (%ld)", version + 1);
    }
    if (st == OK && version > VERSION)
        return refuse_newer(link, version);
    return st == OK ? link_command(link, "COMMIT", NULL) : st;
}

static bool is_true(const PGresult *result, int column)
{
    return PQgetvalue(result, 0, column)[0] == 't';
}

/* Rejects an unsuitable server: too old, not UTF-8, or read-only. */
static enum status check_server(struct postgres_link *link, bool *ret_read_only, bool *ret_made)
{
    PGresult *result = NULL;
    enum status st = link_command(
        link,
        "SELECT current_setting('transaction_read_only') = 'on', to_regclass('migrations') IS NOT"
        " NULL, pg_is_in_recovery(), current_setting('server_encoding')",
        &result);
    if (st != OK)
        return st;
    bool is_replica = is_true(result, 2);
    char encoding[32];
    *ret_read_only = is_true(result, 0);
    *ret_made = is_true(result, 1);
    snprintf(encoding, sizeof(encoding), "%s", PQgetvalue(result, 0, 3));
    PQclear(result);
    if (PQserverVersion(link->conn) < SERVER_VERSION)
        return link_refuse(link, E_VERSION, "it is older than version 12, which peal needs.");
    if (strcmp(encoding, "UTF8") != 0)
        return link_refuse(link, E_VERSION,
                           "the database has the encoding %s. Name one with UTF8: CREATE DATABASE "
                           "... ENCODING 'UTF8' TEMPLATE template0.",
                           encoding);
    if (*ret_read_only && (link->use == LINK_WRITES || !*ret_made))
        return link_refuse(link, E_IO,
                           "it is read-only (%s). Name the primary in the history's address; "
                           "several hosts and target_session_attrs=read-write find it.",
                           is_replica ? "a replica" : "default_transaction_read_only is on");
    return OK;
}

enum status schema_ensure(struct postgres_link *link)
{
    bool read_only, made;
    long version = 0;
    enum status st = check_server(link, &read_only, &made);
    if (st == OK && made)
        st = ask_number(link, "SELECT coalesce(max(version), 0) FROM migrations", &version);
    if (st != OK)
        return st;
    if (version > VERSION)
        return refuse_newer(link, version);
    if (version < VERSION && !read_only)
        st = migrate(link);
    return st;
}

/* ---- months ---- */

int month_of_ms(int64_t ms)
{
    /* Counting years from March puts the leap day at the end of the year. */
    int64_t days = ms / 86400000 + 719468;
    int64_t era = days / 146097, day_of_era = days % 146097;
    int64_t year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day = day_of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * day + 2) / 153; /* 0 is March */
    return (int)((era * 400 + year) * 12 + month + 2);
}

int64_t month_start_ms(int month)
{
    int64_t year = (month - 2) / 12, from_march = (month - 2) % 12;
    int64_t era = year / 400, year_of_era = year % 400;
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * from_march + 2) / 5;
    return (era * 146097 + day_of_era - 719468) * 86400000;
}

void month_name(int month, char name[16])
{
    snprintf(name, 16, "%04d%02d", month / 12, month % 12 + 1);
}

/* An id as a quoted uuid literal. */
static void quote_id(const struct id *id, char text[40])
{
    char *to = text;
    *to++ = '\'';
    for (size_t i = 0; i < sizeof(id->bytes); i++)
        to += snprintf(to, 3, "%02x", id->bytes[i]);
    memcpy(to, "'", 2);
}

/* Attaching a table takes a weaker lock than CREATE TABLE ... PARTITION OF: others do not wait. */
static enum status make_partition(struct postgres_link *link, const char *table, int month)
{
    char name[16], from[40], to[40];
    struct id first = history_id_at(month_start_ms(month));
    struct id next = history_id_at(month_start_ms(month + 1));
    month_name(month, name);
    quote_id(&first, from);
    quote_id(&next, to);
    if (month_of_ms(history_id_made_ms(&next)) == month) /* the last month that ids can hold */
        strcpy(to, "MAXVALUE");
    return link_commandf(link,
                         "CREATE TABLE %s_%s (LIKE %s INCLUDING ALL);"
                         "ALTER TABLE %s ATTACH PARTITION %s_%s FOR VALUES FROM (%s) TO (%s)",
                         table, name, table, table, table, name, from, to);
}

static enum status make_month(struct postgres_link *link, int month)
{
    static const char *const tables[] = {"runs", "entries", "output"};
    char sql[128], name[16];
    long is_there = 0;
    month_name(month, name);
    snprintf(sql, sizeof(sql), "SELECT count(to_regclass('runs_%s'))", name);
    enum status st = link_commandf(link, "BEGIN; " LOCK(" months"), link->place->at.schema);
    if (st == OK)
        st = ask_number(link, sql, &is_there);
    for (size_t i = 0; i < 3 && st == OK && !is_there; i++)
        st = make_partition(link, tables[i], month);
    return st == OK ? link_command(link, "COMMIT", NULL) : st;
}

static bool is_known(const struct postgres_link *link, int month)
{
    for (size_t i = 0; i < link->month_count; i++) {
        if (link->months[i] == month)
            return true;
    }
    return false;
}

enum status schema_ensure_month(struct postgres_link *link, int month)
{
    if (is_known(link, month))
        return OK;
    enum status st = make_month(link, month);
    if (st != OK)
        return st;
    if (link->month_count == sizeof(link->months) / sizeof(link->months[0]))
        link->month_count = 0;
    link->months[link->month_count++] = month;
    return OK;
}

void schema_forget_months(struct postgres_link *link)
{
    link->month_count = 0;
}
