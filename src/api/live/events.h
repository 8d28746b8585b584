/* What happens, as it happens: the last few thousand changes, and those who listen to them. An
 * event has an id, EPOCH-NUMBER; a client that comes back with the last one it saw gets what it
 * missed, or a `reset` if that is gone: then it reads anew what it shows. In a cluster the id is
 * EPOCH-NUMBER-LINEAGE-PLACE, the last two those of the store: with them another node goes on at
 * the same place, and may tell again what happened there. A subscriber costs its connection and a
 * number; what it is sent is shared by all who may see all. */
#ifndef PEAL_EVENTS_H
#define PEAL_EVENTS_H

#include <stdint.h>

#include "engine.h"
#include "store.h"

struct accounts;
struct call;
struct events;
struct loop;

enum topic {
    TOPIC_JOBS = 1,
    TOPIC_RUNS = 2,
    TOPIC_NODES = 4,
    TOPIC_CALENDARS = 8,
    TOPICS_ALL = 15,
};

struct events_config {
    struct loop *loop;
    uint64_t epoch; /* differs from start to start */
    const struct accounts *accounts;
    size_t held_max; /* bytes that all subscribers together may leave unread; 0: the default */
    struct event_log log;
};

MUST_CHECK enum status events_new(const struct events_config *config, struct events **ret);
struct events *events_free(struct events *events); /* after the connections are closed */

/* A change that nobody is told, since it is from before the start. */
void events_pass(struct events *events, const struct store_change *change);

/* A change that is to be told. */
void events_note(struct events *events, const struct store_change *change);

/* The clock of this node was set. */
void events_note_step(struct events *events, const char *node, const struct clock_step *step);

/* The call becomes a subscriber, who is told of the jobs that they may see, for as long as they are
 * admitted. `last_id` NULL: from now on. */
void events_subscribe(struct events *events, struct call *call, unsigned topics,
                      const char *last_id);

size_t events_subscribers(const struct events *events);

/* Bytes that they have not taken yet: what is shared counts once. When it is too much, nobody is
 * sent more, and those who hold most and do not take it are cut: so many, ever. */
size_t events_unread(const struct events *events);
uint64_t events_cut(const struct events *events);

#endif
