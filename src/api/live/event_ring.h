/* The last few thousand events, each with its number here and its place in the store's history. An
 * id is EPOCH-NUMBER, or in a cluster EPOCH-NUMBER-LINEAGE-PLACE. */
#ifndef PEAL_EVENT_RING_H
#define PEAL_EVENT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "store.h"
#include "strbuf.h"

enum { EVENT_RING = 4096 };

struct event {
    unsigned topic;
    char *text; /* its fields, without the id; NULL: a gap, to be told as a reset */
    char *job;  /* whose it is; NULL: it is of no job, or of one without a name any more */
    int64_t place;
};

struct event_ring {
    uint64_t epoch;
    struct event events[EVENT_RING]; /* event n is at n % EVENT_RING */
    uint64_t last;                   /* number of the newest; 0: none yet */
    struct store_place place;        /* up to which it has heard */
    int64_t known_from;              /* it has all events of later places */
    char *leader;                    /* the last event that told of one; NULL: none has */
    struct known_node *nodes;
    size_t node_count;
};

void event_ring_release(struct event_ring *ring);

/* A change that nobody is told. */
void event_ring_pass(struct event_ring *ring, const struct store_change *change);

/* A change that is to be told; false: it is no event. */
bool event_ring_note(struct event_ring *ring, const struct store_change *change);

/* An event that is no change of the store. Takes the text over; NULL, out of memory: a gap. */
void event_ring_add(struct event_ring *ring, unsigned topic, char *text);

/* The oldest number that is still there; last + 1: none is. */
uint64_t event_ring_oldest(const struct event_ring *ring);
const struct event *event_ring_at(const struct event_ring *ring, uint64_t number);

/* "id: ..." and the end of the line. */
void event_ring_print_id(const struct event_ring *ring, uint64_t number, int64_t place,
                         struct strbuf *out);

/* Where a client goes on that has an id: after the event that it saw here, or, if that was on
 * another node, at the place of that event (*ret_place is not 0), with what it may have seen of it.
 * False: what it missed is not known. */
bool event_ring_find(const struct event_ring *ring, const char *text, uint64_t *ret_number,
                     int64_t *ret_place);

#endif
