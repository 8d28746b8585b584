/* What is written and not committed yet: only if revisions are given out without the lock. */
#include "pg_play.h"

bool pg_is_visible(const struct pg_play *pg, int64_t revision)
{
    for (int i = 0; i < pg->hidden_count; i++)
        if (pg->hidden[i].revision == revision)
            return pg->hidden[i].until_ms <= pg->base.stage->now_ms;
    return true;
}

int64_t pg_visible_rev(const struct pg_play *pg)
{
    int64_t rev = pg->base.model->revision;
    while (rev > 1 && !pg_is_visible(pg, rev))
        rev--;
    return rev;
}

void pg_hide(struct pg_play *pg, int64_t revision, int64_t until_ms)
{
    int kept = 0;
    for (int i = 0; i < pg->hidden_count; i++)
        if (pg->hidden[i].until_ms > pg->base.stage->now_ms &&
            pg->hidden[i].revision <= pg->base.model->revision)
            pg->hidden[kept++] = pg->hidden[i];
    pg->hidden_count = kept;
    if (kept < PG_HIDDEN_MAX)
        pg->hidden[pg->hidden_count++] = (struct pg_hidden){revision, until_ms};
}

const struct model_version *pg_visible(const struct pg_play *pg, const struct model_key *key)
{
    for (size_t i = key->count; i-- > 0;)
        if (pg_is_visible(pg, key->versions[i]->mod_revision))
            return key->versions[i]->version ? key->versions[i] : NULL;
    return NULL;
}
