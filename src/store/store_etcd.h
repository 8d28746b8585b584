/* The store in etcd (3.4 and later), for many nodes. Each item of a request is one transaction; a
 * hundred of them travel together. What is decided is decided on a mirror, which a watch keeps up
 * to date, and holds only if nothing that it was decided on has changed meanwhile; else it is
 * decided again. README.md has the keys. */
#ifndef PEAL_STORE_ETCD_H
#define PEAL_STORE_ETCD_H

#include "loop.h"
#include "store.h"

struct store_etcd_config {
    const char *const *endpoints; /* as in struct etcd_client_config, like all up to server_name */
    size_t endpoint_count;
    const char *user, *password;
    const char *ca_file, *cert_file, *key_file;
    const char *server_name;
    const char *prefix; /* of all keys, without a slash at its end; NULL: "/peal" */
    const char *node;   /* whose small facts (metas) are kept; NULL: "" */
};

/* Runs the loop until everything there is has been read. E_UNREACHABLE: no etcd answered;
 * E_VERSION: written by a newer peal; E_CORRUPT; E_INVALID: the configuration; E_IO; E_NOMEM. *why
 * says more. The loop must outlive the store, whose answers and changes come only while the loop
 * runs; store_free runs it too, and must not be called from within one of its callbacks. SIGPIPE
 * must be ignored. */
MUST_CHECK enum status store_etcd_open(struct loop *loop, const struct store_etcd_config *config,
                                       struct store_wake wake, struct store **ret,
                                       struct strbuf *why);

#endif
