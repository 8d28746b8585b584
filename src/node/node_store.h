/* Opens the store of a cluster that a URL names, in etcd. */
#ifndef PEAL_NODE_STORE_H
#define PEAL_NODE_STORE_H

#include "etcd.h"
#include "loop.h"
#include "store.h"
#include "store_url.h"

/* Credentials for etcd. */
struct etcd_access {
    char *user; /* NULL: that of the store's URL, if any */
    char *password_file;
    char *ca_file, *cert_file, *key_file; /* PEM */
};

/* How the store is reached. All of it stays the caller's. */
struct store_access {
    const struct store_url *url;
    const struct etcd_access *etcd;
    const char *config_file; /* that has the credentials, for messages; NULL: none */
    int64_t patience_ms;     /* how long the first answer may take; 0: 4 s */
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

/* Opens the store in etcd; runs the loop meanwhile. `node` may be NULL. `data` (NULL: none) is the
 * folder for the revision file. E_UNREACHABLE: *why names the endpoints. */
MUST_CHECK enum status node_store_open_etcd(const struct store_access *access, struct loop *loop,
                                            const char *node, const char *data,
                                            struct store_wake wake, struct store **ret,
                                            struct strbuf *why);

/* Whether etcd answers, accepts the login and lets the prefix be read. Else as above. */
MUST_CHECK enum status node_store_try_etcd(const struct store_access *access, struct strbuf *why);

#endif
