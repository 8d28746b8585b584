#include "definitions.h"

#include <stdlib.h>

struct definition {
    struct id uid;
    int64_t revision;
    struct job *job; /* NULL: taken */
};

static const struct table_type by_uid_type = {.key_at = offsetof(struct definition, uid),
                                              .key_size = sizeof(struct id)};

void definitions_init(struct definitions *definitions, size_t limit)
{
    table_init(&definitions->by_uid, &by_uid_type);
    definitions->limit = limit;
    definitions->hand = 0;
}

void definitions_release(struct definitions *definitions)
{
    struct definition *known;
    for (size_t at = 0; (known = table_next(&definitions->by_uid, &at));)
        job_free(known->job);
    table_release_items(&definitions->by_uid);
}

struct job *definitions_take(struct definitions *definitions, const struct id *uid,
                             int64_t revision)
{
    struct definition *known = definitions->limit ? table_find(&definitions->by_uid, uid) : NULL;
    if (!known || known->revision != revision)
        return NULL;
    struct job *job = known->job;
    known->job = NULL;
    return job;
}

static void drop_one(struct definitions *definitions)
{
    struct definition *known = table_next(&definitions->by_uid, &definitions->hand);
    if (!known) {
        definitions->hand = 0;
        known = table_next(&definitions->by_uid, &definitions->hand);
    }
    table_remove(&definitions->by_uid, known);
    job_free(known->job);
    free(known);
}

void definitions_put(struct definitions *definitions, const struct id *uid, int64_t revision,
                     struct job *job)
{
    struct definition *known =
        definitions->limit && job ? table_find(&definitions->by_uid, uid) : NULL;
    if (!known && job && definitions->limit) {
        if (definitions->by_uid.count >= definitions->limit)
            drop_one(definitions);
        struct definition fresh = {.uid = *uid};
        known = table_add(&definitions->by_uid, &fresh, sizeof(fresh));
    }
    if (!known) {
        job_free(job);
        return;
    }
    job_free(known->job); /* of another run, or revision */
    known->job = job;
    known->revision = revision;
}
