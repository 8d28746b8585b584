/* The address of a PostgreSQL, of a store as of a history: a URL as libpq takes it, and
 * schema=NAME, which is peal's own. */
#ifndef PEAL_PG_ADDRESS_H
#define PEAL_PG_ADDRESS_H

#include "status.h"
#include "strbuf.h"

enum { PG_SCHEMA_MAX = 64 };

struct pg_address {
    char *conninfo; /* the URL without what is peal's own; may have a password */
    char schema[PG_SCHEMA_MAX];
    char name[160]; /* USER@HOST:PORT/DATABASE, for people */
};

/* `what` names the address in messages: "the address". E_INVALID: *why says what is wrong, without
 * a password that is in it. */
MUST_CHECK enum status pg_address_read(const char *url, const char *what, struct pg_address *ret,
                                       struct strbuf *why);
void pg_address_release(struct pg_address *address);

#endif
