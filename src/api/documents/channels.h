/* Channels, as the API needs them: the notifier knows them all. */
#ifndef PEAL_API_CHANNELS_H
#define PEAL_API_CHANNELS_H

#include "call.h"
#include "definition/job_codec.h"

/* A change of the feed. */
void channels_take(struct api *api, const struct store_change *change);

/* Are the channels there that the job names? E_INVALID: *reterr names the nearest that is. The
 * definition is what the job was read from. */
MUST_CHECK enum status channels_check(const struct api *api, const json_t *definition,
                                      const struct job *job, struct job_error *reterr);

/* Numbers of each for Prometheus; nothing if there are no channels. */
void channels_print_metrics(const struct api *api, struct strbuf *out);

#endif
