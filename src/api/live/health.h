/* How the store, the history and the clock are, in the same words wherever they are told: GET
 * /agent, GET /cluster, GET /readyz, and so peal state, peal cluster status and peal doctor. */
#ifndef PEAL_API_HEALTH_H
#define PEAL_API_HEALTH_H

#include <jansson.h>

#include "server.h"

/* Unless OK, adds what is wrong to *why: never nothing, and apart from what is there already.
 * E_CONFLICT: another agent has this node's name. */
enum status health_of_store(const struct api *api, struct strbuf *why);
enum status health_of_history(const struct api *api, struct strbuf *why);

/* The wall clock of this node. False: adds to *why what is wrong with it, and what to do. */
bool health_of_clock(const struct api *api, struct strbuf *why);

/* While the engine is shut out: by whom, and what to do. */
void health_explain_shut_out(const struct api *api, struct strbuf *why);

/* {"ok", "detail"}, for who asks; a new value, NULL without memory. */
json_t *encode_store_health(const struct call *call);
json_t *encode_history_health(const struct call *call);

/* {"ok", "detail", "doubt", "believed_at", "steps", "step_ms", "stepped_at", "jobs_ahead"}. */
json_t *encode_clock_health(const struct call *call);

#endif
