/* The file in which a node remembers the server's identity and highest revision: see
 * store_kv_epoch.c. One line, replaced atomically; older versions wrote, and read, only its
 * beginning. */
#ifndef PEAL_STORE_ETCD_REVISION_H
#define PEAL_STORE_ETCD_REVISION_H

#include "id.h"
#include "kv.h"
#include "status.h"

struct revision_record {
    struct id lineage;
    int64_t generation;
    int64_t revision;
    uint64_t cluster_id, term; /* 0: not known */
    uint64_t stamp;            /* 0: none */
    int64_t key_revision;      /* of this node's own key; 0: not known */
    struct kv_mark mark;       /* all zero: none */
};

/* False: no readable file. */
bool revision_file_read(const char *path, struct revision_record *ret);

/* OK: on disk. E_IO, E_NOMEM: the old file is still there. */
MUST_CHECK enum status revision_file_write(const char *path, const struct revision_record *record);

#endif
