#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "pg_internal.h"

uint64_t pg_cluster_id(const struct pg_facts *facts, int64_t incarnation)
{
    uint64_t id = hash_bytes(facts->system_id, &incarnation, sizeof(incarnation));
    return id ? id : 1;
}

/* `tag`: of the change with this revision; 0: not known. What is remembered is compared when a
 * connection is opened. */
void pg_learn(struct pg_client *client, const struct pg_link *link, int64_t rev,
              int64_t incarnation, int64_t tag)
{
    struct kv_mark *mark = &client->base.mark;
    (void)link;
    if (incarnation != mark->incarnation)
        *mark = (struct kv_mark){.incarnation = incarnation};
    if (tag && rev > mark->revision) {
        mark->revision = rev;
        mark->tag = tag;
    }
    if (rev > client->newest)
        client->newest = rev;
}

static void client_free(struct kv_client *base)
{
    struct pg_client *client = (struct pg_client *)base;
    kv_requests_release(&client->requests);
    pg_lists_release(client);
    pg_link_release(&client->calls);
    pg_link_release(&client->stream);
    pg_feed_release(client);
    pg_leases_release(client);
    pg_address_release(&client->address);
    kv_client_release(base);
    free(client);
}

static const struct kv_client_ops client_ops = {
    .range = pg_range,
    .put = pg_put,
    .remove = pg_delete,
    .txn = pg_txn,
    .lease_grant = pg_lease_grant,
    .lease_revoke = pg_lease_revoke,
    .lease_look = pg_lease_look,
    .lease_settle = pg_lease_settle,
    .list = pg_list,
    .list_cancel = pg_list_cancel,
    .call_cancel = pg_call_cancel,
    .call_may_repeat = pg_call_may_repeat,
    .watch_new = pg_watch_new,
    .watch_free = pg_watch_free,
    .watch_restart = pg_watch_restart,
    .lease_renew = pg_lease_renew,
    .leases_want = pg_leases_want,
    .leases_doubt = pg_leases_doubt,
    .free = client_free,
};

static const struct kv_kind client_kind = {
    .name = "PostgreSQL",
    .limits = {.width = 4096, .bytes = 8 * 1024 * 1024},
    .when_full = "it lacks room or memory: see its log",
    .when_away = "look at the server, or at its address",
};

enum status pg_client_new(struct loop *loop, const struct kv_server *server, struct kv_client **ret,
                          struct parse_error *reterr)
{
    struct pg_client *client = calloc(1, sizeof(*client));
    if (!client)
        return E_NOMEM;
    kv_client_init(&client->base, &client_ops, &client_kind, loop);
    client->client_id = (uint64_t)kv_random();
    struct strbuf why;
    strbuf_init(&why);
    enum status st = pg_address_read(server->url, "the address", &client->address, &why);
    if (st == E_INVALID)
        st = parse_fail(reterr, 0, "%s", why.text);
    strbuf_release(&why);
    if (st == OK)
        st = pg_calls_init(client, server->deadline_ms);
    enum status parts = pg_leases_init(client);
    if (st == OK)
        st = parts;
    if (st == OK)
        st = pg_feed_init(client);
    if (st == OK)
        st = pg_link_init(&client->calls, client, PG_CALLS);
    if (st == OK)
        st = pg_link_init(&client->stream, client, PG_STREAM);
    if (st != OK) {
        client_free(&client->base);
        return st;
    }
    *ret = &client->base;
    return OK;
}
