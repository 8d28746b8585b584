#include "events.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "accounts.h"
#include "call.h"
#include "encode.h"
#include "event_text.h"
#include "loop.h"
#include "stream.h"

enum {
    RING = 4096,
    SUBSCRIBERS_MAX = 10000,
    GATHER_MS = 50,   /* so many events are told together */
    ROUND_MS = 10000, /* within which all are looked after when nothing happens, ... */
    PAUSE_MS = 500,   /* ... a few at a time, after no longer pauses than this */
    SLICE = 50,       /* subscribers per turn of the loop: runs that are due must not wait */
    HEARTBEAT_MS = 15000,
    UNSENT_MAX = 256 << 10, /* a slow reader gets nothing more until it has read this */
};

struct event {
    unsigned topic;
    char *text; /* its fields, without the id */
    char *job;  /* whose it is; NULL: it is of no job, or of one without a name any more */
    int64_t place;
};

struct subscriber {
    struct events *events;
    struct stream stream;
    unsigned topics;
    struct principal *principal; /* NULL: of the UNIX socket */
    uint64_t checked;            /* how the accounts were when they were looked at */
    uint64_t seen;               /* number of the last event that it was sent, or passed over */
    int64_t from_place;          /* what is before, it has been told by another node; or 0 */
    int64_t sent_ms;
    TAILQ_ENTRY(subscriber) link;
};

TAILQ_HEAD(subscriber_list, subscriber);

struct events {
    const struct accounts *accounts;
    uint64_t epoch;
    struct event ring[RING];            /* event n is at n % RING */
    uint64_t last;                      /* number of the newest; 0: none yet */
    struct store_place place;           /* up to which it has heard */
    int64_t known_from;                 /* the ring has all events of later places */
    char *leader;                       /* the last event that told of one; NULL: none has */
    struct subscriber_list subscribers; /* who waits longest comes first */
    size_t count, behind; /* subscribers; those to be visited since the newest event */
    struct loop_timer *timer;
    struct evbuffer *out;
    struct evbuffer *news; /* what most are told: events from..to of these topics */
    uint64_t news_from, news_to;
    unsigned news_topics;
    struct known_node *nodes;
    size_t node_count;
};

/* Nodes speak every second or so; what is told is that they come, change and go. */
struct known_node {
    char name[64];
    bool is_alive;
    enum peer_refusal refusal;
};

/* ---- the ring ---- */

/* The oldest number that is still there; last + 1: none is. */
static uint64_t oldest(const struct events *events)
{
    return events->last >= RING ? events->last - RING + 1 : 1;
}

static bool is_news(struct events *events, const struct peer *peer)
{
    struct known_node *node = NULL;
    for (size_t i = 0; i < events->node_count && !node; i++) {
        if (strcmp(events->nodes[i].name, peer->name) == 0)
            node = &events->nodes[i];
    }
    if (node && node->is_alive == peer->is_alive && node->refusal == peer->refusal)
        return false;
    if (!node) {
        struct known_node *grown =
            realloc(events->nodes, (events->node_count + 1) * sizeof(*events->nodes));
        if (!grown)
            return true;
        events->nodes = grown;
        node = &grown[events->node_count++];
        memcpy(node->name, peer->name, sizeof(node->name));
    }
    node->is_alive = peer->is_alive;
    node->refusal = peer->refusal;
    return true;
}

/* What came before is of another store. */
static void begin_lineage(struct events *events, struct store_place place)
{
    for (size_t i = 0; i < RING; i++) {
        free(events->ring[i].text);
        events->ring[i].text = NULL; /* a gap, told as a reset */
    }
    events->place = place;
    events->known_from = place.number;
}

static void take_place(struct events *events, struct store_place place)
{
    if (place.lineage != events->place.lineage)
        begin_lineage(events, place);
    else if (place.number > events->place.number)
        events->place = place;
}

void events_pass(struct events *events, const struct store_change *change)
{
    take_place(events, change->place);
    events->known_from = events->place.number;
}

static const char *job_of(const struct store_change *change)
{
    return change->run     ? change->run->job_name
           : change->entry ? change->entry->job_name
                           : change->job_name;
}

void events_note(struct events *events, const struct store_change *change)
{
    struct strbuf text;
    take_place(events, change->place);
    if (change->kind == STORE_CHANGE_PEER && !is_news(events, change->peer))
        return;
    strbuf_init(&text);
    unsigned topic = event_print(change, &text);
    char *made = topic ? strbuf_detach(&text) : NULL;
    const char *job = job_of(change);
    strbuf_release(&text);
    if (!topic)
        return;
    struct event *event = &events->ring[++events->last % RING];
    if (events->last > RING && event->place > events->known_from)
        events->known_from = event->place;
    free(event->text);
    free(event->job);
    /* No text, out of memory: a gap, told as a reset. */
    *event = (struct event){topic, made, job ? strdup(job) : NULL, events->place.number};
    if (change->kind == STORE_CHANGE_LEADER) {
        free(events->leader);
        events->leader = made ? strdup(made) : NULL;
    }
    if (events->count && !events->behind)
        loop_timer_set(events->timer, GATHER_MS);
    events->behind = events->count;
}

/* ---- telling ---- */

/* Its number here, and, where other nodes see the same, its place there. */
static void print_id(const struct events *events, uint64_t number, int64_t place,
                     struct evbuffer *out)
{
    evbuffer_add_printf(out, "id: %" PRIx64 "-%" PRIu64, events->epoch, number);
    if (events->place.lineage)
        evbuffer_add_printf(out, "-%" PRIx64 "-%" PRId64, events->place.lineage, place);
    evbuffer_add(out, "\n", 1);
}

static void print_reset(const struct events *events, struct evbuffer *out)
{
    evbuffer_add_printf(out, "event: reset\n");
    print_id(events, events->last, events->place.number, out);
    evbuffer_add_printf(out, "data: {}\n\n");
}

static bool is_whole(const struct subscriber *subscriber)
{
    return !subscriber->principal || scope_is_whole(&subscriber->principal->scope);
}

/* Nodes are for all to see. */
static bool is_for(const struct subscriber *subscriber, const struct event *event)
{
    return event->topic & subscriber->topics && event->place >= subscriber->from_place &&
           (is_whole(subscriber) || event->topic == TOPIC_NODES ||
            (event->job && scope_may(&subscriber->principal->scope, RIGHT_VIEW, event->job)));
}

/* All that the subscriber has not seen, as text. */
static void print_news(const struct events *events, const struct subscriber *subscriber,
                       struct evbuffer *out)
{
    if (subscriber->seen + 1 < oldest(events)) {
        print_reset(events, out);
        return;
    }
    for (uint64_t n = subscriber->seen + 1; n <= events->last; n++) {
        const struct event *event = &events->ring[n % RING];
        if (!event->text) {
            evbuffer_drain(out, evbuffer_get_length(out));
            print_reset(events, out);
            return;
        }
        if (is_for(subscriber, event)) {
            print_id(events, n, event->place, out);
            evbuffer_add_printf(out, "%s\n", event->text);
        }
    }
}

/* Into events->out, what the subscriber has not seen. Most have seen the same, and may see all, so
 * that the text is made once and shared. */
static void add_news(struct events *events, const struct subscriber *subscriber)
{
    if (!is_whole(subscriber) || subscriber->from_place) {
        print_news(events, subscriber, events->out);
        return;
    }
    if (events->news_from != subscriber->seen || events->news_to != events->last ||
        events->news_topics != subscriber->topics) {
        evbuffer_drain(events->news, evbuffer_get_length(events->news));
        print_news(events, subscriber, events->news);
        events->news_from = subscriber->seen;
        events->news_to = events->last;
        events->news_topics = subscriber->topics;
    }
    evbuffer_add_buffer_reference(events->out, events->news);
}

static void visit(struct events *events, struct subscriber *subscriber, int64_t now_ms)
{
    if (stream_unsent(&subscriber->stream) > UNSENT_MAX)
        return; /* it gets a reset later, if need be */
    if (subscriber->seen < events->last)
        add_news(events, subscriber);
    subscriber->seen = events->last;
    if (events->place.number > subscriber->from_place)
        subscriber->from_place = 0;
    if (!evbuffer_get_length(events->out) && now_ms - subscriber->sent_ms >= HEARTBEAT_MS)
        evbuffer_add_printf(events->out, ":\n\n");
    if (!evbuffer_get_length(events->out))
        return;
    subscriber->sent_ms = now_ms;
    stream_send(&subscriber->stream, events->out);
}

/* Until the next few are looked after, when nothing happens. */
static int64_t pause_ms(const struct events *events)
{
    int64_t pause = (int64_t)ROUND_MS * SLICE / (int64_t)events->count;
    return pause < PAUSE_MS ? pause : PAUSE_MS;
}

static void leave(void *context)
{
    struct subscriber *subscriber = context;
    struct events *events = subscriber->events;
    TAILQ_REMOVE(&events->subscribers, subscriber, link);
    events->count--;
    free(subscriber->principal);
    free(subscriber);
}

/* Whether they may still listen; what is cheap is looked at first. */
static bool is_admitted(const struct events *events, struct subscriber *subscriber, int64_t wall_ms)
{
    const struct principal *principal = subscriber->principal;
    if (!principal || (subscriber->checked == events->accounts->changes &&
                       (!principal->ends_ms || wall_ms < principal->ends_ms)))
        return true;
    subscriber->checked = events->accounts->changes;
    return accounts_still_admit(events->accounts, principal, wall_ms);
}

static void look_after(void *context)
{
    struct events *events = context;
    struct now now = clock_now();
    for (size_t i = 0; i < SLICE && i < events->count; i++) {
        struct subscriber *first = TAILQ_FIRST(&events->subscribers);
        TAILQ_REMOVE(&events->subscribers, first, link);
        TAILQ_INSERT_TAIL(&events->subscribers, first, link);
        if (is_admitted(events, first, now.wall.ms)) {
            visit(events, first, now.boot.ms);
        } else {
            stream_end(&first->stream);
            leave(first);
        }
        events->behind -= events->behind > 0;
    }
    if (events->count)
        loop_timer_set(events->timer, events->behind ? 0 : pause_ms(events));
}

/* ---- coming and going ---- */

/* An id, as print_id prints it. */
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

/* The number of the last event before a place, of which and from which on all are here. */
static uint64_t number_before(const struct events *events, int64_t place)
{
    uint64_t number = oldest(events);
    while (number <= events->last && events->ring[number % RING].place < place)
        number++;
    return number - 1;
}

/* Where the client goes on: after the event that it saw here, or, if that was on another node, at
 * the place of that event, with what it may have seen of it. False: what it missed is not known. */
static bool find_place(const struct events *events, struct subscriber *subscriber, const char *text)
{
    struct event_id id;
    if (!read_id(text, &id))
        return false;
    if (id.epoch == events->epoch && id.number <= events->last) {
        subscriber->seen = id.number;
        return true;
    }
    if (id.epoch == events->epoch || !id.place.lineage ||
        id.place.lineage != events->place.lineage || id.place.number <= events->known_from)
        return false;
    subscriber->seen = number_before(events, id.place.number);
    subscriber->from_place = id.place.number;
    return true;
}

/* What it is told at once: where it is, so that it can come back there; and what it missed. Who
 * leads is not told in the order of the rest, and so again. */
static void greet(struct events *events, struct subscriber *subscriber, const char *last_id)
{
    evbuffer_add_printf(events->out, "retry: 2000\n");
    subscriber->seen = events->last;
    if (last_id && !find_place(events, subscriber, last_id)) {
        print_reset(events, events->out);
    } else {
        bool is_new = subscriber->seen == events->last && !subscriber->from_place;
        evbuffer_add_printf(events->out, "event: hello\n");
        print_id(events, subscriber->seen,
                 subscriber->from_place ? subscriber->from_place
                 : is_new               ? events->place.number
                                        : events->ring[subscriber->seen % RING].place,
                 events->out);
        evbuffer_add_printf(events->out, "data: {}\n\n");
        if (subscriber->from_place && events->leader && subscriber->topics & TOPIC_NODES)
            evbuffer_add_printf(events->out, "%s\n", events->leader);
    }
    subscriber->sent_ms = clock_now().boot.ms;
    stream_send(&subscriber->stream, events->out);
    visit(events, subscriber, subscriber->sent_ms);
}

void events_subscribe(struct events *events, struct call *call, unsigned topics,
                      const char *last_id)
{
    struct subscriber *subscriber = NULL;
    if (events->count == SUBSCRIBERS_MAX) {
        call_fail(call, 503, "there are %d subscribers already", SUBSCRIBERS_MAX);
        return;
    }
    subscriber = calloc(1, sizeof(*subscriber));
    char *id = last_id ? strdup(last_id) : NULL; /* the request's headers go with the call */
    bool is_local = call->principal.kind == PRINCIPAL_SOCKET;
    struct principal *principal = is_local ? NULL : principal_copy(&call->principal);
    if (!subscriber || (last_id && !id) || (!is_local && !principal)) {
        free(principal);
        free(subscriber);
        free(id);
        call_fail(call, 500, "out of memory");
        return;
    }
    subscriber->events = events;
    subscriber->topics = topics;
    subscriber->principal = principal;
    subscriber->checked = events->accounts->changes;
    if (stream_start(call, &subscriber->stream, leave, subscriber)) {
        call_free(call);
        TAILQ_INSERT_TAIL(&events->subscribers, subscriber, link);
        if (!events->count++)
            loop_timer_set(events->timer, PAUSE_MS);
        greet(events, subscriber, id);
    } else {
        free(principal);
        free(subscriber);
    }
    free(id);
}

size_t events_subscribers(const struct events *events)
{
    return events->count;
}

/* ---- life ---- */

enum status events_new(struct loop *loop, uint64_t epoch, const struct accounts *accounts,
                       struct events **ret)
{
    struct events *events = calloc(1, sizeof(*events));
    if (!events)
        return E_NOMEM;
    events->accounts = accounts;
    events->epoch = epoch;
    TAILQ_INIT(&events->subscribers);
    events->out = evbuffer_new();
    events->news = evbuffer_new();
    enum status st = events->out && events->news
                         ? loop_timer_new_patient(loop, look_after, events, &events->timer)
                         : E_NOMEM;
    if (st != OK) {
        events_free(events);
        return st;
    }
    *ret = events;
    return OK;
}

struct events *events_free(struct events *events)
{
    if (!events)
        return NULL;
    for (size_t i = 0; i < RING; i++) {
        free(events->ring[i].text);
        free(events->ring[i].job);
    }
    loop_timer_free(events->timer);
    if (events->out)
        evbuffer_free(events->out);
    if (events->news)
        evbuffer_free(events->news);
    free(events->nodes);
    free(events->leader);
    free(events);
    return NULL;
}
