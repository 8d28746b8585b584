#include "holders.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "hash.h"
#include "http_internal.h"

enum {
    STRANGERS_PART = 2, /* a half of held_bytes is for strangers, and ... */
    ADDRESS_PART = 8,   /* ... an eighth for the strangers of one address */
    ROOM_PART = 16,     /* a sixteenth of the connections is closed at once */
    GRACE_MS = 1000,
};

/* ---- addresses ---- */

/* The hash has a seed, which strangers do not know. */
static uint64_t address_hash(const void *key)
{
    return ((const struct http_address *)key)->hash;
}

static bool is_same_address(const void *key, const void *other)
{
    const struct http_address *a = key, *b = other;
    return memcmp(&a->key, &b->key, sizeof(a->key)) == 0;
}

static const struct table_type addresses_type = {.hash = address_hash, .is_same = is_same_address};

void http_holders_init(struct http_holders *holders)
{
    *holders = (struct http_holders){0};
    table_init(&holders->addresses, &addresses_type);
    if (getrandom(&holders->seed, sizeof(holders->seed), GRND_NONBLOCK) < 0)
        holders->seed = (uint64_t)(uintptr_t)holders;
}

void http_holders_release(struct http_holders *holders)
{
    table_release(&holders->addresses);
}

/* One customer usually has a /64 network at least. */
static void read_v6(const struct in6_addr *address, struct http_address *ret)
{
    ret->key = *address;
    if (!IN6_IS_ADDR_V4MAPPED(address))
        memset(ret->key.s6_addr + 8, 0, 8);
}

static void read_v4(const struct in_addr *address, struct http_address *ret)
{
    ret->key.s6_addr[10] = ret->key.s6_addr[11] = 0xFF;
    memcpy(ret->key.s6_addr + 12, address, sizeof(*address));
}

static struct http_address read_peer(const struct sockaddr *peer)
{
    struct http_address address = {.count = 0};
    if (peer->sa_family == AF_INET)
        read_v4(&((const struct sockaddr_in *)(const void *)peer)->sin_addr, &address);
    else if (peer->sa_family == AF_INET6)
        read_v6(&((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr, &address);
    return address;
}

bool http_holders_add(struct http_holders *holders, struct http_connection *connection,
                      const struct sockaddr *peer)
{
    struct http_address wanted = read_peer(peer);
    wanted.hash = hash_bytes(holders->seed, &wanted.key, sizeof(wanted.key));
    struct http_address *address = table_find(&holders->addresses, &wanted);
    if (!address) {
        address = table_add(&holders->addresses, &wanted, sizeof(wanted));
        if (!address)
            return false;
        TAILQ_INIT(&address->connections);
    }
    address->count++;
    TAILQ_INSERT_TAIL(&address->connections, connection, in_address);
    connection->address = address;
    return true;
}

void http_holders_remove(struct http_holders *holders, struct http_connection *connection)
{
    struct http_address *address = connection->address;
    TAILQ_REMOVE(&address->connections, connection, in_address);
    connection->address = NULL;
    if (--address->count)
        return;
    table_remove(&holders->addresses, address);
    free(address);
}

/* ---- bytes ---- */

/* The only writer of the counters. */
static void count(struct http_connection *connection, size_t bytes)
{
    struct http_holders *holders = &connection->server->holders;
    size_t more =
        bytes - connection->held; /* unsigned: a decrease wraps around, and the sums wrap back */
    holders->bytes += more;
    if (!connection->is_known) {
        holders->stranger_bytes += more;
        connection->address->stranger_bytes += more;
    }
    connection->held = bytes;
}

void http_holders_know(struct http_connection *connection, bool is_known)
{
    size_t bytes = connection->held;
    count(connection, 0);
    connection->is_known = is_known;
    count(connection, bytes);
}

/* The larger holder of two, among connections that receive; of equals, the older request. */
static struct http_connection *worse(struct http_connection *one, struct http_connection *other)
{
    if (other->phase != HTTP_RECEIVING || !other->held)
        return one;
    if (!one || other->held > one->held)
        return other;
    return other->held == one->held && other->since_ms < one->since_ms ? other : one;
}

static struct http_connection *largest_of_all(const struct http_server *server)
{
    struct http_connection *one, *largest = NULL;
    TAILQ_FOREACH (one, &server->all, link) {
        largest = worse(largest, one);
    }
    return largest;
}

static struct http_connection *largest_stranger_at(const struct http_address *address)
{
    struct http_connection *one, *largest = NULL;
    TAILQ_FOREACH (one, &address->connections, in_address) {
        if (!one->is_known)
            largest = worse(largest, one);
    }
    return largest;
}

static struct http_connection *largest_stranger(const struct http_holders *holders)
{
    struct http_address *one, *largest = NULL;
    for (size_t at = 0; (one = table_next(&holders->addresses, &at));) {
        if (!largest || one->stranger_bytes > largest->stranger_bytes)
            largest = one;
    }
    return largest ? largest_stranger_at(largest) : NULL;
}

/* The connection to close now; NULL: no limit is exceeded. */
static struct http_connection *find_victim(const struct http_server *server,
                                           const struct http_address *address)
{
    const struct http_holders *holders = &server->holders;
    size_t most = server->limits.held_bytes;
    if (address->stranger_bytes > most / ADDRESS_PART)
        return largest_stranger_at(address);
    if (holders->stranger_bytes > most / STRANGERS_PART)
        return largest_stranger(holders);
    return holders->bytes > most ? largest_of_all(server) : NULL;
}

void http_hold(struct http_connection *connection, size_t bytes)
{
    struct http_server *server = connection->server;
    bool is_more = bytes > connection->held;
    count(connection, bytes);
    while (is_more && !connection->is_closed) {
        struct http_connection *victim = find_victim(server, connection->address);
        if (!victim)
            return;
        server->cut++;
        http_connection_close(victim);
    }
}

/* ---- connections ---- */

static bool is_dispensable(const struct http_connection *connection, int64_t now_ms)
{
    return (connection->phase == HTTP_IDLE || connection->phase == HTTP_RECEIVING ||
            connection->phase == HTTP_DRAINING) &&
           now_ms - connection->since_ms >= GRACE_MS;
}

static void close_some_at(struct http_address *address, size_t most, int64_t now_ms)
{
    struct http_connection *next;
    for (struct http_connection *one = TAILQ_FIRST(&address->connections); one && most;
         one = next) {
        next = TAILQ_NEXT(one, in_address);
        if (!is_dispensable(one, now_ms))
            continue;
        most--;
        one->server->cut += one->phase == HTTP_RECEIVING;
        http_connection_close(
            one); /* frees the address with its last connection: `next` is NULL then */
    }
}

static void close_some(struct http_server *server, size_t most, int64_t now_ms)
{
    struct http_connection *next;
    for (struct http_connection *one = TAILQ_FIRST(&server->all); one && most; one = next) {
        next = TAILQ_NEXT(one, link);
        if (!is_dispensable(one, now_ms))
            continue;
        most--;
        server->cut += one->phase == HTTP_RECEIVING;
        http_connection_close(one);
    }
}

bool http_holders_make_room(struct http_server *server, int64_t now_ms)
{
    struct http_address *one, *most = NULL;
    size_t before = server->count, wanted = server->limits.connections / ROOM_PART + 1;
    for (size_t at = 0; (one = table_next(&server->holders.addresses, &at));) {
        if (!most || one->count > most->count)
            most = one;
    }
    if (most)
        close_some_at(most, wanted, now_ms);
    if (server->count == before)
        close_some(server, wanted, now_ms);
    return server->count < before;
}
