#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sqlite/store_sqlite.h"

enum { APPLICATION_ID = 0x7065616c }; /* "peal" */

/* From version i to i + 1; never changed once released. Times are in ms, ids are 16 bytes, and
 * enums have their numbers of run.h. README.md has it in words. */
static const char *const migrations[] = {
    "CREATE TABLE jobs (uid BLOB PRIMARY KEY, revision INTEGER NOT NULL,"
    " cursor_ms INTEGER NOT NULL, last_run BLOB NOT NULL, last_started_ms INTEGER NOT NULL,"
    " last_ended_ms INTEGER NOT NULL, last_state INTEGER NOT NULL, paused INTEGER NOT NULL,"
    " deleted INTEGER NOT NULL, name TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX jobs_by_name ON jobs (name) WHERE deleted = 0;"
    /* Apart, so that moving a cursor does not rewrite a definition. */
    "CREATE TABLE definitions (uid BLOB PRIMARY KEY, json TEXT NOT NULL);"
    "CREATE TABLE runs (seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, job BLOB NOT NULL,"
    " job_name TEXT NOT NULL, tick_ms INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    " cause INTEGER NOT NULL, state INTEGER NOT NULL, reason INTEGER NOT NULL, node TEXT NOT NULL,"
    " nonce INTEGER NOT NULL, fence INTEGER NOT NULL, job_revision INTEGER NOT NULL,"
    " not_before_ms INTEGER NOT NULL, claimed_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL,"
    " finished_ms INTEGER NOT NULL, exit_code INTEGER NOT NULL, term_signal INTEGER NOT NULL,"
    " user_ms INTEGER NOT NULL, system_ms INTEGER NOT NULL, max_rss_kb INTEGER NOT NULL,"
    " output_bytes INTEGER NOT NULL, output_truncated INTEGER NOT NULL, asked_by TEXT NOT NULL,"
    " detail TEXT NOT NULL, kill_reason INTEGER NOT NULL, kill_by TEXT NOT NULL);"
    "CREATE UNIQUE INDEX runs_by_tick ON runs (job, tick_ms, attempt);"
    "CREATE INDEX runs_open ON runs (job, seq, state) WHERE state < 5;"
    "CREATE TABLE entries (id BLOB PRIMARY KEY, job BLOB NOT NULL, job_name TEXT NOT NULL,"
    " from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, count INTEGER NOT NULL,"
    " state INTEGER NOT NULL, reason INTEGER NOT NULL, detail TEXT NOT NULL,"
    " recorded_ms INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE metas (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counters VALUES ('fence', 0), ('probe', 0);",

    "ALTER TABLE entries ADD COLUMN node TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE drains (node TEXT PRIMARY KEY, asked_by TEXT NOT NULL) WITHOUT ROWID;",

    "CREATE TABLE docs (kind TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL,"
    " json TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;",

    "ALTER TABLE runs ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';",

    /* Known only where the last run succeeded. */
    "ALTER TABLE jobs ADD COLUMN succeeded_ms INTEGER NOT NULL DEFAULT 0;"
    "UPDATE jobs SET succeeded_ms = last_ended_ms WHERE last_state = 5;",

    /* The node's incarnation. */
    "ALTER TABLE runs ADD COLUMN instance BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE runs ADD COLUMN home INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE entries ADD COLUMN instance BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE entries ADD COLUMN home INTEGER NOT NULL DEFAULT 0;",

    "ALTER TABLE jobs ADD COLUMN rewinds INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN high_ms INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN gaps TEXT NOT NULL DEFAULT '';",

    /* Further attempts, and several runs of one tick. */
    "ALTER TABLE runs ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN part INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN pinned TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE runs ADD COLUMN failed_on TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE runs ADD COLUMN input BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE jobs ADD COLUMN last_retried INTEGER NOT NULL DEFAULT 0;"
    "DROP INDEX runs_by_tick;"
    "CREATE UNIQUE INDEX runs_by_tick ON runs (job, tick_ms, attempt, part);",

    /* The result of a tick with several runs. */
    "ALTER TABLE runs ADD COLUMN outcome INTEGER NOT NULL DEFAULT 0;",

    /* Ticks whose runs go one after the other. */
    "ALTER TABLE runs ADD COLUMN rolling INTEGER NOT NULL DEFAULT 0;",

    /* Workflows: the runs of an instance, and what they know of those that they wait for. */
    "ALTER TABLE runs ADD COLUMN workflow_run BLOB NOT NULL DEFAULT x'';"
    "ALTER TABLE runs ADD COLUMN step TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE runs ADD COLUMN met INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN unmet INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN made INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN expected INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN is_final INTEGER NOT NULL DEFAULT 0;",

    /* Groups. */
    "ALTER TABLE runs ADD COLUMN in_groups TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;"
    "CREATE INDEX runs_grouped ON runs (state) WHERE in_groups <> '' AND state < 5;",
};

enum { NEWEST = sizeof(migrations) / sizeof(migrations[0]) };

/* The write-ahead log is flushed at every commit, checkpointed only by sqlite_db_checkpoint, and
 * truncated then. */
static const char settings[] = "PRAGMA synchronous = FULL;"
                               "PRAGMA wal_autocheckpoint = 0;"
                               "PRAGMA journal_size_limit = 16777216;"
                               "PRAGMA cache_size = -8000;"
                               "PRAGMA secure_delete = FAST;" /* as the history's */
                               "PRAGMA temp_store = MEMORY;";

static enum status run_sql(sqlite3 *db, const char *sql, const char *path, struct strbuf *why)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? OK : sqlite_explain(db, rc, path, why);
}

enum status sqlite_ask(sqlite3 *db, const char *sql, char answer[64], const char *path,
                       struct strbuf *why)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    enum status st = OK;
    if (rc == SQLITE_ROW)
        sqlite_read_text(stmt, 0, answer, 64);
    else
        st = sqlite_explain(db, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, path, why);
    sqlite3_finalize(stmt);
    return st;
}

static enum status migrate(sqlite3 *db, int version, const char *path, struct strbuf *why)
{
    char bump[64];
    enum status st = OK;
    for (int i = version; i < NEWEST && st == OK; i++) {
        snprintf(bump, sizeof(bump), "PRAGMA user_version = %d; COMMIT;", i + 1);
        st = run_sql(db, "BEGIN IMMEDIATE", path, why);
        if (st == OK)
            st = run_sql(db, migrations[i], path, why);
        if (st == OK)
            st = run_sql(db, bump, path, why);
        if (st != OK && !sqlite3_get_autocommit(db))
            sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return st;
}

static enum status connect_to(const char *path, sqlite3 **ret, struct strbuf *why)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        enum status st = sqlite_explain(db, rc, path, why);
        sqlite3_close(db);
        return st;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, 5000);
    /* Until the file is checked, closing it must not write to it. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    *ret = db;
    return OK;
}

/* Creates the database under another name first: a peal.db is always complete, and an empty one is
 * damaged, not new. */
static enum status fill_new_file(const char *new_path, struct strbuf *why)
{
    sqlite3 *db = NULL;
    int fd = open(new_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        strbuf_addf(why, "can't make %s: %s", new_path, strerror(errno));
        return E_IO;
    }
    close(fd);
    enum status st = connect_to(new_path, &db, why);
    if (st != OK)
        return st;
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", APPLICATION_ID);
    st = run_sql(db, sql, new_path, why);
    if (st == OK)
        st = migrate(db, 0, new_path, why);
    sqlite3_close(db);
    return st;
}

static enum status sync_dir_of(const char *path, struct strbuf *why)
{
    enum status st = OK;
    char *copy = strdup(path);
    if (!copy)
        return E_NOMEM;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0) {
        strbuf_addf(why, "can't write %s: %s", path, strerror(errno));
        st = E_IO;
    }
    if (fd >= 0)
        close(fd);
    free(copy);
    return st;
}

static enum status create(const char *path, const char *wal, struct strbuf *why)
{
    struct strbuf new_path;
    if (access(wal, F_OK) == 0) {
        strbuf_addf(why,
                    "%s is missing, but its %s is there: put the database back beside it, or "
                    "remove that file too to start empty",
                    path, wal);
        return E_CORRUPT;
    }
    strbuf_init(&new_path);
    strbuf_addf(&new_path, "%s.new", path);
    enum status st = strbuf_status(&new_path);
    if (st != OK)
        goto out;
    unlink(new_path.text); /* left by an interrupted start */
    st = fill_new_file(new_path.text, why);
    if (st == OK && rename(new_path.text, path) < 0) {
        strbuf_addf(why, "can't make %s: %s", path, strerror(errno));
        st = E_IO;
    }
    if (st == OK)
        st = sync_dir_of(path, why);
    else
        unlink(new_path.text);
out:
    strbuf_release(&new_path);
    return st;
}

enum status sqlite_check_kind(sqlite3 *db, const char *path, int *ret_version, struct strbuf *why)
{
    char answer[64];
    enum status st = sqlite_ask(db, "PRAGMA application_id", answer, path, why);
    if (st != OK)
        return st;
    if (atoi(answer) != APPLICATION_ID) {
        strbuf_addf(why,
                    "%s is not a database of peal's, or is damaged: name another data folder, "
                    "or set the file aside and restore a backup",
                    path);
        return E_CORRUPT;
    }
    st = sqlite_ask(db, "PRAGMA user_version", answer, path, why);
    if (st != OK)
        return st;
    *ret_version = atoi(answer);
    if (*ret_version > NEWEST) {
        strbuf_addf(why,
                    "%s was written by a newer peal (format %d, this one knows %d): install "
                    "that version again, or restore the backup from before",
                    path, *ret_version, NEWEST);
        return E_VERSION;
    }
    return OK;
}

enum status sqlite_check_whole(sqlite3 *db, const char *path, struct strbuf *why)
{
    char answer[64];
    enum status st = sqlite_ask(db, "PRAGMA quick_check(1)", answer, path, why);
    if (st == OK && strcmp(answer, "ok") != 0)
        st = sqlite_explain(NULL, SQLITE_CORRUPT, path, why);
    return st;
}

static enum status use_wal(sqlite3 *db, const char *path, struct strbuf *why)
{
    char answer[64];
    enum status st = sqlite_ask(db, "PRAGMA journal_mode = WAL", answer, path, why);
    if (st == OK && strcmp(answer, "wal") != 0) {
        strbuf_addf(why,
                    "%s: this file system has no shared memory maps, which peal's database "
                    "needs: name a data folder on a local disk",
                    path);
        return E_IO;
    }
    return st == OK ? run_sql(db, settings, path, why) : st;
}

/* A log that was left behind means an unclean end: then the whole file is checked. */
static enum status open_existing(const char *path, bool was_cut_short, sqlite3 **ret,
                                 struct strbuf *why)
{
    sqlite3 *db = NULL;
    int version = 0;
    enum status st = connect_to(path, &db, why);
    if (st != OK)
        return st;
    st = sqlite_check_kind(db, path, &version, why);
    if (st == OK && sqlite3_db_readonly(db, "main"))
        st = sqlite_explain(NULL, SQLITE_READONLY, path, why);
    if (st == OK)
        st = use_wal(db, path, why);
    if (st == OK && was_cut_short)
        st = sqlite_check_whole(db, path, why);
    if (st == OK)
        st = migrate(db, version, path, why);
    if (st != OK) {
        sqlite3_close(db);
        return st;
    }
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    *ret = db;
    return OK;
}

enum status sqlite_join_database(const char *path, sqlite3 **ret, struct strbuf *why)
{
    sqlite3 *db = NULL;
    int version = 0;
    enum status st = connect_to(path, &db, why);
    if (st != OK)
        return st;
    st = sqlite_check_kind(db, path, &version, why);
    if (st == OK && version != NEWEST) {
        strbuf_addf(why,
                    "%s is in use by programs with an older peal (format %d, this one has %d): "
                    "stop them first",
                    path, version, NEWEST);
        st = E_VERSION;
    }
    if (st == OK)
        st = use_wal(db, path, why);
    if (st != OK) {
        sqlite3_close(db);
        return st;
    }
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    *ret = db;
    return OK;
}

enum status sqlite_open_database(const char *path, sqlite3 **ret, struct strbuf *why)
{
    struct strbuf wal;
    struct stat file;
    strbuf_init(&wal);
    strbuf_addf(&wal, "%s-wal", path);
    enum status st = strbuf_status(&wal);
    if (st != OK)
        goto out;
    bool is_new = stat(path, &file) < 0 && errno == ENOENT;
    if (is_new)
        st = create(path, wal.text, why);
    else if (stat(path, &file) == 0 && file.st_size == 0)
        st = sqlite_explain(NULL, SQLITE_NOTADB, path, why);
    if (st == OK)
        st = open_existing(path, !is_new && access(wal.text, F_OK) == 0, ret, why);
out:
    strbuf_release(&wal);
    return st;
}
