/* What a server says of itself, and whether it keeps what it has acknowledged. Pure. */
#ifndef PEAL_REDIS_INFO_H
#define PEAL_REDIS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

enum { REDIS_RUN_ID = 64, REDIS_SEAT = 128, REDIS_POLICY = 32 };

struct redis_info {
    int version;   /* 7.0.15 is 70015 */
    char name[32]; /* "Redis 7.0.15" */
    char run_id[REDIS_RUN_ID];
    char seat[REDIS_SEAT]; /* run_id and replid: another after each start and promotion */
    bool is_master, is_cluster, has_aof, is_aof_failing, is_aof_known, is_loading;
    char policy[REDIS_POLICY];   /* maxmemory-policy */
    char fsync[REDIS_POLICY];    /* appendfsync; "": it would not say */
    int replicas;                /* that follow it */
    int64_t memory, most_memory; /* bytes; most: 0 for no limit */
    int64_t clients, most_clients;
    int64_t clock_ms; /* its own clock; 0: it does not say */
};

/* What INFO says; false: it is no INFO. */
bool redis_info_read(const char *info, size_t length, struct redis_info *ret);

/* Of INFO, or of INFO replication: how many replicas follow it. Not those that are being sent all
 * of its data: they can't be promoted yet. */
int redis_info_replicas(const char *info, size_t length);

/* Has a server that told its seat begun another history since? A master does with its first
 * replica. */
bool redis_info_has_moved(const struct redis_info *server, const char *info, size_t length);

/* How it may lose what it has acknowledged. */
enum redis_loss {
    REDIS_LOSES_NOTHING,
    REDIS_HAS_NO_AOF,
    REDIS_FSYNC_UNKNOWN,
    REDIS_FSYNC_LATE,
    REDIS_EVICTS,
};
enum redis_loss redis_info_loss(const struct redis_info *server);

/* E_VERSION, E_INVALID: *why says what is wrong and what to do, after `name`. E_UNREACHABLE: it may
 * pass. With `accepts_loss` a server will do that may lose acknowledged changes. */
MUST_CHECK enum status redis_info_check(const struct redis_info *server, const char *name,
                                        bool accepts_loss, struct strbuf *why);

#endif
