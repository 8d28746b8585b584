/* Health of store, history and clock, in the same words everywhere: GET /agent, GET /cluster, GET
 * /readyz, and so peal state, peal cluster status and peal doctor. What the stores say themselves,
 * and what a server of the history said, is English in each language. */
#ifndef PEAL_API_HEALTH_H
#define PEAL_API_HEALTH_H

#include <jansson.h>

#include "server.h"

/* Unless OK, appends the fault to *why, separated from earlier text; never empty. E_CONFLICT:
 * another agent has this node's name. */
enum status health_of_store(const struct api *api, enum language language, struct strbuf *why);
enum status health_of_history(const struct api *api, enum language language, struct strbuf *why);

/* The wall clock of this node. False: appends to *why what is wrong with it, and what to do. */
bool health_of_clock(const struct api *api, enum language language, struct strbuf *why);

/* NULL: this node can start runs, or is not to. Else a word for the reason why it can't: disk_full,
 * store_away, restored, shut_out, clock_doubted, drained, spawner, stopping; appends to *why what
 * is wrong and what to do. */
const char *health_of_starts(const struct api *api, int64_t now_ms, enum language language,
                             struct strbuf *why);

/* While the engine is shut out: by which agent, and what to do. */
void health_explain_shut_out(const struct api *api, enum language language, struct strbuf *why);

/* {"ok", "detail"}, as far as the caller may see it; a new value; NULL: out of memory. */
json_t *encode_store_health(const struct call *call);
/* The same, with {"since", "spool": {"state", "since", "records", "bytes", "max_bytes",
 * "dropped_bytes"}}. */
json_t *encode_history_health(const struct call *call);

/* {"ok", "reason", "detail"}, of health_of_starts. */
json_t *encode_starts(const struct call *call);

/* {"ok", "detail", "doubt", "since", "left_s", "believed_at", "steps", "step_ms", "stepped_at",
 * "jobs_ahead"}. */
json_t *encode_clock_health(const struct call *call);

#endif
