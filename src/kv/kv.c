/* The contract's functions: each hands on to the implementation. */
#include "kv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "arena.h"
#include "clock.h"
#include "kv_backend.h"
#include "kv_lease.h"

struct kv_bytes kv_text(const char *text)
{
    return (struct kv_bytes){text, strlen(text)};
}

int64_t kv_now_ms(void)
{
    return clock_now().boot.ms;
}

enum status kv_prefix_end(struct arena *arena, struct kv_bytes prefix, struct kv_bytes *ret)
{
    const uint8_t *from = prefix.data;
    size_t length = prefix.length;
    while (length > 0 && from[length - 1] == 0xff)
        length--;
    if (length == 0) {
        *ret = (struct kv_bytes){"", 1};
        return OK;
    }
    uint8_t *end = arena_alloc(arena, length);
    if (!end)
        return E_NOMEM;
    memcpy(end, from, length);
    end[length - 1]++;
    *ret = (struct kv_bytes){end, length};
    return OK;
}

/* A key alone is [key, key + a zero byte); all the keys end before 255s that no key begins with. */
enum status kv_span(struct arena *arena, struct kv_bytes key, struct kv_bytes end, bool prefix,
                    struct kv_bytes *ret_low, struct kv_bytes *ret_high)
{
    static const char last[64] = {
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    };
    enum status st = prefix ? kv_prefix_end(arena, key, &end) : OK;
    if (st != OK)
        return st;
    *ret_low = key;
    *ret_high = end;
    if (end.length == 1 && *(const char *)end.data == '\0') {
        *ret_high = (struct kv_bytes){last, sizeof(last)};
    } else if (end.length == 0) {
        char *next = arena_alloc(arena, key.length + 1);
        if (!next)
            return E_NOMEM;
        if (key.length)
            memcpy(next, key.data, key.length);
        next[key.length] = '\0';
        *ret_high = (struct kv_bytes){next, key.length + 1};
    }
    return OK;
}

int kv_compare_bytes(struct kv_bytes a, struct kv_bytes b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

int64_t kv_random(void)
{
    int64_t number = 0;
    while (number <= 0) {
        if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
            abort(); /* the kernel always has some */
        number &= ((int64_t)1 << 53) - 1;
    }
    return number;
}

/* ---- client ---- */

void kv_client_init(struct kv_client *client, const struct kv_client_ops *ops,
                    const struct kv_kind *kind, struct loop *loop)
{
    *client = (struct kv_client){.ops = ops, .kind = kind, .loop = loop};
    table_init(&client->leases, &kv_lease_type);
}

void kv_client_release(struct kv_client *client)
{
    table_release(&client->leases);
}

const struct kv_kind *kv_client_kind(const struct kv_client *client)
{
    return client->kind;
}

struct kv_client *kv_client_free(struct kv_client *client)
{
    if (client)
        client->ops->free(client);
    return NULL;
}

void kv_client_tell_away(struct kv_client *client, void (*away)(void *context, const char *why),
                         void *context)
{
    client->away = away;
    client->away_context = context;
}

void kv_client_is_away(struct kv_client *client, const char *why)
{
    if (client->away)
        client->away(client->away_context, why);
}

struct kv_mark kv_client_mark(const struct kv_client *client)
{
    return client->mark;
}

void kv_client_recall(struct kv_client *client, const struct kv_mark *mark)
{
    client->mark = *mark;
}

/* ---- requests ---- */

void kv_call_cancel(struct kv_call *call)
{
    if (call)
        call->client->ops->call_cancel(call);
}

void kv_call_may_repeat(struct kv_call *call)
{
    call->client->ops->call_may_repeat(call);
}

enum status kv_range(struct kv_client *client, const struct kv_range *request,
                     const struct kv_reply *reply, struct kv_call **ret)
{
    return client->ops->range(client, request, reply, ret);
}

enum status kv_put(struct kv_client *client, const struct kv_put *request,
                   const struct kv_reply *reply, struct kv_call **ret)
{
    return client->ops->put(client, request, reply, ret);
}

enum status kv_delete(struct kv_client *client, const struct kv_delete *request,
                      const struct kv_reply *reply, struct kv_call **ret)
{
    return client->ops->remove(client, request, reply, ret);
}

enum status kv_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                           struct kv_call **ret)
{
    return client->ops->lease_grant(client, ttl_s, reply, ret);
}

enum status kv_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    return client->ops->lease_revoke(client, id, reply, ret);
}

bool kv_must_settle(const struct kv_client *client)
{
    return client->ops->lease_settle != NULL;
}

enum status kv_lease_settle(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    return client->ops->lease_settle(client, id, reply, ret);
}

enum status kv_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                          struct kv_call **ret)
{
    return client->ops->lease_look(client, id, reply, ret);
}

/* ---- watches ---- */

enum status kv_watch_new(struct kv_client *client, const struct kv_watch_config *config,
                         kv_watch_notify *notify, void *context, struct kv_watch **ret)
{
    return client->ops->watch_new(client, config, notify, context, ret);
}

struct kv_watch *kv_watch_free(struct kv_watch *watch)
{
    if (watch)
        watch->client->ops->watch_free(watch);
    return NULL;
}

void kv_watch_restart(struct kv_watch *watch)
{
    watch->client->ops->watch_restart(watch);
}

int64_t kv_watch_next_revision(const struct kv_watch *watch)
{
    return watch->next_revision;
}
