/* Takes keys of jobs, cursors, names, runs and entries into the mirror when they are read or
 * deleted, and feeds the changes. For the files of the mirror; `feed` NULL: nothing is fed. */
#ifndef PEAL_STORE_ETCD_MIRROR_ITEMS_H
#define PEAL_STORE_ETCD_MIRROR_ITEMS_H

#include "mirror/store_kv_mirror.h"

enum status mirror_put_job(struct mirror *mirror, const struct id *uid, const struct kv_pair *kv,
                           struct feed *feed);
enum status mirror_put_cursor(struct mirror *mirror, const struct id *uid, const struct kv_pair *kv,
                              struct feed *feed);
enum status mirror_put_name(struct mirror *mirror, const char *text, const struct kv_pair *kv);
enum status mirror_put_run(struct mirror *mirror, const struct id *id, const struct kv_pair *kv,
                           struct feed *feed);
enum status mirror_put_entry(struct mirror *mirror, const struct id *id, const struct kv_pair *kv,
                             struct feed *feed);

void mirror_delete_job(struct mirror *mirror, const struct id *uid, struct feed *feed);
void mirror_delete_cursor(struct mirror *mirror, const struct id *uid, struct feed *feed);
void mirror_delete_name(struct mirror *mirror, const char *text);
void mirror_delete_run(struct mirror *mirror, const struct id *id);
void mirror_delete_entry(struct mirror *mirror, const struct id *id);

/* The value can't be decoded: the feed shows the job as removed until it can. E_NOMEM. */
MUST_CHECK enum status mirror_set_job_aside(struct mirror *mirror, const struct id *uid,
                                            struct feed *feed);
MUST_CHECK enum status mirror_set_cursor_aside(struct mirror *mirror, const struct id *uid,
                                               struct feed *feed);

/* Feed a job, its purge, and the order to kill a run. */
void mirror_feed_job(struct feed *feed, const struct mirror_job *job, enum store_change_kind kind,
                     enum mirror_past past);
void mirror_feed_purge(struct feed *feed, const struct mirror_job *job);
void mirror_feed_kill(struct feed *feed, const struct run_row *row);

void mirror_release_job(struct mirror_job *job);

#endif
