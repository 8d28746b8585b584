/* What a server says of itself, and whether it keeps what it has acknowledged. Pure. */
#ifndef PEAL_REDIS_INFO_H
#define PEAL_REDIS_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

enum { REDIS_RUN_ID = 64, REDIS_SEAT = 128, REDIS_POLICY = 32 };

struct redis_info {
    int version; /* 7.0.15 is 70015 */
    char run_id[REDIS_RUN_ID];
    char seat[REDIS_SEAT]; /* run_id and replid: another after each start and promotion */
    bool is_master, is_cluster, has_aof, is_aof_failing, is_aof_known, is_loading;
    char policy[REDIS_POLICY]; /* maxmemory-policy */
    char fsync[REDIS_POLICY];  /* appendfsync; "": it would not say */
    int replicas;              /* that are connected */
};

/* What INFO says; false: it is no INFO. */
bool redis_info_read(const char *info, size_t length, struct redis_info *ret);

/* E_VERSION, E_INVALID: *why says what is wrong and what to do, after `name`. E_UNREACHABLE: it may
 * pass. With `accepts_loss` a server will do that may lose acknowledged changes. */
MUST_CHECK enum status redis_info_check(const struct redis_info *server, const char *name,
                                        bool accepts_loss, struct strbuf *why);

#endif
