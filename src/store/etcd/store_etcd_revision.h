/* The file in which a node remembers which etcd it saw, and how far that was: see
 * store_etcd_epoch.c. One line, replaced as a whole; older versions wrote, and read, less of it. */
#ifndef PEAL_STORE_ETCD_REVISION_H
#define PEAL_STORE_ETCD_REVISION_H

#include "id.h"
#include "status.h"

struct revision_record {
    struct id lineage;
    int64_t generation;
    int64_t revision;
    uint64_t cluster_id, term; /* 0: not known */
    uint64_t stamp;            /* 0: none */
    int64_t key_revision;      /* of this node's own key; 0: not known */
};

/* False: there is none that could be read. */
bool revision_file_read(const char *path, struct revision_record *ret);

/* On the disk, or E_IO, E_NOMEM: then the one before is still there. */
MUST_CHECK enum status revision_file_write(const char *path, const struct revision_record *record);

#endif
