#include "state/boot_marks.h"

#include <stdlib.h>

static const struct table_type marks_type = {.key_at = offsetof(struct marked_job, uid),
                                             .key_size = sizeof(struct id)};

void boot_marks_init(struct boot_marks *marks)
{
    *marks = (struct boot_marks){.due_count = 0};
    table_init(&marks->by_job, &marks_type);
}

void boot_marks_release(struct boot_marks *marks)
{
    table_release_items(&marks->by_job);
}

struct marked_job *boot_marks_find(const struct boot_marks *marks, const struct id *job_uid)
{
    return table_find(&marks->by_job, job_uid);
}

struct marked_job *boot_marks_next_due(const struct boot_marks *marks, size_t *at)
{
    struct marked_job *marked = NULL;
    while (marks->due_count && (marked = table_next(&marks->by_job, at)) && !marked->mark.is_due)
        continue;
    return marked;
}

static enum status add(struct boot_marks *marks, const struct id *job_uid, struct marked_job **ret)
{
    struct marked_job *marked = calloc(1, sizeof(*marked));
    if (!marked)
        return E_NOMEM;
    marked->uid = *job_uid;
    enum status st = table_insert(&marks->by_job, marked);
    if (st == OK)
        *ret = marked;
    else
        free(marked);
    return st;
}

/* The only writer. */
static void set_mark(struct boot_marks *marks, struct marked_job *marked,
                     const struct boot_mark *mark)
{
    marks->due_count -= marked->mark.is_due;
    marks->due_count += mark->is_due;
    marked->mark = *mark;
}

enum status boot_marks_put(struct boot_marks *marks, const struct id *job_uid,
                           const struct boot_mark *mark, int64_t revision, struct marked_job **ret)
{
    struct marked_job *marked = boot_marks_find(marks, job_uid);
    enum status st = marked ? OK : add(marks, job_uid, &marked);
    if (st != OK)
        return st;
    set_mark(marks, marked, mark);
    marked->revision = revision;
    *ret = marked;
    return OK;
}

/* The feed has shown or will show a decided mark: until then it is not claimed again. */
void boot_marks_answered(struct boot_marks *marks, struct now now, const struct id *job_uid,
                         const struct store_boot *boot, bool is_decided)
{
    struct marked_job *marked = boot_marks_find(marks, job_uid);
    if (!marked)
        return;
    marked->is_claiming = false;
    if (!is_decided)
        marked->retry_at.ms = now.boot.ms + BOOT_RETRY_MS;
    else if (marked->revision == boot->revision)
        set_mark(marks, marked, &boot->mark);
}
