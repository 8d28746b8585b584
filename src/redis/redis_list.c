/* A long range, without keeping the server busy for long: its keys are read in pages, then what has
 * changed since the first page, up to the last one, is put in its place. So all of it is the state
 * at one revision. It is handed out in pages again, one in each turn of the loop.
 *
 *     PAGES -> CHANGES -> GIVING        a gap in the changes: from the start again
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"

enum { READ_KEYS = 1000, READ_CHANGES = 100, GIVE_KEYS = 2000 };
#define READ_KEYS_TEXT    "1000"
#define READ_CHANGES_TEXT "100"
_Static_assert(READ_KEYS == 1000 && READ_CHANGES == 100, "as texts");

enum stage { PAGES, CHANGES, GIVING };

/* The last change of a key, or the last but one and so on, in any order. */
struct late {
    struct kv_pair kv;
    bool is_delete;
    size_t number; /* of all changes */
};

struct redis_list {
    struct kv_list base; /* first */
    struct redis_job job;
    struct redis_client *client;
    struct redis_list *next, **link;
    struct kv_reply reply;
    struct loop_timer *timer; /* the next page, or the deadline */
    struct arena arena;
    struct kv_bytes low, high;
    enum stage stage;
    struct redisReply **replies; /* what the pairs point into */
    size_t reply_count, reply_room;
    struct kv_pair *kvs;
    size_t count, room, given, give_keys;
    struct late *lates;
    size_t late_count, late_room;
    int64_t first_rev, last_rev, cursor, incarnation;
    char cursor_text[24];
};

static const struct redis_job_type list_type;

static struct redis_list *list_of(struct redis_job *job)
{
    return (struct redis_list *)((char *)job - offsetof(struct redis_list, job));
}

/* ---- memory ---- */

static bool make_room(void **items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    size_t wanted = *room ? 2 * *room : 256;
    void *moved = realloc(*items, wanted * size);
    if (!moved)
        return false;
    *items = moved;
    *room = wanted;
    return true;
}

static void forget(struct redis_list *list)
{
    for (size_t i = 0; i < list->reply_count; i++)
        freeReplyObject(list->replies[i]);
    list->reply_count = list->count = list->late_count = 0;
}

static void free_list(struct redis_list *list)
{
    redis_job_drop_reply(&list->job);
    forget(list);
    free(list->replies);
    free(list->kvs);
    free(list->lates);
    loop_timer_free(list->timer);
    arena_release(&list->arena);
    free(list);
}

static void free_job(struct redis_job *job)
{
    free_list(list_of(job));
}

static void let_go(struct redis_list *list)
{
    *list->link = list->next;
    if (list->next)
        list->next->link = list->link;
    if (list->stage == GIVING || redis_link_withdraw(&list->client->calls, &list->job)) {
        free_list(list);
        return;
    }
    list->job.is_dropped = true;
    list->timer = loop_timer_free(list->timer);
}

static void fail(struct redis_list *list, enum status st, const char *message)
{
    struct kv_reply reply = list->reply;
    struct strbuf words;
    strbuf_init(&words);
    strbuf_adds(&words, message);
    let_go(list);
    reply.done(reply.context,
               &(struct kv_result){.status = st, .code = KV_NO_CODE, .message = words.text});
    strbuf_release(&words);
}

/* ---- asking ---- */

static void ask_page(struct redis_list *list)
{
    struct redis_command *command = &list->job.command;
    const struct kv_bytes from = list->count ? list->kvs[list->count - 1].key : list->low;
    *command = (struct redis_command){.script = REDIS_MAY_NOT_GROW};
    redis_adds(command, "page");
    redis_add(command, from.data, from.length);
    redis_add(command, list->high.data, list->high.length);
    redis_adds(command, READ_KEYS_TEXT);
    redis_adds(command, list->count ? "1" : "0");
    redis_link_submit(&list->client->calls, &list->job);
}

static void ask_changes(struct redis_list *list)
{
    struct redis_command *command = &list->job.command;
    *command = (struct redis_command){.script = REDIS_MAY_NOT_GROW};
    snprintf(list->cursor_text, sizeof(list->cursor_text), "%" PRId64, list->cursor);
    redis_adds(command, "changes");
    redis_adds(command, list->cursor_text);
    redis_adds(command, READ_CHANGES_TEXT);
    redis_link_submit(&list->client->calls, &list->job);
}

static void begin(struct redis_list *list)
{
    forget(list);
    list->stage = PAGES;
    ask_page(list);
}

/* ---- answers ---- */

static enum status keep_reply(struct redis_list *list)
{
    if (!make_room((void **)&list->replies, list->reply_count, &list->reply_room,
                   sizeof(struct redisReply *)))
        return E_NOMEM;
    list->replies[list->reply_count++] = list->job.reply;
    list->job.reply = NULL;
    return OK;
}

static enum status take_page(struct redis_list *list, const struct redisReply *reply,
                             size_t *ret_count)
{
    const struct redisReply *found = redis_at(reply, 1);
    struct redis_head head;
    if (!redis_read_head(redis_at(reply, 0), &head) || !found || found->type != REDIS_REPLY_ARRAY ||
        found->elements % 2 != 0 || found->elements / 2 > READ_KEYS)
        return E_CORRUPT;
    if (!list->count)
        list->first_rev = head.rev;
    list->last_rev = head.rev;
    list->incarnation = head.incarnation;
    for (size_t i = 0; i < found->elements; i += 2) {
        struct kv_bytes key, entry;
        if (!make_room((void **)&list->kvs, list->count, &list->room, sizeof(*list->kvs)))
            return E_NOMEM;
        if (!redis_read_bytes(found->element[i], &key) ||
            !redis_read_bytes(found->element[i + 1], &entry) ||
            !redis_read_pair(key, entry, &list->kvs[list->count]))
            return E_CORRUPT;
        list->count++;
    }
    *ret_count = found->elements / 2;
    return OK;
}

static enum status take_events(struct redis_list *list, const struct kv_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (kv_compare_bytes(events[i].kv.key, list->low) < 0 ||
            kv_compare_bytes(events[i].kv.key, list->high) >= 0)
            continue;
        if (!make_room((void **)&list->lates, list->late_count, &list->late_room,
                       sizeof(*list->lates)))
            return E_NOMEM;
        list->lates[list->late_count] =
            (struct late){events[i].kv, events[i].is_delete, list->late_count};
        list->late_count++;
    }
    return OK;
}

/* E_NOT_FOUND: changes in between were removed already. */
static enum status take_changes(struct redis_list *list, const struct redisReply *reply)
{
    const struct redisReply *items = redis_at(reply, 1);
    enum status st = items && items->type == REDIS_REPLY_ARRAY ? OK : E_CORRUPT;
    if (st == OK && items->elements == 0)
        return E_NOT_FOUND;
    for (size_t i = 0; st == OK && i < items->elements && list->cursor < list->last_rev; i++) {
        struct kv_bytes change;
        struct kv_event *events;
        size_t count;
        int64_t rev;
        if (!redis_read_item(items->element[i], &rev, &change) ||
            !redis_read_events(change, rev, &events, &count))
            return E_CORRUPT;
        st = rev == list->cursor + 1 ? take_events(list, events, count) : E_NOT_FOUND;
        list->cursor = rev;
        free(events);
    }
    return st;
}

/* ---- both together ---- */

static int by_key(const void *a, const void *b)
{
    const struct late *first = a, *second = b;
    int order = kv_compare_bytes(first->kv.key, second->kv.key);
    return order ? order : first->number < second->number ? -1 : 1;
}

/* What has changed takes the place of what was read. */
static enum status merge(struct redis_list *list)
{
    size_t count = 0, at = 0;
    if (!list->late_count)
        return OK;
    qsort(list->lates, list->late_count, sizeof(*list->lates), by_key);
    struct kv_pair *merged = malloc((list->count + list->late_count) * sizeof(*merged));
    if (!merged)
        return E_NOMEM;
    for (size_t i = 0; i < list->late_count; i++) {
        const struct late *late = &list->lates[i];
        bool is_last = i + 1 == list->late_count ||
                       kv_compare_bytes(late->kv.key, list->lates[i + 1].kv.key) != 0;
        if (!is_last)
            continue;
        while (at < list->count && kv_compare_bytes(list->kvs[at].key, late->kv.key) < 0)
            merged[count++] = list->kvs[at++];
        if (at < list->count && kv_compare_bytes(list->kvs[at].key, late->kv.key) == 0)
            at++;
        if (!late->is_delete)
            merged[count++] = late->kv;
    }
    while (at < list->count)
        merged[count++] = list->kvs[at++];
    free(list->kvs);
    list->kvs = merged;
    list->count = count;
    list->room = list->count + list->late_count;
    return OK;
}

static enum status give_all(struct redis_list *list)
{
    enum status st = merge(list);
    if (st != OK)
        return st;
    list->stage = GIVING;
    loop_timer_set(list->timer, 0);
    return OK;
}

/* ---- one step after another ---- */

static enum status take(struct redis_list *list)
{
    const struct redisReply *reply = list->job.reply;
    size_t found = 0;
    enum status st = keep_reply(list);
    if (st != OK)
        return st;
    if (list->stage == PAGES) {
        st = take_page(list, reply, &found);
        if (st != OK)
            return st;
        list->cursor = list->first_rev;
        if (found == READ_KEYS) {
            ask_page(list);
            return OK;
        }
        list->stage = CHANGES;
    } else {
        st = take_changes(list, reply);
        if (st == E_NOT_FOUND) {
            begin(list);
            return OK;
        }
    }
    if (st == OK && list->cursor < list->last_rev)
        ask_changes(list);
    else if (st == OK)
        st = give_all(list);
    return st;
}

static void list_over(struct redis_job *job, bool is_lost)
{
    struct redis_list *list = list_of(job);
    enum status st = OK;
    if (is_lost) /* a read: once more, until its deadline */
        begin(list);
    else if (job->reply->type != REDIS_REPLY_ERROR)
        st = take(list);
    else if (redis_judge(job->reply->str, &st) != REDIS_REFUSED) {
        redis_link_lose(&list->client->calls, job->reply->str);
        redis_job_drop_reply(job);
        st = OK;
        begin(list);
    }
    if (st != OK) {
        list->stage = GIVING; /* off the link */
        fail(list, st, "the list can't be read");
    }
}

static const struct redis_job_type list_type = {.over = list_over, .free = free_job};

static void give_page(struct redis_list *list)
{
    size_t left = list->count - list->given;
    size_t count = left > list->give_keys ? list->give_keys : left;
    struct kv_reply reply = list->reply;
    struct kv_result result = {
        .message = "",
        .revision = list->last_rev,
        .cluster_id = redis_cluster_id(list->incarnation),
        .op = {.kind = KV_OP_RANGE,
               .kvs = list->kvs + list->given,
               .kv_count = count,
               .count = (int64_t)left,
               .more = count < left},
    };
    list->given += count;
    if (result.op.more) {
        loop_timer_set(list->timer, 0);
        reply.done(reply.context, &result);
        return;
    }
    *list->link = list->next; /* first, so that nobody cancels it */
    if (list->next)
        list->next->link = list->link;
    reply.done(reply.context, &result);
    free_list(list);
}

static void on_timer(void *context)
{
    struct redis_list *list = context;
    const struct redis_link *link = &list->client->calls;
    if (list->stage == GIVING)
        give_page(list);
    else
        fail(list, link->wire ? E_UNKNOWN : E_UNREACHABLE,
             link->why.length ? link->why.text : "it did not answer in time");
}

static enum status keep_span(struct redis_list *list, const struct kv_range *request)
{
    struct kv_bytes low, high;
    enum status st =
        kv_span(&list->arena, request->key, request->end, request->prefix, &low, &high);
    char *bytes = st == OK ? arena_alloc(&list->arena, low.length + high.length + 1) : NULL;
    if (!bytes)
        return E_NOMEM;
    if (low.length)
        memcpy(bytes, low.data, low.length);
    memcpy(bytes + low.length, high.data, high.length);
    list->low = (struct kv_bytes){bytes, low.length};
    list->high = (struct kv_bytes){bytes + low.length, high.length};
    return OK;
}

enum status redis_list(struct kv_client *base, const struct kv_range *request,
                       const struct kv_reply *reply, struct kv_list **ret)
{
    struct redis_client *client = (struct redis_client *)base;
    struct redis_list *list = calloc(1, sizeof(*list));
    if (!list)
        return E_NOMEM;
    list->base.client = base;
    list->client = client;
    list->reply = *reply;
    list->job.type = &list_type;
    list->give_keys =
        request->limit > 0 && request->limit < GIVE_KEYS ? (size_t)request->limit : GIVE_KEYS;
    arena_init(&list->arena);
    enum status st = keep_span(list, request);
    if (st == OK)
        st = loop_timer_new(base->loop, on_timer, list, &list->timer);
    if (st != OK) {
        free_list(list);
        return st;
    }
    list->next = client->lists;
    list->link = &client->lists;
    if (list->next)
        list->next->link = &list->next;
    client->lists = list;
    loop_timer_set(list->timer,
                   reply->deadline_ms > 0 ? reply->deadline_ms : client->requests.deadline_ms);
    begin(list);
    if (ret)
        *ret = &list->base;
    return OK;
}

void redis_list_cancel(struct kv_list *list)
{
    let_go((struct redis_list *)list);
}

void redis_lists_release(struct redis_client *client)
{
    while (client->lists) {
        /* Who is let go is not in the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        let_go(client->lists);
    }
}
