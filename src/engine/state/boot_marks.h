/* What the store has of this node's boots: for each job, whether a boot is due for it or decided
 * (boot_mark.h). */
#ifndef PEAL_BOOT_MARKS_H
#define PEAL_BOOT_MARKS_H

#include "clock.h"
#include "store.h"
#include "table.h"

enum { BOOT_RETRY_MS = 1000 }; /* when to ask again after a request that failed */

struct marked_job {
    struct id uid;
    struct boot_mark mark;
    int64_t revision; /* of the document; 0: there is none */
    bool was_due;     /* for this boot, also if the document is gone or of another one since */
    bool is_claiming;
    struct boot_ms retry_at; /* the claim failed, or was of an old definition: not before */
};

struct boot_marks {
    struct table by_job; /* of marked_job */
    size_t due_count;    /* of them: not decided yet */
};

void boot_marks_init(struct boot_marks *marks);
void boot_marks_release(struct boot_marks *marks);

/* NULL: there is none. */
struct marked_job *boot_marks_find(const struct boot_marks *marks, const struct id *job_uid);

/* Those that are due, one after the other, from *at 0 on; NULL: no more. */
struct marked_job *boot_marks_next_due(const struct boot_marks *marks, size_t *at);

/* The document as the store has it now. */
MUST_CHECK enum status boot_marks_put(struct boot_marks *marks, const struct id *job_uid,
                                      const struct boot_mark *mark, int64_t revision,
                                      struct marked_job **ret);

/* The claim of `boot` is answered, or was never sent. `is_decided`: by it, or by one before. */
void boot_marks_answered(struct boot_marks *marks, struct now now, const struct id *job_uid,
                         const struct store_boot *boot, bool is_decided);

#endif
