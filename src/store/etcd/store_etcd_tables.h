/* How the tables that the rules work on note down what is read and written. */
#ifndef PEAL_STORE_ETCD_TABLES_H
#define PEAL_STORE_ETCD_TABLES_H

#include "etcd/store_etcd_plan.h"

struct plan_compare {
    struct plan_key key;
    int64_t mod_revision; /* 0: there is no such key */
    struct id definition; /* whose it is; zero: it is none */
};

struct plan_write {
    struct plan_key key;
    size_t value_at, value_length; /* in the bytes */
    bool is_delete;
    bool is_dropped; /* written anew, further on; or left out of a plan in part */
    bool is_last;    /* a definition: told after what happens to its runs */
    bool is_step;    /* right by itself, whether or not the rest is done */
};

extern const struct tables_ops plan_tables_ops;

/* A key, appended to the bytes: PREFIX/KIND/REST. */
struct plan_key plan_key(struct etcd_plan *plan, const char *kind, const char *rest);
struct plan_key plan_id_key(struct etcd_plan *plan, const char *kind, const struct id *id);
struct plan_key plan_run_key(struct etcd_plan *plan, const struct id *id);

/* ---- what the decision rests on ---- */

enum status plan_compare_key(struct etcd_plan *plan, struct plan_key key, int64_t mod_revision);
/* The same, unless the job's guard is compared. */
enum status plan_compare_definition(struct etcd_plan *plan, const struct id *uid,
                                    int64_t mod_revision);
/* `run` is NULL when there is none. */
enum status plan_compare_run(struct etcd_plan *plan, const struct id *id,
                             const struct mirror_run *run);
/* The job's definition and runs are as they are: none more, none less, and the same ones wait. */
enum status plan_compare_guard(struct etcd_plan *plan, const struct id *uid);

/* ---- what it does ---- */

/* The value is what was appended to the bytes since `value_at`. */
enum status plan_put(struct etcd_plan *plan, struct plan_write write, size_t value_at);
enum status plan_delete(struct etcd_plan *plan, struct plan_key key);

enum status plan_write_cursor(struct etcd_plan *plan, const struct job_row *row, enum tell tell);
enum status plan_delete_cursor(struct etcd_plan *plan, const struct id *uid);
/* The job or its runs are no longer as they were. A purged job makes none. */
enum status plan_touch_guard(struct etcd_plan *plan, const struct id *uid);

/* ---- seen by the rules from now on, until the end of the plan ---- */

enum status plan_overlay_run(struct etcd_plan *plan, struct mirror_run *run,
                             const struct run_row *row);
/* These two only for the items that follow, if any do. */
enum status plan_overlay_new_run(struct etcd_plan *plan, const struct run_row *row);
enum status plan_overlay_job(struct etcd_plan *plan, const struct job_row *row);

/* A run that an earlier item of the plan writes. */
bool plan_has_written(const struct etcd_plan *plan, const struct plan_key *key);

#endif
