/* The log of changes: one row for each transaction that has changed something. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "shared/store_shared.h"

enum {
    TRIM_EVERY = 64,   /* rows */
    LAG_MAX = 1 << 16, /* rows that are kept for who has not read them yet */
};

/* Apart from the schema: an exclusive agent neither needs nor touches them. */
static const char tables[] =
    "CREATE TABLE IF NOT EXISTS shared_changes (seq INTEGER PRIMARY KEY, stamp INTEGER NOT NULL,"
    " bytes BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS shared_about (name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS shared_metas (node TEXT NOT NULL, key TEXT NOT NULL,"
    " value TEXT NOT NULL, PRIMARY KEY (node, key)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS shared_marks (uid BLOB PRIMARY KEY, mark INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "INSERT OR IGNORE INTO shared_about VALUES ('lineage', abs(random() >> 1) + 1);"
    "DELETE FROM shared_changes WHERE seq < (SELECT max(seq) FROM shared_changes);"
    /* What was written meanwhile is not in the log: nobody may go on from the row before. */
    "INSERT INTO shared_changes (seq, stamp, bytes)"
    " SELECT coalesce(max(seq), 0) + 1, random(), x'' FROM shared_changes;"
    "DELETE FROM shared_changes WHERE seq < (SELECT max(seq) FROM shared_changes);";

static int64_t random_stamp(void)
{
    int64_t stamp = 0;
    while (getrandom(&stamp, sizeof(stamp), 0) != (ssize_t)sizeof(stamp))
        continue; /* interrupted */
    return stamp;
}

enum status shared_log_prepare(sqlite3 *handle, const char *path, struct strbuf *why)
{
    struct strbuf sql;
    strbuf_init(&sql);
    strbuf_addf(&sql,
                "BEGIN IMMEDIATE; %s INSERT OR REPLACE INTO shared_about VALUES ('format', %lld);"
                " COMMIT;",
                tables, (long long)shared_format());
    enum status st = strbuf_status(&sql);
    int rc = st == OK ? sqlite3_exec(handle, sql.text, NULL, NULL, NULL) : SQLITE_OK;
    if (rc != SQLITE_OK) {
        st = sqlite_explain(handle, rc, path, why);
        sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
    }
    strbuf_release(&sql);
    return st;
}

enum status shared_log_check(sqlite3 *handle, const char *path, struct strbuf *why)
{
    char answer[64];
    enum status st = sqlite_ask(handle, "SELECT value FROM shared_about WHERE name = 'format'",
                                answer, path, why);
    if (st != OK || strtoull(answer, NULL, 10) == shared_format())
        return st;
    strbuf_addf(why,
                "%s is in use by programs with another version of peal: stop them, or use the same "
                "version",
                path);
    return E_VERSION;
}

/* ---- opening ---- */

static const char read_text[] = "SELECT seq, stamp, bytes FROM shared_changes WHERE seq >= ?1"
                                " ORDER BY seq";

static int find_start(struct shared_log *log, sqlite3 *snapshot)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(snapshot,
                                "SELECT seq, stamp, (SELECT value FROM shared_about WHERE name ="
                                " 'lineage') FROM shared_changes ORDER BY seq DESC LIMIT 1",
                                -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        log->seq = log->trimmed = sqlite3_column_int64(stmt, 0);
        log->stamp = sqlite3_column_int64(stmt, 1);
        log->lineage = (uint64_t)sqlite3_column_int64(stmt, 2);
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
}

static int read_metas(sqlite3 *snapshot, const char *node, struct feed *metas)
{
    struct store_set_meta meta;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(snapshot, "SELECT key, value FROM shared_metas WHERE node = ?1", -1,
                                &stmt, NULL);
    if (rc == SQLITE_OK)
        sqlite3_bind_text(stmt, 1, node, -1, SQLITE_STATIC);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        sqlite_read_text(stmt, 0, meta.key, sizeof(meta.key));
        sqlite_read_text(stmt, 1, meta.value, sizeof(meta.value));
        feed_add(metas, &(struct store_change){.kind = STORE_CHANGE_META, .meta = &meta});
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum status shared_log_open(struct shared_log *log, sqlite3 *handle, sqlite3 *snapshot,
                            const char *node, struct feed *metas, const char *path,
                            struct strbuf *why)
{
    const struct {
        const char *sql;
        sqlite3_stmt **ret;
    } statements[] = {
        {read_text, &log->read},
        {"INSERT INTO shared_changes (seq, stamp, bytes) VALUES (?1, ?2, ?3)", &log->add},
        {"DELETE FROM shared_changes WHERE seq < ?1", &log->trim},
        {"PRAGMA data_version", &log->version},
        {"INSERT OR REPLACE INTO shared_metas (node, key, value) VALUES (?1, ?2, ?3)",
         &log->set_meta},
        {"SELECT mark FROM shared_marks WHERE uid = ?1", &log->get_mark},
        {"INSERT INTO shared_marks (uid, mark) VALUES (?1, ?2) ON CONFLICT (uid) DO UPDATE"
         " SET mark = ?2 WHERE mark <> ?2",
         &log->set_mark},
        {"DELETE FROM shared_marks WHERE uid = ?1", &log->drop_mark},
    };
    log->handle = handle;
    log->told_version = -1;
    int rc = find_start(log, snapshot);
    if (rc != SQLITE_OK)
        return sqlite_explain(snapshot, rc, path, why);
    rc = read_metas(snapshot, node, metas);
    if (rc != SQLITE_OK)
        return sqlite_explain(snapshot, rc, path, why);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v3(handle, statements[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
                                statements[i].ret, NULL);
    return rc == SQLITE_OK ? OK : sqlite_explain(handle, rc, path, why);
}

void shared_log_release(struct shared_log *log)
{
    sqlite3_stmt *statements[] = {log->read,     log->add,      log->trim,     log->version,
                                  log->set_meta, log->get_mark, log->set_mark, log->drop_mark};
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        sqlite3_finalize(statements[i]);
    strbuf_release(&log->bytes);
}

/* ---- reading ---- */

bool shared_log_has_news(struct shared_log *log)
{
    int64_t version = -1; /* a failure: then reading finds out */
    if (sqlite3_step(log->version) == SQLITE_ROW)
        version = sqlite3_column_int64(log->version, 0);
    sqlite3_reset(log->version);
    bool has = version == -1 || version != log->told_version;
    log->told_version = version;
    return has;
}

static enum status take_row(struct shared_log *log, struct feed *feed)
{
    int64_t seq = sqlite3_column_int64(log->read, 0);
    const void *bytes = sqlite3_column_blob(log->read, 2);
    if (seq != log->seq + 1)
        return E_CORRUPT;
    struct feed row = {.place = {log->lineage, seq}};
    enum status st = shared_decode(bytes, (size_t)sqlite3_column_bytes(log->read, 2), &row);
    if (st != OK) { /* all of a row, or nothing */
        feed_release(&row);
        return st;
    }
    feed_move(feed, &row);
    log->seq = seq;
    log->stamp = sqlite3_column_int64(log->read, 1);
    return OK;
}

enum status shared_log_read(struct shared_log *log, struct feed *feed, bool *ret_is_new)
{
    int rc;
    enum status st = OK;
    struct feed fresh = {0};
    int64_t since = log->seq;
    sqlite3_bind_int64(log->read, 1, log->seq);
    rc = sqlite3_step(log->read);
    if (rc == SQLITE_DONE ||
        (rc == SQLITE_ROW && (sqlite3_column_int64(log->read, 0) != log->seq ||
                              sqlite3_column_int64(log->read, 1) != log->stamp)))
        st = E_CORRUPT; /* cut, or another database */
    else if (rc == SQLITE_ROW)
        while (st == OK && (rc = sqlite3_step(log->read)) == SQLITE_ROW)
            st = take_row(log, &fresh);
    if (st == OK && rc != SQLITE_DONE)
        st = (rc & 0xff) == SQLITE_BUSY ? E_BUSY : E_IO;
    sqlite3_reset(log->read);
    *ret_is_new = log->seq != since;
    feed_move(feed, &fresh);
    return st;
}

/* ---- writing ---- */

enum status shared_log_add(struct shared_log *log, const struct feed *changes, int64_t *ret_stamp)
{
    const struct store_change *change;
    *ret_stamp = 0;
    strbuf_reset(&log->bytes);
    for (const struct feed_item *at = NULL; (change = feed_each(changes, &at));)
        shared_encode(change, &log->bytes);
    enum status st = strbuf_status(&log->bytes);
    if (st != OK || !log->bytes.length)
        return st;
    *ret_stamp = random_stamp();
    sqlite3_bind_int64(log->add, 1, log->seq + 1);
    sqlite3_bind_int64(log->add, 2, *ret_stamp);
    sqlite3_bind_blob64(log->add, 3, log->bytes.text, log->bytes.length, SQLITE_STATIC);
    int rc = sqlite3_step(log->add);
    sqlite3_reset(log->add);
    return rc == SQLITE_DONE ? OK : E_IO;
}

void shared_log_added(struct shared_log *log, int64_t stamp)
{
    enum { KEEP = 1 << 20 };
    if (log->bytes.length) {
        log->seq++;
        log->stamp = stamp;
    }
    if (log->bytes.capacity > KEEP)
        strbuf_release(&log->bytes);
}

bool shared_log_is_long(const struct shared_log *log)
{
    return log->seq - log->trimmed >= TRIM_EVERY;
}

enum status shared_log_trim(struct shared_log *log, int64_t least)
{
    log->trimmed = log->seq;
    int64_t from = least > log->seq - LAG_MAX ? least : log->seq - LAG_MAX;
    sqlite3_bind_int64(log->trim, 1, from);
    int rc = sqlite3_step(log->trim);
    sqlite3_reset(log->trim);
    return rc == SQLITE_DONE ? OK : E_IO;
}

enum status shared_log_set_meta(struct shared_log *log, const char *node,
                                const struct store_set_meta *meta)
{
    sqlite3_bind_text(log->set_meta, 1, node, -1, SQLITE_STATIC);
    sqlite3_bind_text(log->set_meta, 2, meta->key, -1, SQLITE_STATIC);
    sqlite3_bind_text(log->set_meta, 3, meta->value, -1, SQLITE_STATIC);
    int rc = sqlite3_step(log->set_meta);
    sqlite3_reset(log->set_meta);
    return rc == SQLITE_DONE ? OK : E_IO;
}
