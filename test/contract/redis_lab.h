/* A real Redis as the place where the keys of a test live: one server for a program. */
#ifndef PEAL_REDIS_LAB_H
#define PEAL_REDIS_LAB_H

#include "kv.h"
#include "redis_server.h"

extern struct redis_server redis_lab;

/* Ends the program, as skipped, when there is no Redis. */
void redis_lab_start(void);
void redis_lab_stop(void);

/* Of a server; `more` is the end of its URL; deadline 0: the client's. */
struct kv_client *redis_lab_client(struct loop *loop, const struct redis_server *server,
                                   const char *more, int64_t deadline_ms);

#endif
