/* A change of the store as an event. Pure. Most events are read by nobody: what an event says is
 * kept in less room than its text takes, and is printed for those who listen. */
#ifndef PEAL_EVENT_TEXT_H
#define PEAL_EVENT_TEXT_H

#include "ports.h"
#include "store.h"
#include "strbuf.h"

struct event_text;

/* The topic of the change (enum topic), or 0: no event. *ret is the caller's, from one malloc;
 * NULL: out of memory. */
unsigned event_text_of(const struct store_change *change, struct event_text **ret);

/* The same for a step of this node's clock. */
unsigned event_text_of_step(const char *node, const struct clock_step *step,
                            struct event_text **ret);

/* Its job; NULL: none, or the job has no name any more. */
const char *event_text_job(const struct event_text *text);

/* "event: run\ndata: {...}\n" */
void event_text_print(const struct event_text *text, struct strbuf *out);

#endif
