#include <arpa/inet.h>
#include <event2/dns.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "etcd_internal.h"
#include "tls.h"
#include "transport/long_stream.h"

enum {
    DEADLINE_MS = 2000,
    CONNECT_TIMEOUT_MS = 1000,
    LATENCY_MS = 10, /* of a call, until it is measured */
};

static void calls_ready(void *context)
{
    etcd_calls_flush(context);
}

static void streams_ready(void *context)
{
    etcd_streams_flush(context);
}

void etcd_streams_flush(struct etcd_client *client)
{
    etcd_watches_flush(client);
    long_stream_flush(client->renewals);
}

static bool is_address(const char *host)
{
    struct in6_addr address;
    return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* Host names are resolved without blocking the loop; addresses need no resolver. */
static enum status prepare_names(struct etcd_client *client)
{
    bool are_addresses = true;
    for (size_t i = 0; i < client->endpoints.count; i++)
        are_addresses = are_addresses && is_address(client->endpoints.items[i].host);
    if (are_addresses)
        return OK;
    client->channel_config.names =
        evdns_base_new(loop_base(client->base.loop),
                       EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    return client->channel_config.names ? OK : E_NOMEM;
}

static enum status prepare_tls(struct etcd_client *client, const struct etcd_client_config *config,
                               struct parse_error *reterr)
{
    bool is_used = false;
    for (size_t i = 0; i < client->endpoints.count; i++)
        is_used = is_used || client->endpoints.items[i].use_tls;
    struct tls_config tls = {config->ca_file, config->cert_file, config->key_file, true};
    return is_used ? tls_new(&tls, &client->channel_config.tls, reterr) : OK;
}

static enum status copy_text(const char *text, char **ret)
{
    *ret = text ? strdup(text) : NULL;
    return text && !*ret ? E_NOMEM : OK;
}

static enum status copy_config(struct etcd_client *client, const struct etcd_client_config *config,
                               struct parse_error *reterr)
{
    uint64_t seed = 0;
    bool default_tls = config->ca_file || config->cert_file || config->key_file;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
        seed = (uint64_t)kv_now_ms(); /* for jitter alone */
    if (config->user && !config->password)
        return parse_fail(reterr, 0, "etcd user \"%s\" has no password", config->user);
    client->deadline_ms = config->deadline_ms > 0 ? config->deadline_ms : DEADLINE_MS;
    enum status st = endpoints_init(&client->endpoints, config->endpoints, config->endpoint_count,
                                    default_tls, seed, reterr);
    if (st == OK)
        st = copy_text(config->server_name, &client->server_name);
    if (st == OK)
        st = copy_text(config->user, &client->auth.user);
    if (st == OK)
        st = copy_text(config->password, &client->auth.password);
    if (st == OK)
        st = prepare_names(client);
    if (st == OK)
        st = prepare_tls(client, config, reterr);
    client->channel_config.loop = client->base.loop;
    client->channel_config.endpoints = &client->endpoints;
    client->channel_config.server_name = client->server_name;
    client->channel_config.connect_timeout_ms =
        config->connect_timeout_ms > 0 ? config->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    return st;
}

static void client_free(struct kv_client *base)
{
    struct etcd_client *client = (struct etcd_client *)base;
    etcd_watches_release(client);
    etcd_leases_release(client);
    etcd_calls_release(client);
    etcd_probe_release(client);
    grpc_channel_release(&client->calls);
    grpc_channel_release(&client->streams);
    if (client->channel_config.names) /* fails lookups: else their timers would be left behind */
        evdns_base_free(client->channel_config.names, 1);
    SSL_CTX_free(client->channel_config.tls);
    endpoints_release(&client->endpoints);
    etcd_auth_release(&client->auth);
    arena_release(&client->arena);
    arena_release(&client->sending);
    kv_client_release(base);
    free(client->server_name);
    free(client);
}

static const struct kv_client_ops client_ops = {
    .range = etcd_range,
    .put = etcd_put,
    .remove = etcd_delete,
    .txn = etcd_txn,
    .lease_grant = etcd_lease_grant,
    .lease_revoke = etcd_lease_revoke,
    .lease_look = etcd_lease_look,
    .call_cancel = etcd_call_cancel,
    .call_may_repeat = etcd_call_may_repeat,
    .watch_new = etcd_watch_new,
    .watch_free = etcd_watch_free,
    .watch_restart = etcd_watch_restart,
    .lease_renew = etcd_lease_renew,
    .leases_want = etcd_leases_want,
    .leases_doubt = etcd_leases_doubt,
    .free = client_free,
};

static const struct kv_kind client_kind = {
    .name = "etcd",
    /* --max-txn-ops and --max-request-bytes, unless somebody has set them */
    .limits = {.width = 128, .bytes = 1536 * 1024},
    .is_quota_shallow = true,
    .when_full = "its database is full: compact it (etcdctl compact REVISION), defragment each "
                 "member (etcdctl defrag), then clear the alarm (etcdctl alarm disarm)",
    .when_away = "look at the endpoints and whether etcd has a leader",
};

enum status etcd_client_new(struct loop *loop, const struct etcd_client_config *config,
                            struct kv_client **ret, struct parse_error *reterr)
{
    struct etcd_client *client = calloc(1, sizeof(*client));
    if (!client)
        return E_NOMEM;
    kv_client_init(&client->base, &client_ops, &client_kind, loop);
    arena_init(&client->arena);
    arena_init(&client->sending);
    client->latency_ms = LATENCY_MS;
    enum status st = etcd_calls_init(client);
    if (st == OK)
        st = etcd_leases_init(client);
    if (st == OK)
        st = etcd_probe_init(client);
    if (st == OK)
        st = copy_config(client, config, reterr);
    if (st == OK)
        st = grpc_channel_init(&client->calls, &client->channel_config, calls_ready, client);
    if (st == OK)
        st = grpc_channel_init(&client->streams, &client->channel_config, streams_ready, client);
    if (st != OK) {
        client_free(&client->base);
        return st;
    }
    *ret = &client->base;
    return OK;
}
