/* The event stream: the last few thousand changes, and their subscribers. An event has an id,
 * EPOCH-NUMBER; a client that reconnects with its last id gets the missed events, or a `reset` if
 * they are gone: then it reloads its data. In a cluster the id is EPOCH-NUMBER-LINEAGE-PLACE, the
 * last two from the store: with them another node resumes at the same place, and may repeat its
 * events. A subscriber costs its connection and a number; texts are shared by all who may see
 * all. */
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
    uint64_t epoch; /* differs between starts */
    const struct accounts *accounts;
    size_t held_max; /* limit of unread bytes of all subscribers; 0: the default */
    struct event_log log;
};

MUST_CHECK enum status events_new(const struct events_config *config, struct events **ret);
struct events *events_free(struct events *events); /* after the connections are closed */

/* A change from before the start: no event. */
void events_pass(struct events *events, const struct store_change *change);

/* Publishes a change. */
void events_note(struct events *events, const struct store_change *change);

/* The clock of this node was set. */
void events_note_step(struct events *events, const char *node, const struct clock_step *step);

/* The call becomes a subscriber to the jobs that it may see, as long as it is admitted. `last_id`
 * NULL: from now on. */
void events_subscribe(struct events *events, struct call *call, unsigned topics,
                      const char *last_id);

size_t events_subscribers(const struct events *events);

/* Unread bytes; shared texts count once. At the limit nothing more is sent, and the subscribers
 * with the most unread bytes are cut: events_cut, ever. */
size_t events_unread(const struct events *events);
uint64_t events_cut(const struct events *events);

#endif
