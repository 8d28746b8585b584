/* The URL of a Redis:
 *
 *     redis://[USER@]HOST[:PORT][/DB][?PARAMETER=VALUE&...]         rediss:// is the same over TLS
 *     redis+unix:///PATH/OF/SOCKET[?db=N&...]
 *     redis+sentinel://[USER@]HOST[:PORT],.../MASTER[/DB][?...]     the addresses are of Sentinels;
 *                                                                   rediss+sentinel:// with TLS
 *
 * valkey:// is the same in all of them. Parameters: prefix=NAME, of all its keys (peal); replicas=N
 * must have a change before it counts (those that are connected); db=N; accept-loss=yes: also a
 * server that may lose what it has acknowledged. A password is not allowed, as anybody can read it
 * there. */
#ifndef PEAL_REDIS_PLACE_H
#define PEAL_REDIS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

enum { REDIS_HOSTS_MAX = 16, REDIS_PREFIX_MAX = 64, REDIS_MASTER_MAX = 128 };
enum { REDIS_REPLICAS_SEEN = -1 };

struct redis_host {
    char *host; /* without brackets; of a socket: its path */
    int port;   /* 0: a socket */
};

struct redis_place {
    struct redis_host hosts[REDIS_HOSTS_MAX];
    size_t host_count;
    bool is_tls, is_sentinel;
    char master[REDIS_MASTER_MAX]; /* Sentinel's name of it */
    char prefix[REDIS_PREFIX_MAX];
    int db;
    bool accepts_loss;
    int replicas;   /* how many must have a change; REDIS_REPLICAS_SEEN: those that there are */
    char *user;     /* NULL: none */
    char name[200]; /* for people */
};

MUST_CHECK enum status redis_place_read(const char *url, struct redis_place *ret,
                                        struct parse_error *reterr);
void redis_place_release(struct redis_place *place);

/* Whether a URL's scheme, of that length, is one of Redis'. */
bool redis_place_is_scheme(const char *scheme, size_t length);

#endif
