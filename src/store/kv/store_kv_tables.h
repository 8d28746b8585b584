/* The tables of the rules over the mirror, which record all reads and writes in a plan. */
#ifndef PEAL_STORE_ETCD_TABLES_H
#define PEAL_STORE_ETCD_TABLES_H

#include "kv/store_kv_plan.h"

struct plan_compare {
    struct plan_key key;
    int64_t mod_revision; /* 0: no such key */
    struct id definition; /* the job, if it is a definition; else zero */
};

struct plan_write {
    struct plan_key key;
    size_t value_at, value_length; /* in the bytes */
    bool is_delete;
    bool is_dropped; /* overwritten later, or left out of a partial plan */
    size_t dropped;  /* 1 + the item that overwrites it; 0: none, or see plan_guard */
    bool is_last;    /* a definition: must be fed after the changes of its runs */
    bool is_step;    /* correct by itself, without the rest */
    enum tell tell;  /* of a run: what the feed tells of it */
};

extern const struct tables_ops plan_tables_ops;

/* A key, appended to the bytes: PREFIX/KIND/REST. */
struct plan_key plan_key(struct store_plan *plan, const char *kind, const char *rest);
struct plan_key plan_id_key(struct store_plan *plan, const char *kind, const struct id *id);
struct plan_key plan_run_key(struct store_plan *plan, const struct id *id);

/* ---- what the decision rests on ---- */

enum status plan_compare_key(struct store_plan *plan, struct plan_key key, int64_t mod_revision);
/* The same, unless the job's guard is compared. */
enum status plan_compare_definition(struct store_plan *plan, const struct id *uid,
                                    int64_t mod_revision);
/* `run` NULL: no such run. */
enum status plan_compare_run(struct store_plan *plan, const struct id *id,
                             const struct mirror_run *run);
/* The job's definition and its set of open runs are unchanged. */
enum status plan_compare_guard(struct store_plan *plan, const struct id *uid);

/* ---- what it does ---- */

/* The value is the bytes from `value_at` on. */
enum status plan_put(struct store_plan *plan, struct plan_write write, size_t value_at);
enum status plan_delete(struct store_plan *plan, struct plan_key key);

enum status plan_write_cursor(struct store_plan *plan, const struct job_row *row, enum tell tell);
enum status plan_delete_cursor(struct store_plan *plan, const struct id *uid);
/* Writes the guard, since the job or its runs change. A purged job has none. */
enum status plan_touch_guard(struct store_plan *plan, const struct id *uid);

/* ---- seen by the rules from now on, until the end of the plan ---- */

enum status plan_overlay_run(struct store_plan *plan, struct mirror_run *run,
                             const struct run_row *row);
/* Only if more items follow. */
enum status plan_overlay_new_run(struct store_plan *plan, const struct run_row *row);

/* The write of this run by an earlier item of the plan, or by this one; NULL: none. */
struct plan_write *plan_find_write(const struct store_plan *plan, const struct plan_key *key);

/* The current item writes the run as it is in the end; it is written once. */
void plan_drop_write(const struct store_plan *plan, struct plan_write *write);

/* The place of the item that makes this run, if the run is new in this plan; else that of the
 * current item. */
int plan_place_of(const struct store_plan *plan, const struct mirror_run *run);

#endif
