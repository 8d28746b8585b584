/* Internals that the files of the rules share. */
#ifndef PEAL_RULES_INTERNAL_H
#define PEAL_RULES_INTERNAL_H

#include "rules/rules.h"

/* The context of one rules_apply. */
struct rules {
    struct tables *tables;
    const struct tables_ops *ops;
    struct feed *feed;
    struct rules_records *records;
};

/* The overlap rule's decision about a new run. */
enum overlap_decision {
    DECIDE_START, /* start it: nothing blocks it */
    DECIDE_QUEUE, /* queue it */
    DECIDE_SKIP,  /* skip it: another run is open */
    DECIDE_FULL,  /* skip it: the queue is full */
};

/* What a request says of it. */
struct overlap_rule {
    enum overlap_policy policy;
    int queue_limit, at_once;
};

/* Applies the overlap rule. `replace` acts here: waiting runs end, kills of the others are ordered.
 * `booted`: the run is for a boot of this node, and runs of other nodes' boots do not block it;
 * NULL: not a boot. */
enum status rules_overlap(struct rules *rules, const struct id *job_uid,
                          const struct overlap_rule *rule, const char *booted,
                          enum overlap_decision *ret);

/* Writes a new run; a QUEUED or DUE run has no owner. */
enum status rules_make_run(struct rules *rules, const struct run *run, enum run_state state);

enum status rules_add_entry(struct rules *rules, const struct ledger_entry *entry);

/* Writes the ledger entry of a tick whose run was skipped by the overlap rule. */
enum status rules_skip_tick(struct rules *rules, const struct run *run, const struct id *entry_id,
                            enum overlap_decision decision);

enum status rules_set_run(struct rules *rules, const struct run_row *row);

/* The job's next open run after this row; a row of zeroes: the first. */
enum status rules_next_open(struct rules *rules, const struct id *job_uid, struct run_row *row);

/* Ends a run that never started. Does not release its job's queue. */
enum status rules_skip_run(struct rules *rules, struct run_row *row, enum run_reason reason,
                           const char *by);

/* Ends all runs of the job that are QUEUED or DUE and would block a run for a boot of `booted`;
 * NULL: all. Of steps those that are DUE, but for those of `finally`. */
enum status rules_skip_waiting(struct rules *rules, const struct id *job_uid, const char *booted,
                               enum run_reason reason);

/* A run of the job has ended: makes its oldest QUEUED run DUE if nothing else is open. */
enum status rules_release_queue(struct rules *rules, const struct id *job_uid);

/* Creates, changes or deletes a document; the same for one that may be larger than DOC_JSON_MAX. */
enum status rules_put_doc(struct rules *rules, struct store_put_doc *put);
enum status rules_put_large_doc(struct rules *rules, struct store_put_doc *put, size_t max);

/* Adds the record of a put, which rules_records_write writes with those of other puts. */
enum status rules_add_record(struct rules *rules, const struct id *id, const char *record);

/* Moves the run's tick to the first millisecond without a run of its job. */
enum status rules_find_free_tick(struct rules *rules, struct run *run);

void rules_feed_cursor(struct rules *rules, const struct job_row *job);
void rules_feed_kill(struct rules *rules, const struct run_row *row);

/* rules_run.c */
enum status rules_claim(struct rules *rules, struct store_claim *claim);
enum status rules_take(struct rules *rules, struct store_take *take);
enum status rules_begin(struct rules *rules, struct store_begin *begin);

/* rules_finish.c */
enum status rules_finish(struct rules *rules, struct store_finish *finish);

/* rules_next.c: dependents of `run`, whose state was `before`. */
enum status rules_nexts_are_stale(struct rules *rules, const struct store_finish *finish,
                                  bool *ret);
enum status rules_make_nexts(struct rules *rules, const struct run *run, enum run_state before,
                             struct store_finish *finish);

/* rules_again.c: the next attempt at the tick of a run. */
enum status rules_again_is_stale(struct rules *rules, const struct store_finish *finish, bool *ret);
/* Is the next attempt to be made? `before` is the run as it was. */
enum status rules_again_is_due(struct rules *rules, const struct run *before,
                               const struct store_finish *finish, bool *ret);
enum status rules_make_again(struct rules *rules, const struct run *run,
                             struct store_finish *finish);
/* The run was retried, and is amended: ends the next attempt if it has not begun and is no longer
 * needed; what that knew of other parts, the run knows then. *ret_decides: it has begun, or is
 * needed. */
enum status rules_settle_again(struct rules *rules, struct run *run, bool *ret_decides);

/* rules_part.c: ticks with several runs. */
/* Makes the parts; `run` has all that they share. */
enum status rules_make_parts(struct rules *rules, const struct run *run,
                             const struct store_parts *parts);
/* The run that waits becomes the first of the parts. */
enum status rules_spread_run(struct rules *rules, struct run_row *row,
                             const struct store_parts *parts);
/* The run, whose end is to be written, is over with all its attempts; `has_waited`: it still waited
 * for its turn, else that goes on to the next. *ret_is_last: its tick is over, too, and the run has
 * the outcome; else another part knows of this end. */
enum status rules_end_part(struct rules *rules, struct run *run, bool has_waited,
                           bool *ret_is_last);

/* rules_slots.c: what groups allow. */
/* Are these the limits? */
enum status rules_slots_are_current(struct rules *rules, const struct store_slots *slots,
                                    bool *ret);
/* If there is a slot in each group for the run on its node, the transaction takes it, and the run
 * gets the labels of its slots; else it has to wait. `is_new`: it waits behind others; `has_some`:
 * it has slots on another node. */
enum status rules_get_slots(struct rules *rules, struct run *run, const struct store_slots *slots,
                            bool is_new, bool has_some, bool *ret);

/* rules_input.c */
/* Is the delivery of the run known? Sets is_delivered. */
enum status rules_find_delivery(struct rules *rules, struct store_add_run *add);
enum status rules_put_delivery(struct rules *rules, const struct store_add_run *add);
enum status rules_drop_webhook(struct rules *rules, const struct id *job_uid);
enum status rules_put_input(struct rules *rules, const struct store_add_run *add);
enum status rules_remove_input(struct rules *rules, const struct id *input);
/* Removes the documents of an ended run that is about to be forgotten: its input, unless another
 * attempt has it, or what it has written. *ret_is_kept: it must stay. */
enum status rules_drop_docs(struct rules *rules, const struct id *run_id, bool *ret_is_kept);

/* rules_step.c: runs of a workflow. */
/* Makes the instance of a claimed tick, and its first steps; `run` becomes the stored one. */
enum status rules_make_instance(struct rules *rules, struct run *run,
                                const struct store_opening *opening);
/* The run, which is DUE, becomes an instance or a fan-out. */
enum status rules_open_run(struct rules *rules, struct run_row *row, const struct store_take *take);
/* The step, fan-out or item is over with all its attempts: tells those that wait for it. */
enum status rules_follow_links(struct rules *rules, const struct run *run,
                               const struct store_finish *finish);
enum status rules_put_output(struct rules *rules, const struct run *run, const char *output);
/* Why the claimed step must not begin; NONE: it may. `job` NULL: purged. *instance is set if the
 * reason is its order. */
enum status rules_why_no_step(struct rules *rules, const struct run_row *row,
                              const struct job_row *job, struct run_row *instance,
                              enum run_reason *ret);
/* Ends the steps of an instance, or the items of a fan-out, that are DUE, but for those of
 * `finally`. */
enum status rules_skip_steps(struct rules *rules, const struct run *group, enum run_reason reason,
                             const char *by);
/* The job is purged: ends all runs of its workflows that have no owner. */
enum status rules_end_instances(struct rules *rules, const struct id *job_uid);
/* Must the ended run stay, as its instance is open? */
enum status rules_is_kept(struct rules *rules, const struct run *run, bool *ret);

/* rules_job.c */
enum status rules_put_job(struct rules *rules, struct store_put_job *put);
enum status rules_add_run(struct rules *rules, struct store_add_run *add);
enum status rules_order(struct rules *rules, struct store_order *order);
enum status rules_rewind(struct rules *rules, struct store_rewind *rewind);

#endif
