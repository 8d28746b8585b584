#include <stdlib.h>

#include "sqlite/store_sqlite.h"

/* A connection of its own, in one read transaction: a snapshot, while the writer goes on. */
struct sqlite_loader {
    sqlite3 *handle;
    const char *path;
    sqlite3_stmt *stmt; /* of the phase */
    int phase;
    struct sqlite_ahead *ahead; /* uses all members but path and kill_follows; NULL: no thread */
    bool kill_follows;          /* the last change was a RUN; its KILL is next */
    struct run_row run;
    struct ledger_entry entry;
    struct store_set_meta meta;
    struct store_drain drain;
    struct store_doc doc;
    struct strbuf key; /* of a row that is set aside */
};

static bool load_meta(struct sqlite_loader *loader, struct store_change *ret)
{
    struct store_set_meta *meta = &loader->meta;
    sqlite_read_text(loader->stmt, 0, meta->key, sizeof(meta->key));
    sqlite_read_text(loader->stmt, 1, meta->value, sizeof(meta->value));
    *ret = (struct store_change){.kind = STORE_CHANGE_META, .meta = meta};
    return true;
}

static bool load_drain(struct sqlite_loader *loader, struct store_change *ret)
{
    struct store_drain *drain = &loader->drain;
    drain->drained = true;
    sqlite_read_text(loader->stmt, 0, drain->node, sizeof(drain->node));
    sqlite_read_text(loader->stmt, 1, drain->by, sizeof(drain->by));
    *ret = (struct store_change){.kind = STORE_CHANGE_DRAIN, .drain = drain};
    return true;
}

static bool load_doc(struct sqlite_loader *loader, struct store_change *ret)
{
    struct store_doc *doc = &loader->doc;
    sqlite_read_text(loader->stmt, 0, doc->kind, sizeof(doc->kind));
    sqlite_read_text(loader->stmt, 1, doc->name, sizeof(doc->name));
    doc->revision = sqlite3_column_int64(loader->stmt, 2);
    doc->json = (const char *)sqlite3_column_text(loader->stmt, 3);
    *ret = (struct store_change){.kind = STORE_CHANGE_DOC, .doc = doc};
    return doc->json != NULL;
}

/* The row can't be decoded: it is reported by its table and its id, whatever bytes that has. */
static void set_aside(struct sqlite_loader *loader, const char *table, struct store_change *ret)
{
    const unsigned char *bytes = sqlite3_column_blob(loader->stmt, 0);
    int length = sqlite3_column_bytes(loader->stmt, 0);
    struct id id;
    strbuf_reset(&loader->key);
    strbuf_addf(&loader->key, "%s/", table);
    if (length == (int)sizeof(id.bytes)) {
        char text[ID_TEXT + 1];
        sqlite_read_id(loader->stmt, 0, &id);
        id_format(&id, text);
        strbuf_adds(&loader->key, text);
    }
    for (int i = 0; length != (int)sizeof(id.bytes) && i < length && i < 32; i++)
        strbuf_addf(&loader->key, "%02x", bytes[i]);
    *ret =
        (struct store_change){.kind = STORE_CHANGE_ASIDE, .aside = {loader->key.text, E_CORRUPT}};
}

/* The texts stay in SQLite's memory, valid until the next row. */
static bool load_job(struct sqlite_loader *loader, struct store_change *ret)
{
    struct job_row job;
    int next;
    if (!sqlite_read_job(loader->stmt, &job, &next)) {
        set_aside(loader, "jobs", ret);
        return true;
    }
    *ret = (struct store_change){
        .kind = STORE_CHANGE_JOB,
        .job_uid = job.uid,
        .job_revision = job.revision,
        .cursor_ms = job.cursor_ms,
        .rewinds = job.rewinds,
        .last = job.last,
        .job_name = (const char *)sqlite3_column_text(loader->stmt, next),
        .job_json = (const char *)sqlite3_column_text(loader->stmt, next + 1),
        .job_deleted = job.deleted,
    };
    return ret->job_name && ret->job_json;
}

static bool load_run(struct sqlite_loader *loader, struct store_change *ret)
{
    struct run_row *row = &loader->run;
    if (!sqlite_read_run(loader->stmt, row)) {
        set_aside(loader, "runs", ret);
        return true;
    }
    loader->kill_follows = state_is_open(row->run.state) && row->kill_reason != REASON_NONE;
    *ret = (struct store_change){
        .kind = STORE_CHANGE_RUN, .job_uid = row->run.job_uid, .run = &row->run};
    return true;
}

static void load_kill(struct sqlite_loader *loader, struct store_change *ret)
{
    struct run_row *row = &loader->run;
    loader->kill_follows = false;
    run_row_to_kill(row);
    *ret = (struct store_change){
        .kind = STORE_CHANGE_KILL, .job_uid = row->run.job_uid, .run = &row->run};
}

static bool load_entry(struct sqlite_loader *loader, struct store_change *ret)
{
    struct ledger_entry *entry = &loader->entry;
    if (!sqlite_read_entry(loader->stmt, entry)) {
        set_aside(loader, "entries", ret);
        return true;
    }
    *ret = (struct store_change){
        .kind = STORE_CHANGE_ENTRY, .job_uid = entry->job_uid, .entry = entry};
    return true;
}

/* `read` returns false when memory is short. `is_long`: read ahead by a thread. */
static const struct {
    const char *sql;
    bool (*read)(struct sqlite_loader *loader, struct store_change *ret);
    bool is_long;
} phases[] = {
    {"SELECT key, value FROM metas", load_meta, false},
    {"SELECT node, asked_by FROM drains", load_drain, false},
    {"SELECT kind, name, revision, json FROM docs", load_doc, false},
    {"SELECT #jobs, gaps, name, json FROM jobs JOIN definitions USING (uid)", load_job, true},
    {"SELECT #runs, kill_reason, kill_by, seq FROM runs ORDER BY seq", load_run, false},
    {"SELECT #entries FROM entries ORDER BY id", load_entry, false},
};

enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

/* SQLite's result; ROW: *ret is the change. */
static int read_row(void *context, struct store_change *ret)
{
    struct sqlite_loader *loader = context;
    int rc = sqlite3_step(loader->stmt);
    if (rc == SQLITE_ROW && !phases[loader->phase].read(loader, ret))
        rc = SQLITE_NOMEM;
    return rc;
}

static int begin_phase(struct sqlite_loader *loader)
{
    int rc = sqlite_prepare(loader->handle, phases[loader->phase].sql, &loader->stmt);
    if (rc == SQLITE_OK && phases[loader->phase].is_long)
        loader->ahead = sqlite_ahead_new(read_row, loader);
    return rc;
}

static void end_phase(struct sqlite_loader *loader)
{
    loader->ahead = sqlite_ahead_free(loader->ahead);
    sqlite3_finalize(loader->stmt);
    loader->stmt = NULL;
}

enum status sqlite_loader_new(const char *path, struct sqlite_loader **ret, struct strbuf *why)
{
    struct sqlite_loader *loader = calloc(1, sizeof(*loader));
    if (!loader)
        return E_NOMEM;
    loader->path = path;
    strbuf_init(&loader->key);
    int rc =
        sqlite3_open_v2(path, &loader->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        sqlite3_busy_timeout(loader->handle, 5000); /* for other processes, in a shared one */
    if (rc == SQLITE_OK)                            /* the first read fixes the snapshot */
        rc = sqlite3_exec(loader->handle, "BEGIN; SELECT value FROM counters", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        enum status st = sqlite_explain(loader->handle, rc, path, why);
        sqlite_loader_free(loader);
        return st;
    }
    *ret = loader;
    return OK;
}

sqlite3 *sqlite_loader_handle(const struct sqlite_loader *loader)
{
    return loader->handle;
}

struct sqlite_loader *sqlite_loader_free(struct sqlite_loader *loader)
{
    if (!loader)
        return NULL;
    end_phase(loader);
    sqlite3_close(loader->handle);
    strbuf_release(&loader->key);
    free(loader);
    return NULL;
}

enum status sqlite_loader_next(struct sqlite_loader *loader, struct store_change *ret,
                               struct strbuf *why)
{
    int rc = SQLITE_OK;
    if (loader->kill_follows) {
        load_kill(loader, ret);
        return OK;
    }
    for (; loader->phase < PHASES; loader->phase++) {
        if (!loader->stmt)
            rc = begin_phase(loader);
        if (rc == SQLITE_OK)
            rc = loader->ahead ? sqlite_ahead_next(loader->ahead, ret) : read_row(loader, ret);
        if (rc == SQLITE_ROW)
            return OK;
        enum status st =
            rc == SQLITE_DONE ? OK : sqlite_explain(loader->handle, rc, loader->path, why);
        end_phase(loader);
        if (st != OK)
            return st; /* the next call begins this phase again */
        rc = SQLITE_OK;
    }
    *ret = (struct store_change){.kind = STORE_CHANGE_LOADED};
    return OK;
}
