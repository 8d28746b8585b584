/* How a client is made of servers that a URL names: PostgreSQL, Redis. (etcd's takes more than
 * that.) */
#ifndef PEAL_KV_SERVER_H
#define PEAL_KV_SERVER_H

#include "kv.h"

struct kv_server {
    const char *url;
    int64_t deadline_ms; /* default of requests; 0: 2000 */

    /* Redis; libpq finds its own. */
    const char *user;                           /* NULL: that of the URL, if any */
    const char *password;                       /* NULL: none */
    const char *ca_file, *cert_file, *key_file; /* PEM */
};

/* Begins to connect. Free the client with kv_client_free. E_INVALID: *reterr says what is wrong
 * with the URL, without a password that is in it. */
typedef enum status kv_opener(struct loop *loop, const struct kv_server *server,
                              struct kv_client **ret, struct parse_error *reterr);

#endif
