#include "redis_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_LEAST = 70000 };

/* ---- INFO ---- */

/* The value of a line "field:value\r\n"; false: there is no such line. */
static bool find(const char *info, size_t length, const char *field, const char **ret,
                 size_t *ret_length)
{
    size_t wanted = strlen(field);
    for (const char *at = info, *end = info + length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t line = (size_t)((stop ? stop : end) - at);
        if (line > wanted && at[wanted] == ':' && memcmp(at, field, wanted) == 0) {
            *ret = at + wanted + 1;
            *ret_length = line - wanted - 1;
            if (*ret_length && (*ret)[*ret_length - 1] == '\r')
                --*ret_length;
            return true;
        }
        at += line + 1;
    }
    return false;
}

static bool copy(const char *info, size_t length, const char *field, char *to, size_t size)
{
    const char *value;
    size_t value_length;
    if (!find(info, length, field, &value, &value_length) || value_length >= size)
        return false;
    memcpy(to, value, value_length);
    to[value_length] = '\0';
    return true;
}

static bool is(const char *info, size_t length, const char *field, const char *wanted)
{
    char value[32];
    return copy(info, length, field, value, sizeof(value)) && strcmp(value, wanted) == 0;
}

static int read_version(const char *text)
{
    int parts[3] = {0, 0, 0};
    if (sscanf(text, "%4d.%2d.%2d", &parts[0], &parts[1], &parts[2]) < 1)
        return 0;
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

/* "slave0:ip=10.0.0.2,port=6379,state=online,..." */
int redis_info_replicas(const char *info, size_t length)
{
    enum { REPLICAS_MAX = 64 };
    int count = 0;
    for (int i = 0; i < REPLICAS_MAX; i++) {
        char field[24];
        const char *value;
        size_t value_length;
        snprintf(field, sizeof(field), "slave%d", i);
        if (!find(info, length, field, &value, &value_length))
            break;
        count += memmem(value, value_length, "state=online", strlen("state=online")) != NULL;
    }
    return count;
}

static void fill_seat(struct redis_info *server, const char *replid)
{
    snprintf(server->seat, sizeof(server->seat), "%s%s", server->run_id, replid);
}

bool redis_info_has_moved(const struct redis_info *server, const char *info, size_t length)
{
    struct redis_info now = *server;
    char replid[64];
    if (!copy(info, length, "master_replid", replid, sizeof(replid)))
        return false;
    fill_seat(&now, replid);
    return strcmp(now.seat, server->seat) != 0;
}

static int64_t number(const char *info, size_t length, const char *field)
{
    char value[32];
    return copy(info, length, field, value, sizeof(value)) ? strtoll(value, NULL, 10) : 0;
}

bool redis_info_read(const char *info, size_t length, struct redis_info *ret)
{
    struct redis_info server = {.version = 0};
    char version[32], replid[64];
    if (!copy(info, length, "redis_version", version, sizeof(version)) ||
        !copy(info, length, "run_id", server.run_id, sizeof(server.run_id)) ||
        !copy(info, length, "master_replid", replid, sizeof(replid)))
        return false;
    server.version = read_version(version);
    bool is_valkey = copy(info, length, "valkey_version", version, sizeof(version));
    snprintf(server.name, sizeof(server.name), "%s %.20s", is_valkey ? "Valkey" : "Redis", version);
    fill_seat(&server, replid);
    server.is_master = is(info, length, "role", "master");
    server.is_cluster = is(info, length, "cluster_enabled", "1");
    server.is_loading = is(info, length, "loading", "1");
    server.has_aof = is(info, length, "aof_enabled", "1");
    server.is_aof_failing = is(info, length, "aof_last_write_status", "err");
    copy(info, length, "maxmemory_policy", server.policy, sizeof(server.policy));
    server.replicas = redis_info_replicas(info, length);
    server.memory = number(info, length, "used_memory");
    server.most_memory = number(info, length, "maxmemory");
    server.clients = number(info, length, "connected_clients");
    server.most_clients = number(info, length, "maxclients");
    server.clock_ms = number(info, length, "server_time_usec") / 1000;
    *ret = server;
    return true;
}

/* ---- will it do? ---- */

static const char *const losses[] = {
    [REDIS_HAS_NO_AOF] =
        "it keeps no append-only file, so it loses acknowledged changes whenever it "
        "stops: CONFIG SET appendonly yes and appendfsync always",
    [REDIS_FSYNC_UNKNOWN] = "it does not say how it writes its append-only file: let this user ask "
                            "CONFIG GET appendfsync",
    [REDIS_FSYNC_LATE] = "it acknowledges changes before they are on disk, and loses them when the "
                         "machine fails: CONFIG SET appendfsync always",
    [REDIS_EVICTS] = "it removes keys when its memory is full: CONFIG SET maxmemory-policy "
                     "noeviction",
};

enum redis_loss redis_info_loss(const struct redis_info *server)
{
    return !server->has_aof                            ? REDIS_HAS_NO_AOF
           : !server->fsync[0]                         ? REDIS_FSYNC_UNKNOWN
           : strcmp(server->fsync, "always") != 0      ? REDIS_FSYNC_LATE
           : strcmp(server->policy, "noeviction") != 0 ? REDIS_EVICTS
                                                       : REDIS_LOSES_NOTHING;
}

enum status redis_info_check(const struct redis_info *server, const char *name, bool accepts_loss,
                             struct strbuf *why)
{
    enum redis_loss loss = accepts_loss ? REDIS_LOSES_NOTHING : redis_info_loss(server);
    if (server->version < VERSION_LEAST) {
        strbuf_addf(why, "%s: it is Redis %d.%d; peal needs 7.0 or later, or Valkey", name,
                    server->version / 10000, server->version / 100 % 100);
        return E_VERSION;
    }
    if (server->is_cluster) {
        strbuf_addf(why,
                    "%s: it is part of a Redis Cluster, whose fail-over loses changes; use a "
                    "server of its own, or Sentinel",
                    name);
        return E_INVALID;
    }
    if (server->is_loading || !server->is_master) {
        strbuf_addf(why, "%s: %s", name,
                    server->is_loading ? "it is loading its data"
                                       : "it is a replica; name its master, or Sentinel");
        return E_UNREACHABLE;
    }
    if (loss != REDIS_LOSES_NOTHING) {
        strbuf_addf(why,
                    "%s: %s (and CONFIG REWRITE); or accept it: --accept-loss, which is "
                    "accept-loss=yes of the "
                    "address",
                    name, losses[loss]);
        return E_INVALID;
    }
    if (server->is_aof_failing) {
        strbuf_addf(why, "%s: it can't write its append-only file: see its disk", name);
        return E_UNREACHABLE;
    }
    return OK;
}
