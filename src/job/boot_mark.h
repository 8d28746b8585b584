/* What is decided about a job with `@reboot` and a boot of one node: a document of the store for
 * each node and job. It is never removed while there is the job, so that its revision grows with
 * each boot: a request that comes late finds another one. Pure. */
#ifndef PEAL_BOOT_MARK_H
#define PEAL_BOOT_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "id.h"

#define BOOT_DOC "boot"

enum { BOOT_ID_SIZE = 40, BOOT_NAME_SIZE = 128, BOOT_JSON_SIZE = 128 };

struct boot_mark {
    char boot_id[BOOT_ID_SIZE]; /* of the last boot that the node has noticed */
    int64_t tick_ms;            /* when it has */
    bool is_due;                /* what becomes of it is not decided yet */
};

/* The name of the document: the node's and the job's. */
void boot_mark_name(const char *node, const struct id *job_uid, char name[static BOOT_NAME_SIZE]);

/* False: the document is of another node. */
bool boot_mark_is_of(const char *name, const char *node, struct id *ret_job_uid);

void boot_mark_encode(const struct boot_mark *mark, char json[static BOOT_JSON_SIZE]);
MUST_CHECK enum status boot_mark_decode(const char *json, struct boot_mark *ret);

/* The id of the run that the boot makes: it tells which boot of which node a run is of. */
struct id boot_run_id(const struct boot_mark *mark, const char *node, const struct id *job_uid);
bool boot_has_run(const char *boot_id, const char *node, const struct id *job_uid,
                  const struct id *run_id);

#endif
