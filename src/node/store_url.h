/* The URL of a store:
 *
 *     sqlite                                    embedded, in the data folder
 *     sqlite:///FOLDER                          embedded, in a folder that several agents of one
 *                                               machine share
 *     etcd://[USER@]HOST[:PORT],.../PREFIX      in etcd; etcds:// is the same over TLS
 *     postgresql://[USER@]HOST[:PORT],.../DATABASE[?PARAMETER=VALUE&...]
 *                                               in PostgreSQL, as libpq reads it, and schema=NAME;
 *                                               postgres:// is the same
 *
 *     redis://[USER@]HOST[:PORT][/DB][?PARAMETER=VALUE&...]
 *                                               in Redis or Valkey, as redis_place.h reads it, with
 *                                               its forms for TLS, sockets and Sentinel
 *
 * The default port of etcd is 2379, the default prefix and schema are peal. A password is not
 * allowed: command lines are readable by every user of the machine. */
#ifndef PEAL_STORE_URL_H
#define PEAL_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"
#include "strbuf.h"

enum store_kind {
    STORE_OF_SQLITE,
    STORE_OF_ETCD,
    STORE_OF_POSTGRES,
    STORE_OF_REDIS,
};

struct store_url {
    enum store_kind kind;
    char *shared;     /* sqlite: the folder that several agents share; NULL: in the data folder */
    char *whole;      /* PostgreSQL, Redis: the whole URL */
    bool is_tls;      /* etcd, Redis */
    char *user;       /* etcd; NULL: none */
    char **endpoints; /* "http://host:port", as the etcd client takes them; others: "tcp://..." */
    size_t endpoint_count;
    char *prefix; /* of all keys: starts with a slash, does not end in one */
};

/* Is it on servers of their own, as keys and values with revisions? */
static inline bool store_url_is_keys(const struct store_url *url)
{
    return url->kind != STORE_OF_SQLITE;
}

/* Are there other nodes, or can there be? */
static inline bool store_url_is_cluster(const struct store_url *url)
{
    return store_url_is_keys(url) || url->shared;
}

/* OK: release *ret. E_INVALID: *reterr says what is wrong and where; E_NOMEM. */
MUST_CHECK enum status store_url_parse(const char *text, struct store_url *ret,
                                       struct parse_error *reterr);
void store_url_release(struct store_url *url);

/* Also a store that may lose what it has acknowledged. E_INVALID: only Redis may; E_NOMEM. */
MUST_CHECK enum status store_url_accept_loss(struct store_url *url, struct parse_error *reterr);

/* The full URL, for people and for store_url_parse. */
void store_url_print(const struct store_url *url, struct strbuf *out);

#endif
