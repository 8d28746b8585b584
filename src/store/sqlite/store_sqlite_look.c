#include "store_look.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "sqlite/store_sqlite.h"

enum { WAIT_MS = 2000 };

static enum status count(sqlite3 *db, const char *sql, const char *path, int64_t *ret,
                         struct strbuf *why)
{
    char answer[64];
    enum status st = sqlite_ask(db, sql, answer, path, why);
    if (st == OK)
        *ret = strtoll(answer, NULL, 10);
    return st;
}

enum status store_sqlite_look(const char *dir, bool check, struct store_look *ret,
                              struct strbuf *why)
{
    struct store_look look = {0};
    int format;
    struct strbuf path, unheard;
    struct stat file;
    sqlite3 *db = NULL;
    strbuf_init(&path);
    strbuf_init(&unheard);
    why = why ? why : &unheard;
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
        st = sqlite_check_kind(db, path.text, &format, why);
    if (st == OK)
        st = count(db, "SELECT count(*) FROM jobs WHERE deleted = 0", path.text, &look.jobs, why);
    if (st == OK)
        st =
            count(db, "SELECT count(*) FROM runs WHERE state < 5", path.text, &look.open_runs, why);
    if (st == OK && check)
        st = sqlite_check_whole(db, path.text, why);
    if (st == OK)
        *ret = look;
out:
    sqlite3_close(db);
    strbuf_release(&path);
    strbuf_release(&unheard);
    return st;
}
