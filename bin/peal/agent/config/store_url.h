/* Which store an agent uses, as the user names it:
 *
 *     sqlite                                    embedded, in the data folder
 *     etcd://[USER@]HOST[:PORT],.../PREFIX      in etcd; etcds:// is the same over TLS
 *
 * The port is 2379 and the prefix /peal unless given. A password has no place in it: a command line
 * can be read by every user of the machine. */
#ifndef PEAL_STORE_URL_H
#define PEAL_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"
#include "strbuf.h"

struct store_url {
    bool is_etcd; /* else sqlite, and nothing of the rest */
    bool is_tls;
    char *user;       /* NULL: none */
    char **endpoints; /* "http://host:port", as the etcd client takes them */
    size_t endpoint_count;
    char *prefix; /* of all keys: starts with a slash, does not end in one */
};

/* OK: release *ret. E_INVALID: *reterr says what is wrong, where, and what is right; E_NOMEM. */
MUST_CHECK enum status store_url_parse(const char *text, struct store_url *ret,
                                       struct parse_error *reterr);
void store_url_release(struct store_url *url);

/* The same in full, for people and for store_url_parse. */
void store_url_print(const struct store_url *url, struct strbuf *out);

#endif
