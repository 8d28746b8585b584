/* Mutes of jobs in the API; the notifier holds them. */
#ifndef PEAL_API_MUTES_H
#define PEAL_API_MUTES_H

#include "mute.h"
#include "state/catalog.h"
#include "store.h"

struct api;
struct strbuf;

/* Handles a change of the feed. */
void mutes_take(struct api *api, const struct store_change *change);

/* A timer's: the leader deletes what has been over for a day, or whose job is gone. */
void mutes_sweep(void *context);

/* The mute that is shown with a job: one that is active, or has ended not long ago. NULL: none. */
const struct mute *mute_of(const struct api *api, const struct catalog_job *job, int64_t now_ms);

/* As the API shows it; `job` NULL: it is not known. NULL: out of memory. */
json_t *mute_show(const struct mute *mute, const struct catalog_job *job, int64_t now_ms);

#endif
