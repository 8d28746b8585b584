#include "live/events.h"

#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "auth/accounts.h"
#include "call.h"
#include "live/event_ring.h"
#include "live/event_text.h"
#include "live/news.h"
#include "loop.h"
#include "runs/encode.h"
#include "stream.h"

enum {
    SUBSCRIBERS_MAX = 10000,
    GATHER_MS = 50,   /* events of this time are sent together */
    ROUND_MS = 10000, /* all subscribers are visited within this time when idle, ... */
    PAUSE_MS = 500,   /* ... a few at a time, after no longer pauses than this */
    SLICE = 50,       /* subscribers per turn of the loop: runs that are due must not wait */
    HEARTBEAT_MS = 15000,
    UNSENT_MAX = 256 << 10, /* a slow reader gets nothing more until it has read this */
    PAGE = 128 << 10,       /* and no more than this at once */
    HELD_MAX = 64 << 20,    /* of all together, by default */
    GRACE_MS = 1000,        /* a client that reads within this time is not cut */
    KERNEL_MAX = 64 << 10,  /* kernel buffer per subscriber */
};

struct subscriber {
    struct events *events;
    struct stream stream;
    unsigned topics;
    struct principal *principal; /* NULL: UNIX socket */
    uint64_t checked;            /* accounts->changes at the last check */
    uint64_t seen;               /* number of the last event that was sent or skipped */
    int64_t from_place;          /* earlier places were sent by another node; or 0 */
    int64_t sent_ms;
    int64_t empty_ms; /* when its output was last seen empty */
    TAILQ_ENTRY(subscriber) link;
};

TAILQ_HEAD(subscriber_list, subscriber);

/* A shared page: the events from `from` up to `to`, when `last` is the newest. */
struct page {
    struct news *news; /* NULL: no page */
    uint64_t from, last, to;
    unsigned topics;
};

struct events {
    const struct accounts *accounts;
    struct event_ring ring;
    struct subscriber_list subscribers; /* longest waiting first */
    size_t count, behind; /* subscribers, and those not visited since the newest event */
    struct loop_timer *timer;
    struct evbuffer *out;
    struct strbuf text;     /* being written */
    struct page page;       /* shared by most subscribers */
    struct news_desk *desk; /* unread texts of all subscribers, and ... */
    size_t held_max;        /* ... their limit, at which the worst are cut: so many, ever */
    uint64_t cut;
    struct event_log log;
};

/* ---- what happens ---- */

void events_pass(struct events *events, const struct store_change *change)
{
    event_ring_pass(&events->ring, change);
}

static void tell_soon(struct events *events)
{
    if (events->count && !events->behind)
        loop_timer_set(events->timer, GATHER_MS);
    events->behind = events->count;
}

void events_note(struct events *events, const struct store_change *change)
{
    if (event_ring_note(&events->ring, change))
        tell_soon(events);
}

void events_note_step(struct events *events, const char *node, const struct clock_step *step)
{
    struct event_text *text;
    unsigned topic = event_text_of_step(node, step, &text);
    event_ring_add(&events->ring, topic, text);
    tell_soon(events);
}

/* ---- telling ---- */

static void print_reset(const struct events *events, struct strbuf *out)
{
    strbuf_adds(out, "event: reset\n");
    event_ring_print_id(&events->ring, events->ring.last, events->ring.place.number, out);
    strbuf_adds(out, "data: {}\n\n");
}

static bool is_whole(const struct subscriber *subscriber)
{
    return !subscriber->principal || scope_is_whole(&subscriber->principal->scope);
}

/* Nodes and calendars are visible to all. */
static bool is_for(const struct subscriber *subscriber, const struct event *event)
{
    const char *job = event_text_job(event->text);
    return event->topic & subscriber->topics && event->place >= subscriber->from_place &&
           (is_whole(subscriber) || event->topic & (TOPIC_NODES | TOPIC_CALENDARS) ||
            (job && scope_may(&subscriber->principal->scope, RIGHT_VIEW, job)));
}

/* Prints the events that the subscriber has not seen, up to a page; returns the number of the last
 * one. */
static uint64_t print_news(const struct events *events, const struct subscriber *subscriber,
                           struct strbuf *out)
{
    uint64_t n = subscriber->seen;
    if (n + 1 < event_ring_oldest(&events->ring)) {
        print_reset(events, out);
        return events->ring.last;
    }
    while (n < events->ring.last && out->length < PAGE) {
        const struct event *event = event_ring_at(&events->ring, ++n);
        if (!event->text) {
            strbuf_reset(out);
            print_reset(events, out);
            return events->ring.last;
        }
        if (is_for(subscriber, event)) {
            event_ring_print_id(&events->ring, n, event->place, out);
            event_text_print(event->text, out);
            strbuf_addc(out, '\n');
        }
    }
    return n;
}

static void make_page(struct events *events, const struct subscriber *subscriber, struct page *page)
{
    news_release(page->news);
    page->from = subscriber->seen;
    page->last = events->ring.last;
    page->topics = subscriber->topics;
    page->to = print_news(events, subscriber, &events->text);
    page->news = news_new(events->desk, &events->text);
}

static bool is_page_of(const struct page *page, const struct events *events,
                       const struct subscriber *subscriber)
{
    return page->news && page->from == subscriber->seen && page->last == events->ring.last &&
           page->topics == subscriber->topics;
}

/* Adds a page of unseen events to events->out. Most subscribers have seen the same and may see all,
 * so the page is made once and shared. Out of memory: tried again later. */
static void add_news(struct events *events, struct subscriber *subscriber)
{
    bool shares = is_whole(subscriber) && !subscriber->from_place;
    struct page own = {.news = NULL}, *page = shares ? &events->page : &own;
    if (!is_page_of(page, events, subscriber))
        make_page(events, subscriber, page);
    if (page->news) {
        news_send(page->news, events->out);
        subscriber->seen = page->to;
        if (page->to < events->ring.last) /* more pages follow: it goes to the end of the queue */
            events->behind = events->count;
    }
    news_release(own.news);
}

static bool is_full(const struct events *events)
{
    return news_desk_held(events->desk) > events->held_max;
}

static void visit(struct events *events, struct subscriber *subscriber, int64_t now_ms)
{
    size_t unsent = stream_unsent(&subscriber->stream);
    if (!unsent)
        subscriber->empty_ms = now_ms;
    if (unsent > UNSENT_MAX)
        return; /* it gets a reset later, if need be */
    if (subscriber->seen < events->ring.last && is_full(events))
        events->behind = events->count; /* until others have read theirs, or are cut */
    else if (subscriber->seen < events->ring.last)
        add_news(events, subscriber);
    if (subscriber->seen == events->ring.last && events->ring.place.number > subscriber->from_place)
        subscriber->from_place = 0;
    if (!evbuffer_get_length(events->out) && now_ms - subscriber->sent_ms >= HEARTBEAT_MS)
        evbuffer_add_printf(events->out, ":\n\n");
    if (!evbuffer_get_length(events->out))
        return;
    subscriber->sent_ms = now_ms;
    stream_send(&subscriber->stream, events->out);
}

/* The pause until the next few are visited when idle. */
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

/* May the subscriber still listen? Cheap checks first. */
static bool is_admitted(const struct events *events, struct subscriber *subscriber, int64_t wall_ms)
{
    const struct principal *principal = subscriber->principal;
    if (!principal || (subscriber->checked == events->accounts->changes &&
                       (!principal->ends_ms || wall_ms < principal->ends_ms)))
        return true;
    subscriber->checked = events->accounts->changes;
    return accounts_still_admit(events->accounts, principal, wall_ms);
}

/* ---- those who do not read ---- */

struct holder {
    struct subscriber *subscriber;
    size_t unsent;
};

static int compare_holders(const void *a, const void *b)
{
    size_t left = ((const struct holder *)a)->unsent, right = ((const struct holder *)b)->unsent;
    return (left < right) - (left > right);
}

/* All subscribers with unread bytes for a while, largest first; freed by the caller. */
static struct holder *list_holders(const struct events *events, int64_t now_ms, size_t *ret_count)
{
    struct holder *holders = calloc(events->count + 1, sizeof(*holders));
    struct subscriber *one;
    size_t count = 0;
    if (!holders)
        return NULL;
    TAILQ_FOREACH (one, &events->subscribers, link) {
        holders[count] = (struct holder){one, stream_unsent(&one->stream)};
        count += holders[count].unsent > 0 && now_ms - one->empty_ms >= GRACE_MS;
    }
    qsort(holders, count, sizeof(*holders), compare_holders);
    *ret_count = count;
    return holders;
}

static void log_cut(const struct events *events, size_t count, size_t held)
{
    char particulars[160];
    if (!events->log.write)
        return;
    snprintf(particulars, sizeof(particulars),
             "count=%zu held_bytes=%zu limit_bytes=%zu left=%zu error=\"they do not read\"", count,
             held, events->held_max, events->count);
    events->log.write(events->log.context, "subscribers_cut", particulars);
}

/* Cuts to well below the limit, so that it is not repeated at once. */
static void cut_holders(struct events *events, int64_t now_ms)
{
    size_t count = 0, done = 0, held = news_desk_held(events->desk);
    events->page.news = news_release(events->page.news);
    struct holder *holders = list_holders(events, now_ms, &count);
    for (; done < count && news_desk_held(events->desk) > events->held_max / 4 * 3; done++)
        stream_break(&holders[done].subscriber->stream);
    free(holders);
    events->cut += done;
    if (done)
        log_cut(events, done, held);
}

static void look_after(void *context)
{
    struct events *events = context;
    struct now now = clock_now();
    if (is_full(events))
        cut_holders(events, now.boot.ms);
    for (size_t i = 0; i < SLICE && i < events->count; i++) {
        struct subscriber *first = TAILQ_FIRST(&events->subscribers);
        TAILQ_REMOVE(&events->subscribers, first, link);
        TAILQ_INSERT_TAIL(&events->subscribers, first, link);
        events->behind -= events->behind > 0;
        if (is_admitted(events, first, now.wall.ms)) {
            visit(events, first, now.boot.ms);
        } else {
            stream_end(&first->stream);
            leave(first);
        }
    }
    if (!events->behind) /* all have it, or have it unread */
        events->page.news = news_release(events->page.news);
    if (events->count)
        loop_timer_set(events->timer, is_full(events)  ? GATHER_MS
                                      : events->behind ? 0
                                                       : pause_ms(events));
}

/* ---- coming and going ---- */

/* The first events: the current id, to resume from; and what the subscriber missed. The leader is
 * sent again, since its changes are not ordered with the rest. */
static void greet(struct events *events, struct subscriber *subscriber, const char *last_id)
{
    struct strbuf *out = &events->text;
    strbuf_adds(out, "retry: 2000\n");
    subscriber->seen = events->ring.last;
    if (last_id &&
        !event_ring_find(&events->ring, last_id, &subscriber->seen, &subscriber->from_place)) {
        print_reset(events, out);
    } else {
        bool is_new = subscriber->seen == events->ring.last && !subscriber->from_place;
        strbuf_adds(out, "event: hello\n");
        event_ring_print_id(&events->ring, subscriber->seen,
                            subscriber->from_place ? subscriber->from_place
                            : is_new               ? events->ring.place.number
                                     : event_ring_at(&events->ring, subscriber->seen)->place,
                            out);
        strbuf_adds(out, "data: {}\n\n");
        if (subscriber->from_place && events->ring.leader && subscriber->topics & TOPIC_NODES)
            strbuf_addf(out, "%s\n", events->ring.leader);
    }
    evbuffer_add(events->out, out->text, out->length);
    strbuf_reset(out);
    subscriber->sent_ms = subscriber->empty_ms = clock_now().boot.ms;
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
    char *id = last_id ? strdup(last_id) : NULL; /* the headers are freed with the call */
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
        stream_share(&subscriber->stream, KERNEL_MAX);
        TAILQ_INSERT_TAIL(&events->subscribers, subscriber, link);
        bool was_behind = events->behind > 0;
        if (!events->count++)
            loop_timer_set(events->timer, PAUSE_MS);
        greet(events, subscriber, id);
        if (!was_behind && events->behind)
            loop_timer_set(events->timer, 0);
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

size_t events_unread(const struct events *events)
{
    return news_desk_held(events->desk);
}

uint64_t events_cut(const struct events *events)
{
    return events->cut;
}

/* ---- life ---- */

enum status events_new(const struct events_config *config, struct events **ret)
{
    struct events *events = calloc(1, sizeof(*events));
    if (!events)
        return E_NOMEM;
    events->accounts = config->accounts;
    events->ring.epoch = config->epoch;
    events->held_max = config->held_max ? config->held_max : HELD_MAX;
    events->log = config->log;
    TAILQ_INIT(&events->subscribers);
    strbuf_init(&events->text);
    events->out = evbuffer_new();
    events->desk = news_desk_new();
    enum status st = events->out && events->desk
                         ? loop_timer_new_patient(config->loop, look_after, events, &events->timer)
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
    event_ring_release(&events->ring);
    loop_timer_free(events->timer);
    if (events->out)
        evbuffer_free(events->out);
    news_release(events->page.news);
    news_desk_close(events->desk);
    strbuf_release(&events->text);
    free(events);
    return NULL;
}
