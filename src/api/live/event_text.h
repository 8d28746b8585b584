/* Prints a change of the store as an event. Pure. */
#ifndef PEAL_EVENT_TEXT_H
#define PEAL_EVENT_TEXT_H

#include "ports.h"
#include "store.h"
#include "strbuf.h"

/* "event: run\ndata: {...}\n"; returns its topic (enum topic), or 0: no event. */
unsigned event_print(const struct store_change *change, struct strbuf *out);

/* "event: clock\ndata: {...}\n", of this node; returns its topic. */
unsigned event_print_step(const char *node, const struct clock_step *step, struct strbuf *out);

#endif
