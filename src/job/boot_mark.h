/* Whether a `@reboot` job still has to run for the last boot of a node: one document in the store
 * per node and job. The document lives as long as the job, so that its revision grows with each
 * boot: a late request for an earlier boot fails its compare-and-set. Pure. */
#ifndef PEAL_BOOT_MARK_H
#define PEAL_BOOT_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "id.h"

#define BOOT_DOC "boot"

enum { BOOT_ID_SIZE = 40, BOOT_NAME_SIZE = 128, BOOT_JSON_SIZE = 128 };

struct boot_mark {
    char boot_id[BOOT_ID_SIZE]; /* of the last boot that the node has noticed */
    int64_t tick_ms;            /* when the node noticed it */
    bool is_due;                /* neither run nor skipped yet */
};

/* The name of the document: "NODE/JOB-UID". */
void boot_mark_name(const char *node, const struct id *job_uid, char name[static BOOT_NAME_SIZE]);

/* False: the document belongs to another node. */
bool boot_mark_is_of(const char *name, const char *node, struct id *ret_job_uid);

void boot_mark_encode(const struct boot_mark *mark, char json[static BOOT_JSON_SIZE]);
MUST_CHECK enum status boot_mark_decode(const char *json, struct boot_mark *ret);

/* The id of the run for a boot is derived from boot, node and job, which boot_has_run checks. */
struct id boot_run_id(const struct boot_mark *mark, const char *node, const struct id *job_uid);
bool boot_has_run(const char *boot_id, const char *node, const struct id *job_uid,
                  const struct id *run_id);

#endif
