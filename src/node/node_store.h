/* Opens the store of a cluster that a URL names: in etcd, PostgreSQL or Redis. */
#ifndef PEAL_NODE_STORE_H
#define PEAL_NODE_STORE_H

#include "etcd.h"
#include "kv_server.h"
#include "loop.h"
#include "store.h"
#include "store_url.h"

/* Credentials for etcd, or for Redis. */
struct server_access {
    char *user; /* NULL: that of the store's URL, if any */
    char *password_file;
    char *ca_file, *cert_file, *key_file; /* PEM */
};

/* Who opens a client of such servers. NULL: nobody does; *why says what to do. */
typedef kv_opener *node_find_opener(void *context, enum store_kind kind, struct strbuf *why);

/* How the store is reached. All of it stays the caller's. */
struct store_access {
    const struct store_url *url;
    const struct server_access *etcd, *redis;
    const char *config_file;       /* that has the credentials, for messages; NULL: none */
    int64_t patience_ms;           /* how long the first answer may take; 0: 4 s */
    node_find_opener *find_opener; /* of what is not etcd's */
    void *context;
};

/* Settings of the etcd client. The texts are those of the access, except for the password, which
 * comes from $PEAL_ETCD_PASSWORD or the password file. */
struct etcd_login {
    struct etcd_client_config client;
    char *password;
};

/* E_INVALID, E_IO: *why names the file. */
MUST_CHECK enum status etcd_login_make(const struct store_access *access, struct etcd_login *ret,
                                       struct strbuf *why);
void etcd_login_release(struct etcd_login *login);

/* A client of the servers that the URL names (store_url_is_keys). deadline_ms: of its requests; 0:
 * its default. E_INVALID, E_IO: *why says what is wrong. */
MUST_CHECK enum status node_kv_open(const struct store_access *access, struct loop *loop,
                                    int64_t deadline_ms, struct kv_client **ret,
                                    struct strbuf *why);

/* Opens the store; runs the loop meanwhile. `node` may be NULL. `data` (NULL: none) is the folder
 * for the revision file. E_UNREACHABLE: *why names the servers. */
MUST_CHECK enum status node_store_open(const struct store_access *access, struct loop *loop,
                                       const char *node, const char *data, struct store_wake wake,
                                       struct store **ret, struct strbuf *why);

/* Whether a server answers, accepts the login and lets the prefix be read. Else as above. */
MUST_CHECK enum status node_store_try(const struct store_access *access, struct strbuf *why);

#endif
