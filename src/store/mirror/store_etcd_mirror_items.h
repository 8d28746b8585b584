/* What a key of a job, a cursor, a name, a run or an entry changes in the mirror, when it is read
 * or deleted, and how that is told. For the files of the mirror; where there is a `feed`, NULL
 * means that nobody is told. */
#ifndef PEAL_STORE_ETCD_MIRROR_ITEMS_H
#define PEAL_STORE_ETCD_MIRROR_ITEMS_H

#include "mirror/store_etcd_mirror.h"

enum status mirror_put_job(struct mirror *mirror, const struct id *uid, const struct etcd_kv *kv,
                           struct feed *feed);
enum status mirror_put_cursor(struct mirror *mirror, const struct id *uid, const struct etcd_kv *kv,
                              struct feed *feed);
enum status mirror_put_name(struct mirror *mirror, const char *text, const struct etcd_kv *kv);
enum status mirror_put_run(struct mirror *mirror, const struct id *id, const struct etcd_kv *kv,
                           struct feed *feed);
enum status mirror_put_entry(struct mirror *mirror, const struct id *id, const struct etcd_kv *kv,
                             struct feed *feed);

void mirror_delete_job(struct mirror *mirror, const struct id *uid, struct feed *feed);
void mirror_delete_cursor(struct mirror *mirror, const struct id *uid, struct feed *feed);
void mirror_delete_name(struct mirror *mirror, const char *text);
void mirror_delete_run(struct mirror *mirror, const struct id *id);
void mirror_delete_entry(struct mirror *mirror, const struct id *id);

/* The value is there and can't be read: the job is gone for all who are told, until it can.
 * E_NOMEM.
 */
MUST_CHECK enum status mirror_set_job_aside(struct mirror *mirror, const struct id *uid,
                                            struct feed *feed);
MUST_CHECK enum status mirror_set_cursor_aside(struct mirror *mirror, const struct id *uid,
                                               struct feed *feed);

/* A job as it is, its end for good, and the wish to kill a run. */
void mirror_feed_job(struct feed *feed, const struct mirror_job *job, enum store_change_kind kind);
void mirror_feed_purge(struct feed *feed, const struct mirror_job *job);
void mirror_feed_kill(struct feed *feed, const struct run_row *row);

void mirror_release_job(struct mirror_job *job);

#endif
