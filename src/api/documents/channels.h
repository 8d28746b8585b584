/* Channels in the API; the notifier holds them. */
#ifndef PEAL_API_CHANNELS_H
#define PEAL_API_CHANNELS_H

#include "call.h"
#include "definition/job_codec.h"

struct node;

/* Handles a change of the feed. */
void channels_take(struct api *api, const struct store_change *change);

/* Checks that the job's channels exist. E_INVALID: *reterr suggests the nearest name. `definition`
 * is the tree that the job was decoded from. */
MUST_CHECK enum status channels_check(const struct call *call, const struct node *definition,
                                      const struct job *job, struct job_error *reterr);

/* Metrics of each channel for Prometheus; nothing if there are no channels. */
void channels_print_metrics(const struct api *api, struct strbuf *out);

#endif
