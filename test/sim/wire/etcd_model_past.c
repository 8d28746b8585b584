/* What is forgotten, and what is undone. */
#include <string.h>

#include "etcd_model_internal.h"

/* ---- compaction ---- */

/* Keeps what a range at the revision shows, and all that is newer. */
static void compact_key(struct model_key *key, int64_t revision)
{
    size_t drop = 0;
    while (drop + 1 < key->count && key->versions[drop + 1]->mod_revision <= revision)
        drop++;
    if (drop < key->count && key->versions[drop]->mod_revision <= revision &&
        !key->versions[drop]->version)
        drop++;
    for (size_t i = 0; i < drop; i++)
        model_release_version(key->versions[i]);
    memmove(key->versions, key->versions + drop,
            (key->count - drop) * sizeof(struct model_version *));
    key->count -= drop;
}

/* Of the revision itself, what a range there does not show is gone. */
static void compact_log(struct etcd_model *model, int64_t revision)
{
    size_t kept = 0;
    for (size_t i = 0; i < model->log_count; i++) {
        struct model_version *version = model->log[i];
        if (version->mod_revision > revision ||
            (version->mod_revision == revision && version->holders == 2))
            model->log[kept++] = version;
        else
            model_release_version(version);
    }
    model->log_count = kept;
}

struct model_end etcd_model_compact(struct etcd_model *model, int64_t revision)
{
    if (revision <= model->compacted)
        return model_compacted;
    if (revision > model->revision)
        return model_future;
    model->compacted = revision;
    size_t kept = 0;
    for (size_t i = 0; i < model->key_count; i++) {
        struct model_key *key = model->keys[i];
        compact_key(key, revision);
        if (key->count) {
            model->keys[kept++] = key;
            continue;
        }
        model->dropped = model_grow(model->dropped, model->dropped_count, &model->dropped_room,
                                    sizeof(struct model_key *));
        model->dropped[model->dropped_count++] = key;
    }
    model->key_count = kept;
    compact_log(model, revision);
    return model_ok;
}

/* ---- a backup is restored ---- */

static void undo_key(struct model_key *key, int64_t revision)
{
    while (key->count && key->versions[key->count - 1]->mod_revision > revision)
        model_release_version(key->versions[--key->count]);
}

static bool has_keys(const struct etcd_model *model, int64_t lease)
{
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_key *key = model->keys[i];
        const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
        if (version && version->lease == lease)
            return true;
    }
    return false;
}

/* Leases are in a backup as well; but here it is not known which were there without a key. One that
 * is full has them, too. */
static void undo_leases(struct etcd_model *model)
{
    size_t kept = 0;
    bool is_full = model->is_full;
    model->is_full = false;
    for (size_t i = 0; i < model->lease_count; i++)
        if (has_keys(model, model->leases[i].id))
            model->leases[kept++] = model->leases[i];
    model->lease_count = kept;
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_key *key = model->keys[i];
        const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
        if (version && version->lease && !etcd_model_lease(model, version->lease))
            etcd_model_grant(model, version->lease, MODEL_RESTORED_TTL_S);
    }
    model->is_full = is_full;
}

void etcd_model_restore(struct etcd_model *model, int64_t revision, bool keeps_id)
{
    for (size_t i = 0; i < model->key_count; i++)
        undo_key(model->keys[i], revision);
    while (model->log_count && model->log[model->log_count - 1]->mod_revision > revision)
        model_release_version(model->log[--model->log_count]);
    model->revision = revision;
    model->term = 2;
    model->cluster_id += !keeps_id;
    undo_leases(model);
}
