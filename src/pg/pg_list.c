/* A long range: one statement, and so one snapshot; its rows are handed out in pages, one in each
 * turn of the loop. */
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

enum { PAGE_KEYS = 2000 };
enum { FEED_REV, INCARNATION, KEY, VALUE, CREATE_REV, MOD_REV, VERSION, LEASE };

struct pg_list {
    struct kv_list base; /* first */
    struct pg_job job;
    struct pg_client *client;
    struct pg_list *next, **link;
    struct kv_reply reply;
    struct loop_timer *timer; /* the next page, or the deadline */
    struct arena arena;
    struct pg_params params;
    PGresult *rows;
    int given, page_keys;
    bool is_off_link;
};

static const struct pg_job_type list_type;

static struct pg_list *list_of(struct pg_job *job)
{
    return (struct pg_list *)((char *)job - offsetof(struct pg_list, job));
}

static void free_list(struct pg_list *list)
{
    PQclear(list->rows);
    loop_timer_free(list->timer);
    arena_release(&list->arena);
    free(list);
}

static void free_job(struct pg_job *job)
{
    free_list(list_of(job));
}

static void let_go(struct pg_list *list)
{
    *list->link = list->next;
    if (list->next)
        list->next->link = list->link;
    if (list->is_off_link || pg_link_withdraw(&list->client->calls, &list->job)) {
        free_list(list);
        return;
    }
    list->job.is_dropped = true;
    list->timer = loop_timer_free(list->timer);
}

static void fail(struct pg_list *list, enum status st, const char *message)
{
    struct kv_reply reply = list->reply;
    struct strbuf words;
    strbuf_init(&words);
    strbuf_adds(&words, message);
    let_go(list);
    reply.done(reply.context, &(struct kv_result){.status = st,
                                                  .code = KV_NO_CODE,
                                                  .message = words.text ? words.text : ""});
    strbuf_release(&words);
}

static bool list_rows(struct pg_job *job, PGresult *rows)
{
    list_of(job)->rows = rows;
    return true;
}

static void list_over(struct pg_job *job, bool is_lost)
{
    struct pg_list *list = list_of(job);
    (void)is_lost;
    if (!list->rows) { /* a read: once more, until its deadline */
        pg_link_submit(&list->client->calls, job);
        return;
    }
    list->is_off_link = true;
    loop_timer_set(list->timer, 0);
}

static const struct pg_job_type list_type = {
    .rows = list_rows, .over = list_over, .free = free_job};

static void give_page(struct pg_list *list)
{
    const PGresult *rows = list->rows;
    int total = PQntuples(rows), first = list->given;
    bool is_empty = total == 1 && PQgetisnull(rows, 0, KEY);
    int count = is_empty ? 0 : total - first > list->page_keys ? list->page_keys : total - first;
    struct kv_pair *kvs = calloc((size_t)count + 1, sizeof(*kvs));
    if (!kvs || total == 0) {
        free(kvs);
        fail(list, kvs ? E_CORRUPT : E_NOMEM, "the list can't be read");
        return;
    }
    for (int i = 0; i < count; i++)
        kvs[i] = (struct kv_pair){.key = pg_bytes_at(rows, first + i, KEY),
                                  .value = pg_bytes_at(rows, first + i, VALUE),
                                  .create_revision = pg_int8_at(rows, first + i, CREATE_REV),
                                  .mod_revision = pg_int8_at(rows, first + i, MOD_REV),
                                  .version = pg_int8_at(rows, first + i, VERSION),
                                  .lease = pg_int8_at(rows, first + i, LEASE)};
    int64_t incarnation = pg_int8_at(rows, 0, INCARNATION);
    struct kv_result result = {
        .message = "",
        .revision = pg_int8_at(rows, 0, FEED_REV),
        .cluster_id = pg_cluster_id(&list->client->calls.facts, incarnation),
        .term = strtoull(list->client->calls.facts.timeline, NULL, 16),
        .op = {.kind = KV_OP_RANGE,
               .kvs = kvs,
               .kv_count = (size_t)count,
               .count = is_empty ? 0 : total - first,
               .more = !is_empty && first + count < total},
    };
    struct kv_reply reply = list->reply;
    PGresult *kept = list->rows;
    pg_learn(list->client, &list->client->calls, result.revision, incarnation, 0);
    list->given += count;
    if (result.op.more) {
        loop_timer_set(list->timer, 0);
        reply.done(reply.context, &result);
    } else {
        list->rows = NULL; /* the result points into it */
        let_go(list);
        reply.done(reply.context, &result);
        PQclear(kept);
    }
    free(kvs);
}

static void on_timer(void *context)
{
    struct pg_list *list = context;
    const struct pg_link *link = &list->client->calls;
    if (list->is_off_link)
        give_page(list);
    else
        fail(list, link->wire ? E_UNKNOWN : E_UNREACHABLE,
             link->why.length ? link->why.text : "it did not answer in time");
}

enum status pg_list(struct kv_client *base, const struct kv_range *request,
                    const struct kv_reply *reply, struct kv_list **ret)
{
    struct pg_client *client = (struct pg_client *)base;
    struct pg_list *list = calloc(1, sizeof(*list));
    struct kv_bytes low, high;
    if (!list)
        return E_NOMEM;
    list->base.client = base;
    list->client = client;
    list->reply = *reply;
    list->page_keys =
        request->limit > 0 && request->limit < PAGE_KEYS ? (int)request->limit : PAGE_KEYS;
    arena_init(&list->arena);
    enum status st =
        kv_span(&list->arena, request->key, request->end, request->prefix, &low, &high);
    char *bytes = st == OK ? arena_alloc(&list->arena, low.length + high.length + 1) : NULL;
    if (st == OK)
        st = bytes ? loop_timer_new(base->loop, on_timer, list, &list->timer) : E_NOMEM;
    if (st != OK) {
        free_list(list);
        return st;
    }
    if (low.length)
        memcpy(bytes, low.data, low.length);
    memcpy(bytes + low.length, high.data, high.length);
    list->params = (struct pg_params){.count = 2,
                                      .values = {bytes, bytes + low.length},
                                      .lengths = {(int)low.length, (int)high.length}};
    list->job = (struct pg_job){.type = &list_type, .statement = PG_LIST, .params = &list->params};
    list->next = client->lists;
    list->link = &client->lists;
    if (list->next)
        list->next->link = &list->next;
    client->lists = list;
    loop_timer_set(list->timer,
                   reply->deadline_ms > 0 ? reply->deadline_ms : client->requests.deadline_ms);
    pg_link_submit(&client->calls, &list->job);
    if (ret)
        *ret = &list->base;
    return OK;
}

void pg_list_cancel(struct kv_list *list)
{
    let_go((struct pg_list *)list);
}

void pg_lists_release(struct pg_client *client)
{
    while (client->lists) {
        /* Who is let go is not in the list. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        let_go(client->lists);
    }
}
