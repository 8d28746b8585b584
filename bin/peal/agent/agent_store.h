/* Opens the configured store: the embedded one, or etcd. */
#ifndef PEAL_AGENT_STORE_H
#define PEAL_AGENT_STORE_H

#include "config/agent_config.h"
#include "etcd.h"
#include "loop.h"
#include "store.h"

/* Settings of the etcd client. The texts are the configuration's, except for the password, which
 * comes from $PEAL_ETCD_PASSWORD or the password file. */
struct etcd_login {
    struct etcd_client_config client;
    char *password;
};

/* E_INVALID, E_IO: *why names the file. */
MUST_CHECK enum status etcd_login_make(const struct agent_config *config, struct etcd_login *ret,
                                       struct strbuf *why);
void etcd_login_release(struct etcd_login *login);

/* Opens the store in etcd; runs the loop meanwhile. `node` may be NULL. `data` (NULL: none) is the
 * folder for the revision file. E_UNREACHABLE: *why names the endpoints. */
MUST_CHECK enum status agent_store_open_etcd(const struct agent_config *config, struct loop *loop,
                                             const char *node, const char *data,
                                             struct store_wake wake, struct store **ret,
                                             struct strbuf *why);

/* Whether etcd answers, accepts the login and lets the prefix be read. Else as above. */
MUST_CHECK enum status agent_store_try_etcd(const struct agent_config *config, struct strbuf *why);

#endif
