#include "feed.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct feed_item {
    struct feed_item *next;
    struct store_change change;
    _Alignas(max_align_t) char payload[]; /* what the change points to */
};

/* Appends an item with room for its payload; NULL: out of memory (failed is set), or is_deaf. */
static struct feed_item *append(struct feed *feed, const struct store_change *change, size_t room)
{
    if (feed->is_deaf)
        return NULL;
    struct feed_item *item = malloc(sizeof(*item) + room);
    if (!item) {
        feed->failed = true;
        return NULL;
    }
    item->next = NULL;
    item->change = *change;
    item->change.place = feed->place;
    if (feed->last)
        feed->last->next = item;
    else
        feed->first = item;
    feed->last = item;
    return item;
}

void feed_add_run(struct feed *feed, enum store_change_kind kind, const struct run *run)
{
    struct store_change change = {.kind = kind, .job_uid = run->job_uid};
    struct feed_item *item = append(feed, &change, sizeof(*run));
    if (item)
        item->change.run = memcpy(item->payload, run, sizeof(*run));
}

void feed_add_entry(struct feed *feed, const struct ledger_entry *entry)
{
    struct store_change change = {.kind = STORE_CHANGE_ENTRY, .job_uid = entry->job_uid};
    struct feed_item *item = append(feed, &change, sizeof(*entry));
    if (item)
        item->change.entry = memcpy(item->payload, entry, sizeof(*entry));
}

static void add_job(struct feed *feed, const struct store_change *change)
{
    size_t name_size = change->job_name ? strlen(change->job_name) + 1 : 0;
    size_t json_size = change->job_json ? strlen(change->job_json) + 1 : 0;
    struct feed_item *item = append(feed, change, name_size + json_size);
    if (!item)
        return;
    if (name_size)
        item->change.job_name = memcpy(item->payload, change->job_name, name_size);
    if (json_size)
        item->change.job_json = memcpy(item->payload + name_size, change->job_json, json_size);
}

static void add_meta(struct feed *feed, const struct store_change *change)
{
    struct feed_item *item = append(feed, change, sizeof(*change->meta));
    if (item)
        item->change.meta = memcpy(item->payload, change->meta, sizeof(*change->meta));
}

/* Appends a change with a single payload; returns the copy, for the change to point to. */
static void *add_payload(struct feed *feed, const struct store_change *change, const void *payload,
                         size_t size, struct feed_item **ret)
{
    *ret = append(feed, change, size);
    return *ret ? memcpy((*ret)->payload, payload, size) : NULL;
}

static void add_of_node(struct feed *feed, const struct store_change *change)
{
    struct feed_item *item;
    const void *copy;
    if (change->peer) {
        copy = add_payload(feed, change, change->peer, sizeof(*change->peer), &item);
        if (copy)
            item->change.peer = copy;
    } else if (change->drain) {
        copy = add_payload(feed, change, change->drain, sizeof(*change->drain), &item);
        if (copy)
            item->change.drain = copy;
    } else {
        copy = add_payload(feed, change, change->leader, strlen(change->leader) + 1, &item);
        if (copy)
            item->change.leader = copy;
    }
}

static void add_doc(struct feed *feed, const struct store_change *change)
{
    size_t json_size = change->doc->json ? strlen(change->doc->json) + 1 : 0;
    struct feed_item *item = append(feed, change, sizeof(*change->doc) + json_size);
    if (!item)
        return;
    struct store_doc *doc = memcpy(item->payload, change->doc, sizeof(*doc));
    if (json_size)
        doc->json = memcpy(item->payload + sizeof(*doc), change->doc->json, json_size);
    item->change.doc = doc;
}

static void add_aside(struct feed *feed, const struct store_change *change)
{
    struct feed_item *item;
    const void *copy =
        add_payload(feed, change, change->aside.key, strlen(change->aside.key) + 1, &item);
    if (copy)
        item->change.aside.key = copy;
}

void feed_add_gone(struct feed *feed, const struct id *id)
{
    append(feed, &(struct store_change){.kind = STORE_CHANGE_FORGET, .gone_id = *id}, 0);
}

void feed_add(struct feed *feed, const struct store_change *change)
{
    if (change->peer || change->drain || change->leader)
        add_of_node(feed, change);
    else if (change->run)
        feed_add_run(feed, change->kind, change->run);
    else if (change->entry)
        feed_add_entry(feed, change->entry);
    else if (change->meta)
        add_meta(feed, change);
    else if (change->doc)
        add_doc(feed, change);
    else if (change->aside.key)
        add_aside(feed, change);
    else
        add_job(feed, change);
}

void feed_move(struct feed *to, struct feed *from)
{
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    if (from->last)
        to->last = from->last;
    to->failed |= from->failed;
    *from = (struct feed){0};
}

const struct store_change *feed_each(const struct feed *feed, const struct feed_item **at)
{
    *at = *at ? (*at)->next : feed->first;
    return *at ? &(*at)->change : NULL;
}

static struct feed_item *take_first(struct feed *feed)
{
    struct feed_item *item = feed->first;
    if (!item)
        return NULL;
    feed->first = item->next;
    if (!feed->first)
        feed->last = NULL;
    return item;
}

void feed_release(struct feed *feed)
{
    struct feed_item *item;
    while ((item = take_first(feed)))
        free(item);
    feed->failed = false;
}

bool feed_next(struct feed *feed, struct feed_item **held, struct store_change *ret)
{
    struct feed_item *item = take_first(feed);
    if (!item)
        return false;
    free(*held);
    *held = item;
    *ret = item->change;
    return true;
}

struct feed_item *feed_item_free(struct feed_item *item)
{
    free(item);
    return NULL;
}
