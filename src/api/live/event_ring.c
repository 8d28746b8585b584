#include "live/event_ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/event_text.h"

/* Heartbeats come every second or so; only joins, changes and leaves are events. */
struct known_node {
    char name[64];
    bool is_alive;
    enum peer_refusal refusal;
};

/* ---- what happened ---- */

uint64_t event_ring_oldest(const struct event_ring *ring)
{
    return ring->last >= EVENT_RING ? ring->last - EVENT_RING + 1 : 1;
}

static bool is_news(struct event_ring *ring, const struct peer *peer)
{
    struct known_node *node = NULL;
    for (size_t i = 0; i < ring->node_count && !node; i++) {
        if (strcmp(ring->nodes[i].name, peer->name) == 0)
            node = &ring->nodes[i];
    }
    if (node && node->is_alive == peer->is_alive && node->refusal == peer->refusal)
        return false;
    if (!node) {
        struct known_node *grown =
            realloc(ring->nodes, (ring->node_count + 1) * sizeof(*ring->nodes));
        if (!grown)
            return true;
        ring->nodes = grown;
        node = &grown[ring->node_count++];
        memcpy(node->name, peer->name, sizeof(node->name));
    }
    node->is_alive = peer->is_alive;
    node->refusal = peer->refusal;
    return true;
}

/* Drops the events of another store. */
static void begin_lineage(struct event_ring *ring, struct store_place place)
{
    for (size_t i = 0; i < EVENT_RING; i++) {
        free(ring->events[i].text);
        ring->events[i].text = NULL; /* a gap, sent as a reset */
    }
    ring->place = place;
    ring->known_from = place.number;
}

static void take_place(struct event_ring *ring, struct store_place place)
{
    if (place.lineage != ring->place.lineage)
        begin_lineage(ring, place);
    else if (place.number > ring->place.number)
        ring->place = place;
}

void event_ring_pass(struct event_ring *ring, const struct store_change *change)
{
    take_place(ring, change->place);
    ring->known_from = ring->place.number;
}

/* Without text (out of memory) it is a gap, sent as a reset. */
void event_ring_add(struct event_ring *ring, unsigned topic, struct event_text *text)
{
    struct event *event = &ring->events[++ring->last % EVENT_RING];
    if (ring->last > EVENT_RING && event->place > ring->known_from)
        ring->known_from = event->place;
    free(event->text);
    event->topic = topic;
    event->text = text;
    event->place = ring->place.number;
}

/* The text of its last event, for those who come later. */
static void keep_leader(struct event_ring *ring, const struct event_text *text)
{
    struct strbuf out;
    strbuf_init(&out);
    if (text)
        event_text_print(text, &out);
    free(ring->leader);
    ring->leader = text ? strbuf_detach(&out) : NULL;
    strbuf_release(&out);
}

bool event_ring_note(struct event_ring *ring, const struct store_change *change)
{
    struct event_text *text;
    take_place(ring, change->place);
    if (change->kind == STORE_CHANGE_PEER && !is_news(ring, change->peer))
        return false;
    unsigned topic = event_text_of(change, &text);
    if (!topic)
        return false;
    event_ring_add(ring, topic, text);
    if (change->kind == STORE_CHANGE_LEADER)
        keep_leader(ring, text);
    return true;
}

const struct event *event_ring_at(const struct event_ring *ring, uint64_t number)
{
    return &ring->events[number % EVENT_RING];
}

void event_ring_release(struct event_ring *ring)
{
    for (size_t i = 0; i < EVENT_RING; i++)
        free(ring->events[i].text);
    free(ring->leader);
    free(ring->nodes);
}

/* ---- ids ---- */

void event_ring_print_id(const struct event_ring *ring, uint64_t number, int64_t place,
                         struct strbuf *out)
{
    strbuf_addf(out, "id: %" PRIx64 "-%" PRIu64, ring->epoch, number);
    if (ring->place.lineage)
        strbuf_addf(out, "-%" PRIx64 "-%" PRId64, ring->place.lineage, place);
    strbuf_addc(out, '\n');
}

/* As event_ring_print_id prints it. */
struct event_id {
    uint64_t epoch, number;
    struct store_place place;
};

static bool read_id(const char *text, struct event_id *ret)
{
    struct event_id id = {0};
    int length = 0, whole = 0;
    if (sscanf(text, "%" SCNx64 "-%" SCNu64 "%n-%" SCNx64 "-%" SCNd64 "%n", &id.epoch, &id.number,
               &length, &id.place.lineage, &id.place.number, &whole) < 2)
        return false;
    *ret = id;
    return !text[whole ? whole : length];
}

/* The number of the last event before a place from which on all events are here. */
static uint64_t number_before(const struct event_ring *ring, int64_t place)
{
    uint64_t number = event_ring_oldest(ring);
    while (number <= ring->last && ring->events[number % EVENT_RING].place < place)
        number++;
    return number - 1;
}

bool event_ring_find(const struct event_ring *ring, const char *text, uint64_t *ret_number,
                     int64_t *ret_place)
{
    struct event_id id;
    if (!read_id(text, &id))
        return false;
    if (id.epoch == ring->epoch && id.number <= ring->last) {
        *ret_number = id.number;
        *ret_place = 0;
        return true;
    }
    if (id.epoch == ring->epoch || !id.place.lineage || id.place.lineage != ring->place.lineage ||
        id.place.number <= ring->known_from)
        return false;
    *ret_number = number_before(ring, id.place.number);
    *ret_place = id.place.number;
    return true;
}
