/* A real PostgreSQL as the place where the keys of a test live: one server for a program. */
#ifndef PEAL_PG_PLACE_H
#define PEAL_PG_PLACE_H

#include "kv.h"
#include "postgres_server.h"

extern struct postgres_server pg_server;

/* Ends the program, as skipped, when there is no PostgreSQL. */
void pg_place_start(void);
void pg_place_stop(void);

/* In schema `peal` unless named; deadline 0: the client's. */
struct kv_client *pg_place_client(struct loop *loop, const char *schema, int64_t deadline_ms);

/* A command of the superuser; what the first row has in its first column, if `answer` is given. */
void pg_place_sql(const char *sql, char answer[256]);

#endif
