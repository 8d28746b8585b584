#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"
#include "tls.h"

/* What is remembered is compared when a connection is opened. Only of answers that count: with
 * replicas, after they have the change. */
void redis_learn(struct redis_client *client, const struct redis_head *head)
{
    struct kv_mark *mark = &client->base.mark;
    if (head->incarnation != mark->incarnation)
        *mark = (struct kv_mark){.incarnation = head->incarnation};
    if (head->tag && head->rev > mark->revision) {
        mark->revision = head->rev;
        mark->tag = head->tag;
    }
    if (head->rev > client->newest)
        client->newest = head->rev;
}

bool redis_client_report(const struct kv_client *base, struct redis_report *ret)
{
    const struct redis_link *link = &((const struct redis_client *)base)->calls;
    const struct redis_facts *facts = &link->facts;
    if (!link->wire)
        return false;
    *ret = (struct redis_report){facts->server, facts->replicas,
                                 facts->server.clock_ms ? facts->server.clock_ms - facts->clock_ms
                                                        : 0};
    return true;
}

static void client_free(struct kv_client *base)
{
    struct redis_client *client = (struct redis_client *)base;
    kv_requests_release(&client->requests);
    redis_lists_release(client);
    redis_sentinel_release(client);
    redis_replicas_release(client);
    redis_link_release(&client->calls);
    redis_link_release(&client->stream);
    redis_feed_release(client);
    redis_leases_release(client);
    if (client->names) /* fails lookups: else their timers would be left behind */
        evdns_base_free(client->names, 1);
    SSL_CTX_free(client->tls);
    redis_place_release(&client->place);
    if (client->password)
        explicit_bzero(client->password, strlen(client->password));
    free(client->password);
    kv_client_release(base);
    free(client);
}

static const struct kv_client_ops client_ops = {
    .range = redis_range,
    .put = redis_put,
    .remove = redis_delete,
    .txn = redis_txn,
    .lease_grant = redis_lease_grant,
    .lease_revoke = redis_lease_revoke,
    .lease_look = redis_lease_look,
    .lease_settle = redis_lease_settle,
    .list = redis_list,
    .list_cancel = redis_list_cancel,
    .call_cancel = redis_call_cancel,
    .call_may_repeat = redis_call_may_repeat,
    .watch_new = redis_watch_new,
    .watch_free = redis_watch_free,
    .watch_restart = redis_watch_restart,
    .lease_renew = redis_lease_renew,
    .leases_want = redis_leases_want,
    .leases_doubt = redis_leases_doubt,
    .free = client_free,
};

/* A call blocks everybody: 100 claims take the server 0.7 ms. */
static const struct kv_kind client_kind = {
    .name = "Redis",
    .limits = {.width = 512, .bytes = 8 * 1024 * 1024},
    .when_full = "raise maxmemory, or make room on its disk: see its log",
    .when_away = "look at the server, or at its address",
};

static bool is_address(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Host names are resolved without blocking the loop; addresses need no resolver. */
static enum status prepare_names(struct redis_client *client)
{
    const struct redis_place *place = &client->place;
    bool are_addresses = !place->is_sentinel; /* which may name the master by a host's name */
    for (size_t i = 0; i < place->host_count; i++)
        are_addresses =
            are_addresses && (!place->hosts[i].port || is_address(place->hosts[i].host));
    if (are_addresses)
        return OK;
    client->names =
        evdns_base_new(loop_base(client->base.loop),
                       EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    return client->names ? OK : E_NOMEM;
}

static enum status copy_text(const char *text, char **ret)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        return E_NOMEM;
    free(*ret);
    *ret = copy;
    return OK;
}

static enum status prepare(struct redis_client *client, const struct kv_server *server,
                           struct parse_error *reterr)
{
    const struct tls_config tls = {server->ca_file, server->cert_file, server->key_file, false};
    enum status st = redis_place_read(server->url, &client->place, reterr);
    if (st == OK && server->user && !client->place.user)
        st = copy_text(server->user, &client->place.user);
    if (st == OK)
        st = copy_text(server->password, &client->password);
    if (st == OK && client->place.user && !client->password)
        return parse_fail(reterr, 0, "Redis' user \"%.60s\" has no password", client->place.user);
    if (st == OK)
        st = prepare_names(client);
    if (st == OK && client->place.is_tls)
        st = tls_new(&tls, &client->tls, reterr);
    return st;
}

enum status redis_client_new(struct loop *loop, const struct kv_server *server,
                             struct kv_client **ret, struct parse_error *reterr)
{
    struct redis_client *client = calloc(1, sizeof(*client));
    if (!client)
        return E_NOMEM;
    kv_client_init(&client->base, &client_ops, &client_kind, loop);
    enum status st = redis_calls_init(client, server->deadline_ms);
    enum status parts = redis_leases_init(client);
    if (st == OK)
        st = parts;
    if (st == OK)
        st = prepare(client, server, reterr);
    if (st == OK)
        st = redis_sentinel_init(client);
    if (st == OK)
        st = redis_replicas_init(client);
    if (st == OK)
        st = redis_link_init(&client->calls, client, true);
    if (st == OK)
        st = redis_link_init(&client->stream, client, false);
    if (st != OK) {
        client_free(&client->base);
        return st;
    }
    *ret = &client->base;
    return OK;
}
