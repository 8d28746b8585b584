/* Messages for failures of the database. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "data_dir.h"
#include "sqlite/store_sqlite.h"

static void say(struct strbuf *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct strbuf *why, const char *format, ...)
{
    va_list args;
    if (!why)
        return;
    va_start(args, format);
    strbuf_addv(why, format, args);
    va_end(args);
}

enum status sqlite_explain(sqlite3 *db, int rc, const char *path, struct strbuf *why)
{
    const char *text = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    int error = db ? sqlite3_system_errno(db) : 0;
    bool full = error == ENOSPC || error == EDQUOT;
    switch (full ? SQLITE_FULL : rc & 0xff) {
    case SQLITE_FULL:
        say(why, "the disk is full: %s can't grow (%lld MiB are free): make room", path,
            (long long)disk_free_bytes(path) >> 20);
        return E_IO;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        say(why,
            "%s is damaged (%s): stop peal, set the file and its -wal aside, and restore a backup, "
            "or try: sqlite3 peal.db .recover",
            path, text);
        return E_CORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        say(why, "can't write %s (%s): peal's user must own it, on a disk that is not read-only",
            path, error ? strerror(error) : text);
        return E_IO;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        say(why, "another program holds %s: close it", path);
        return E_IO;
    case SQLITE_NOMEM:
        say(why, "out of memory");
        return E_NOMEM;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
        say(why, "%s: %s", path, text);
        return E_INVALID;
    default:
        say(why, "%s: %s%s%s: look at the disk and at the system's log", path, text,
            error ? ": " : "", error ? strerror(error) : "");
        return E_IO;
    }
}
