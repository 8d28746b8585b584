#include "watch/watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "definition/job_codec.h"
#include "duration.h"
#include "strbuf.h"

struct watch {
    struct lengths *lengths;
    struct overdue *overdue;
};

struct job *watch_decode(const struct catalog_job *stored)
{
    struct job *job = NULL;
    struct job_error error;
    return stored && job_decode_stored(stored->json, NULL, &job, &error) == OK ? job : NULL;
}

void watch_take(struct watch *watch, const struct store_change *change)
{
    lengths_take(watch->lengths, change);
    overdue_take(watch->overdue, change);
}

bool watch_find_lesson(struct watch *watch, const struct id *job_uid, struct learned *ret)
{
    return lengths_find(watch->lengths, job_uid, ret);
}

bool watch_is_too_short(const struct watch *watch, const struct run *run, const struct job *job,
                        char ret_text[160])
{
    int64_t limit_ms = notify_limit_ms(job->notify.too_short);
    bool is_learned = limit_ms == 0;
    if (is_learned)
        limit_ms = lengths_learned(watch->lengths, &run->job_uid).too_short_ms;
    int64_t took_ms = run->finished_ms - run->started_ms;
    if (limit_ms <= 0 || run_tick_result(run) != RUN_OK || run->parts || !run->started_ms ||
        took_ms >= limit_ms)
        return false;
    snprintf(ret_text, 160, "took %.3f s, and %s at least %.3f s", (double)took_ms / 1000,
             is_learned ? "its last runs took mostly" : "it should take", (double)limit_ms / 1000);
    return true;
}

enum status watch_new(const struct watch_config *config, struct watch **ret)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return E_NOMEM;
    enum status st = lengths_new(config, &watch->lengths);
    if (st == OK)
        st = overdue_new(config, &watch->overdue);
    if (st != OK) {
        watch_free(watch);
        return st;
    }
    *ret = watch;
    return OK;
}

struct watch *watch_free(struct watch *watch)
{
    if (!watch)
        return NULL;
    lengths_free(watch->lengths);
    overdue_free(watch->overdue);
    free(watch);
    return NULL;
}
