/* One connection to a PostgreSQL: named statements out, each with its parameters and a transaction
 * of its own, in a pipeline; rows in, in the order of the statements. Everything that talks to a
 * server by libpq is below this header (pg_wire.c, pg_connect.c), and nothing above it does, so
 * that a server can be played (test/sim/pg). Rows are libpq's, since whoever reads them needs no
 * connection. */
#ifndef PEAL_PG_WIRE_H
#define PEAL_PG_WIRE_H

#include <libpq-fe.h>

#include "loop.h"
#include "pg_address.h"

/* What is prepared on each connection; the texts are in pg_statements.c. Numbers are in binary
 * form. */
enum pg_statement {
    PG_READ,
    PG_TXN,
    PG_LIST,
    PG_GRANT,
    PG_REVOKE,
    PG_CHANGES,
    PG_BEAT,
    PG_LEASES,
    PG_COMPACT,
    PG_UNBLOCK,
    /* of an opening */
    PG_FACTS,
    PG_TAG,
    PG_DRAW,
    PG_END,
    PG_COMPARED,
    PG_STATEMENTS,
};

/* NULL texts end nothing: the SQL and the name of each statement. */
const char *pg_statement_name(enum pg_statement statement);
const char *pg_statement_sql(enum pg_statement statement);

enum { PG_PARAMS_MAX = 32 };

struct pg_params {
    int count;
    const char *values[PG_PARAMS_MAX];
    int lengths[PG_PARAMS_MAX];
};

/* Why a statement, and with it its transaction, was not done. */
struct pg_error {
    const char *state;   /* SQLSTATE; "": libpq gave none */
    const char *message; /* one line, of the server's words */
    const char *words;   /* all of them, with the severity: for pg_explain */
};

/* All come from the loop, never from within a call. */
struct pg_wire_events {
    /* OK, or it can't be opened, with the reason: E_UNREACHABLE passes, E_VERSION and E_INVALID do
     * not. Then, too, it is to be freed; that may be done here. */
    void (*opened)(void *context, enum status st, const char *why);
    /* What the first statement that is not over has found. The rows are the receiver's, who may not
     * free the wire here, nor in `error` and `over`. */
    void (*rows)(void *context, PGresult *rows);
    void (*error)(void *context, const struct pg_error *error);
    /* It is committed, or after an error undone. */
    void (*over)(void *context);
    void (*notified)(void *context); /* there may be changes; the wire may be freed here ... */
    void (*paused)(void *context);   /* ... and here, after all that has come at once, */
    void (*closed)(void *context, const char *why); /* and here: the last call */
};

struct pg_wire;

/* Whoever it is for is known to the server by the name of the application, "peal kv CLIENT". The
 * address stays the caller's, and has to last. `listens`: it is notified of changes. */
struct pg_target {
    const struct pg_address *address;
    uint64_t client_id;
    bool listens;
};

enum { PG_APPLICATION_SIZE = 32 };
void pg_application_name(uint64_t client_id, char ret[PG_APPLICATION_SIZE]);

/* Begins to open it: connects, sets the session up, makes the tables that are not there, prepares
 * the statements. */
MUST_CHECK enum status pg_wire_new(struct loop *loop, const struct pg_target *target,
                                   const struct pg_wire_events *events, void *context,
                                   struct pg_wire **ret);
struct pg_wire *pg_wire_free(struct pg_wire *wire); /* accepts NULL; returns NULL */

/* Its events go to somebody else from now on. */
void pg_wire_bind(struct pg_wire *wire, const struct pg_wire_events *events, void *context);

/* To an open one. What is sent goes out with pg_wire_flush. Not OK: the connection is of no more
 * use, and pg_wire_why says why. */
MUST_CHECK enum status pg_wire_send(struct pg_wire *wire, enum pg_statement statement,
                                    const struct pg_params *params);
MUST_CHECK enum status pg_wire_flush(struct pg_wire *wire);
const char *pg_wire_why(const struct pg_wire *wire);

#endif
