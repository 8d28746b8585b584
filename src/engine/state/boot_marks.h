/* The boot marks of this node in the store: for each job, whether its run for a boot is due or
 * decided (boot_mark.h). */
#ifndef PEAL_BOOT_MARKS_H
#define PEAL_BOOT_MARKS_H

#include "clock.h"
#include "store.h"
#include "table.h"

enum { BOOT_RETRY_MS = 1000 }; /* pause after a failed request */

struct marked_job {
    struct id uid;
    struct boot_mark mark;
    int64_t revision; /* of the document; 0: no document */
    bool was_due;     /* for this boot, even if the document has been removed or replaced since */
    bool is_claiming;
    struct boot_ms retry_at; /* the claim failed or was stale: no claim before */
};

struct boot_marks {
    struct table by_job; /* of marked_job */
    size_t due_count;    /* marks that are not decided yet */
};

void boot_marks_init(struct boot_marks *marks);
void boot_marks_release(struct boot_marks *marks);

/* NULL: the job has no mark. */
struct marked_job *boot_marks_find(const struct boot_marks *marks, const struct id *job_uid);

/* Walks the marks that are due: start with *at = 0; NULL at the end. */
struct marked_job *boot_marks_next_due(const struct boot_marks *marks, size_t *at);

/* Takes in the document as the store has it now. */
MUST_CHECK enum status boot_marks_put(struct boot_marks *marks, const struct id *job_uid,
                                      const struct boot_mark *mark, int64_t revision,
                                      struct marked_job **ret);

/* The claim of `boot` was answered, or was never sent. `is_decided`: by this claim or an earlier
 * one. */
void boot_marks_answered(struct boot_marks *marks, struct now now, const struct id *job_uid,
                         const struct store_boot *boot, bool is_decided);

#endif
