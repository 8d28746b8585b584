/* The node of each job's newest run (`last_node`), which the schema of a store of one node has not:
 * in a table of its own, by operations around those of the rows. */
#include <stdlib.h>

#include "shared/store_shared.h"

struct mark {
    struct id uid;
    uint32_t node;
};

static const struct table_type marks_type = {.key_at = offsetof(struct mark, uid),
                                             .key_size = sizeof(struct id)};

static struct shared_log *log_of(struct tables *tables)
{
    return ((struct sqlite_db *)tables)->context;
}

static void bind_uid(sqlite3_stmt *stmt, const struct id *uid)
{
    sqlite3_bind_blob(stmt, 1, uid->bytes, sizeof(uid->bytes), SQLITE_STATIC);
}

/* ---- in transactions ---- */

static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct shared_log *log = log_of(tables);
    enum status st = sqlite_cached_ops.get_job(tables, uid, ret);
    if (st != OK)
        return st;
    bind_uid(log->get_mark, uid);
    int rc = sqlite3_step(log->get_mark);
    ret->last_node = rc == SQLITE_ROW ? (uint32_t)sqlite3_column_int64(log->get_mark, 0) : 0;
    sqlite3_reset(log->get_mark);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? OK : E_IO;
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    struct shared_log *log = log_of(tables);
    bind_uid(log->set_mark, &row->uid);
    sqlite3_bind_int64(log->set_mark, 2, row->last_node);
    int rc = sqlite3_step(log->set_mark);
    sqlite3_reset(log->set_mark);
    return rc == SQLITE_DONE ? sqlite_cached_ops.move_job(tables, row) : E_IO;
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct shared_log *log = log_of(tables);
    bind_uid(log->drop_mark, uid);
    int rc = sqlite3_step(log->drop_mark);
    sqlite3_reset(log->drop_mark);
    return rc == SQLITE_DONE ? sqlite_cached_ops.remove_job(tables, uid) : E_IO;
}

void shared_marks_use(struct sqlite_db *db, struct shared_log *log)
{
    log->ops = sqlite_cached_ops;
    log->ops.get_job = log->ops.hold_job = get_job;
    log->ops.move_job = move_job;
    log->ops.remove_job = remove_job;
    db->context = log;
    db->tables.ops = &log->ops;
}

/* ---- the first picture ---- */

int shared_marks_load(sqlite3 *snapshot, struct table *marks)
{
    struct mark mark;
    sqlite3_stmt *stmt = NULL;
    table_init(marks, &marks_type);
    int rc = sqlite3_prepare_v2(snapshot, "SELECT uid, mark FROM shared_marks", -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        sqlite_read_id(stmt, 0, &mark.uid);
        mark.node = (uint32_t)sqlite3_column_int64(stmt, 1);
        rc = table_add(marks, &mark, sizeof(mark)) ? SQLITE_OK : SQLITE_NOMEM;
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

uint32_t shared_marks_find(const struct table *marks, const struct id *uid)
{
    const struct mark *mark = table_find(marks, uid);
    return mark ? mark->node : 0;
}
