/* A change of the store as the text of an event. Pure. */
#ifndef PEAL_EVENT_TEXT_H
#define PEAL_EVENT_TEXT_H

#include "store.h"
#include "strbuf.h"

/* "event: run\ndata: {...}\n"; its topic (enum topic), or 0 for what nobody is told. */
unsigned event_print(const struct store_change *change, struct strbuf *out);

#endif
