#include "store_look.h"

#include <string.h>
#include <sys/stat.h>

#include "store_sqlite.h"

enum { WAIT_MS = 2000 };

static enum status count(sqlite3 *db, const char *sql, const char *path, int64_t *ret,
                         struct strbuf *why)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    enum status st = OK;
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int64(stmt, 0);
    else
        st = sqlite_explain(db, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, path, why);
    sqlite3_finalize(stmt);
    return st;
}

/* "ok", or the first thing that is wrong. */
static enum status check_pages(sqlite3 *db, const char *path, struct strbuf *why)
{
    sqlite3_stmt *stmt = NULL;
    char words[200] = "";
    int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        sqlite_read_text(stmt, 0, words, sizeof(words));
    enum status st = rc == SQLITE_ROW ? OK : sqlite_explain(db, rc, path, why);
    sqlite3_finalize(stmt);
    if (st != OK || strcmp(words, "ok") == 0)
        return st;
    if (why)
        strbuf_addf(why, "%s is damaged (%s): stop peal and restore a backup", path, words);
    return E_CORRUPT;
}

enum status store_sqlite_look(const char *dir, bool check, struct store_look *ret,
                              struct strbuf *why)
{
    struct store_look look = {0};
    struct strbuf path;
    struct stat file;
    sqlite3 *db = NULL;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/peal.db", dir);
    enum status st = strbuf_status(&path);
    if (st == OK && stat(path.text, &file) != 0)
        st = E_NOT_FOUND;
    if (st != OK)
        goto out;
    look.bytes = file.st_size;
    int rc = sqlite3_open_v2(path.text, &db, SQLITE_OPEN_READONLY, NULL);
    st = rc == SQLITE_OK ? OK : sqlite_explain(db, rc, path.text, why);
    if (st == OK)
        sqlite3_busy_timeout(db, WAIT_MS);
    if (st == OK)
        st = count(db, "SELECT count(*) FROM jobs WHERE deleted = 0", path.text, &look.jobs, why);
    if (st == OK)
        st =
            count(db, "SELECT count(*) FROM runs WHERE state < 5", path.text, &look.open_runs, why);
    if (st == OK && check)
        st = check_pages(db, path.text, why);
    if (st == OK)
        *ret = look;
out:
    sqlite3_close(db);
    strbuf_release(&path);
    return st;
}
