/* What an error of the server means for a request, and what a person can do. */
#ifndef PEAL_PG_WORDS_H
#define PEAL_PG_WORDS_H

#include "pg_address.h"

enum pg_verdict {
    PG_AGAIN,   /* nothing was done, and the same may succeed at once */
    PG_MUTE,    /* the same, without NOTIFY */
    PG_BLOCKED, /* the same; somebody holds the lock for too long */
    PG_LOST,    /* nothing was done; the connection is of no more use */
    PG_REFUSED, /* nothing was done */
};
enum pg_verdict pg_judge(const char *sqlstate, enum status *ret);
void pg_explain(const struct pg_address *address, const char *message, struct strbuf *why);

#endif
