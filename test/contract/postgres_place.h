/* Where a test's history in PostgreSQL lives: a schema of its own in a server that all tests of the
 * program share. */
#ifndef PEAL_POSTGRES_PLACE_H
#define PEAL_POSTGRES_PLACE_H

#include "history_contract.h"
#include "postgres_server.h"

extern struct postgres_server postgres_server;
extern const struct history_backend postgres_backend;

/* The URL of a place, which is the name of its schema. */
void postgres_place_url(const char *place, char url[256]);

/* Commands, as the server's superuser, in the place's schema; what the first row has in its first
 * column. */
void postgres_place_sql(const char *place, const char *sql, char answer[128]);

#endif
