/* The renewals of leases, all on one stream. When to renew is kv_lease.c's to say. */
#include <stdlib.h>

#include "etcd_internal.h"
#include "transport/long_stream.h"

static void on_opened(void *context)
{
    kv_leases_opened(context);
}

static void on_broken(void *context, const char *why)
{
    (void)why;
    kv_leases_broken(context);
}

static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct etcd_client *client = context;
    arena_reset(&client->arena);
    Etcdpb__LeaseKeepAliveResponse *answer =
        etcd_unpack(&client->arena, &etcdpb__lease_keep_alive_response__descriptor, bytes, length);
    if (!answer)
        return E_CORRUPT;
    kv_lease_renewed(&client->base, answer->id, answer->ttl * 1000);
    return OK;
}

static const struct long_stream_events stream_events = {
    .opened = on_opened,
    .message = on_message,
    .broken = on_broken,
};

bool etcd_lease_renew(struct kv_client *client, int64_t id)
{
    Etcdpb__LeaseKeepAliveRequest request = ETCDPB__LEASE_KEEP_ALIVE_REQUEST__INIT;
    request.id = id;
    return long_stream_send(((struct etcd_client *)client)->renewals, &request.base);
}

void etcd_leases_want(struct kv_client *client, bool are_any)
{
    long_stream_want(((struct etcd_client *)client)->renewals, are_any);
}

void etcd_leases_doubt(struct kv_client *client)
{
    long_stream_probe(((struct etcd_client *)client)->renewals);
}

enum status etcd_leases_init(struct etcd_client *client)
{
    struct long_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return E_NOMEM;
    enum status st = long_stream_init(stream, client, "/etcdserverpb.Lease/LeaseKeepAlive",
                                      &stream_events, client);
    if (st == OK)
        client->renewals = stream;
    else
        free(stream);
    return st;
}

void etcd_leases_release(struct etcd_client *client)
{
    if (client->renewals)
        long_stream_release(client->renewals);
    free(client->renewals);
    client->renewals = NULL;
}
