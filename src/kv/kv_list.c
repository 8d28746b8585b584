/* A long range, page after page, all at one revision. For each page etcd counts all keys that are
 * left of the range: many small pages of a long range take minutes. So the number of keys per page
 * is chosen by their size. */
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "kv_backend.h"
#include "strbuf.h"

enum {
    FIRST_KEYS = 1000, /* their size determines the next page's */
    PAGE_KEYS_MAX = 50000,
    PAGE_BYTES = 4 * 1024 * 1024,
};

struct paged_list {
    struct kv_list base;   /* first */
    struct kv_range range; /* its key and end are in `keys` */
    struct kv_reply reply;
    struct kv_call *call;
    struct strbuf next_key, end;
    bool is_sized; /* the caller set no limit: page size by bytes */
};

static void list_free(struct paged_list *list)
{
    strbuf_release(&list->next_key);
    strbuf_release(&list->end);
    free(list);
}

static void on_page(void *context, const struct kv_result *result);

static enum status ask(struct paged_list *list)
{
    list->range.key = (struct kv_bytes){list->next_key.text, list->next_key.length};
    list->range.end = (struct kv_bytes){list->end.text, list->end.length};
    struct kv_reply reply = {on_page, list, list->reply.deadline_ms};
    return kv_range(list->base.client, &list->range, &reply, &list->call);
}

static int64_t page_keys(const struct kv_op_result *page)
{
    size_t bytes = 0;
    for (size_t i = 0; i < page->kv_count; i++)
        bytes += page->kvs[i].key.length + page->kvs[i].value.length;
    size_t key_bytes = page->kv_count ? bytes / page->kv_count : 0;
    size_t keys = PAGE_BYTES / (key_bytes + 1);
    return keys < 1 ? 1 : keys > PAGE_KEYS_MAX ? PAGE_KEYS_MAX : (int64_t)keys;
}

/* The next page begins right after the last key of this one. */
static enum status go_on(struct paged_list *list, const struct kv_result *result)
{
    const struct kv_pair *last = &result->op.kvs[result->op.kv_count - 1];
    strbuf_reset(&list->next_key);
    strbuf_add(&list->next_key, last->key.data, last->key.length);
    strbuf_addc(&list->next_key, '\0');
    if (list->range.revision == 0)
        list->range.revision = result->revision;
    if (list->is_sized)
        list->range.limit = page_keys(&result->op);
    enum status st = strbuf_status(&list->next_key);
    return st == OK ? ask(list) : st;
}

static void on_page(void *context, const struct kv_result *result)
{
    struct paged_list *list = context;
    struct kv_reply reply = list->reply;
    struct kv_result page = *result;
    list->call = NULL;
    page.op.more = page.status == OK && page.op.more && page.op.kv_count > 0;
    if (page.op.more) {
        enum status st = go_on(list, result);
        if (st == OK) {
            reply.done(reply.context, &page);
            return;
        }
        page = (struct kv_result){.status = st, .code = KV_NO_CODE, .message = status_text(st)};
    }
    list_free(list);
    reply.done(reply.context, &page);
}

enum status kv_list(struct kv_client *client, const struct kv_range *request,
                    const struct kv_reply *reply, struct kv_list **ret)
{
    if (client->ops->list)
        return client->ops->list(client, request, reply, ret);
    struct arena arena;
    struct kv_bytes end = request->end;
    struct paged_list *list = calloc(1, sizeof(*list));
    if (!list)
        return E_NOMEM;
    arena_init(&arena);
    strbuf_init(&list->next_key);
    strbuf_init(&list->end);
    list->base.client = client;
    list->reply = *reply;
    list->range = *request;
    list->is_sized = request->limit <= 0;
    if (list->is_sized)
        list->range.limit = FIRST_KEYS;
    list->range.sort = KV_SORT_NONE;
    list->range.prefix = false;
    enum status st = request->prefix ? kv_prefix_end(&arena, request->key, &end) : OK;
    strbuf_add(&list->next_key, request->key.data, request->key.length);
    if (request->prefix && request->key.length == 0)
        strbuf_addc(&list->next_key, '\0');
    strbuf_add(&list->end, end.data, end.length);
    if (st == OK)
        st = strbuf_status(&list->next_key);
    if (st == OK)
        st = strbuf_status(&list->end);
    if (st == OK)
        st = ask(list);
    arena_release(&arena);
    if (st != OK) {
        list_free(list);
        return st;
    }
    if (ret)
        *ret = &list->base;
    return OK;
}

void kv_list_cancel(struct kv_list *base)
{
    struct paged_list *list = (struct paged_list *)base;
    if (!base)
        return;
    if (base->client->ops->list) {
        base->client->ops->list_cancel(base);
        return;
    }
    kv_call_cancel(list->call);
    list_free(list);
}
