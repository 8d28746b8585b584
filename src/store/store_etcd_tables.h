/* How the tables that the rules work on note down what is read and written. */
#ifndef PEAL_STORE_ETCD_TABLES_H
#define PEAL_STORE_ETCD_TABLES_H

#include "store_etcd_plan.h"

/* Bytes of plan->bytes, which moves while it grows. */
struct part {
    size_t at, length;
};

struct plan_write {
    struct part key, value;
    bool is_delete;
    bool is_dropped; /* written anew, further on */
    bool is_last;    /* a definition: told after what happens to its runs */
};

extern const struct tables_ops plan_tables_ops;

/* A key, appended to the bytes: PREFIX/KIND/REST. Its value, if it has one, is appended next. */
struct part plan_key(struct plan *plan, const char *kind, const char *rest);
struct part plan_id_key(struct plan *plan, const char *kind, const struct id *id);
struct part plan_value_after(const struct plan *plan, struct part key);

/* ---- what the decision rests on ---- */

enum status plan_compare_key(struct plan *plan, struct part key, int64_t mod_revision);
/* `run` is NULL when there is none. */
enum status plan_compare_run(struct plan *plan, const struct id *id, const struct mirror_run *run);
/* The job's runs are as they are: none more, none less, and the same ones wait. */
enum status plan_compare_guard(struct plan *plan, const struct id *uid);

/* ---- what it does ---- */

enum status plan_write(struct plan *plan, struct plan_write write);
enum status plan_put(struct plan *plan, struct part key); /* what was appended since */
enum status plan_delete(struct plan *plan, struct part key);

enum status plan_write_cursor(struct plan *plan, const struct job_row *row, enum tell tell);
void plan_drop_cursor_write(struct plan *plan);
/* The runs of the job are no longer as they were. A purged job makes none. */
enum status plan_touch_guard(struct plan *plan, const struct id *uid);

/* Seen by the rules from now on, until the plan is made. */
enum status plan_overlay_run(struct plan *plan, struct mirror_run *run, const struct run_row *row);

#endif
