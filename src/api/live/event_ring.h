/* The last few thousand events, each with its number on this node and its place in the store. An id
 * is EPOCH-NUMBER, or in a cluster EPOCH-NUMBER-LINEAGE-PLACE. */
#ifndef PEAL_EVENT_RING_H
#define PEAL_EVENT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "store.h"
#include "strbuf.h"

enum { EVENT_RING = 4096 };

struct event_text;

struct event {
    unsigned topic;
    struct event_text *text; /* its fields, without the id; NULL: a gap, sent as a reset */
    int64_t place;
};

struct event_ring {
    uint64_t epoch;
    struct event events[EVENT_RING]; /* event n is at n % EVENT_RING */
    uint64_t last;                   /* number of the newest; 0: none yet */
    struct store_place place;        /* of the last change */
    int64_t known_from;              /* all events of later places are here */
    char *leader;                    /* the last event of a leader; NULL: none */
    struct known_node *nodes;
    size_t node_count;
};

void event_ring_release(struct event_ring *ring);

/* A change without an event. */
void event_ring_pass(struct event_ring *ring, const struct store_change *change);

/* Adds the event of a change; false: the change is no event. */
bool event_ring_note(struct event_ring *ring, const struct store_change *change);

/* Adds an event that is not a change of the store. Takes the text over; NULL (out of memory): a
 * gap. */
void event_ring_add(struct event_ring *ring, unsigned topic, struct event_text *text);

/* The oldest number in the ring; last + 1: empty. */
uint64_t event_ring_oldest(const struct event_ring *ring);
const struct event *event_ring_at(const struct event_ring *ring, uint64_t number);

/* "id: ..." and the end of the line. */
void event_ring_print_id(const struct event_ring *ring, uint64_t number, int64_t place,
                         struct strbuf *out);

/* Where a client with this id resumes: after the event that it saw here; or, if it was on another
 * node, at the place of that event (*ret_place is not 0), whose events it may see again. False: the
 * missed events are not known. */
bool event_ring_find(const struct event_ring *ring, const char *text, uint64_t *ret_number,
                     int64_t *ret_place);

#endif
