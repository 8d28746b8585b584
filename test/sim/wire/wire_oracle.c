/* What is in etcd, read at the moment it gets there. */
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "store_etcd_value.h"
#include "wire_world.h"

static void read_job(struct cluster *cluster, const struct id *uid, const struct etcd_kv *kv)
{
    struct job_row row = {.uid = *uid};
    char *name, *json;
    if (!kv->version) {
        oracle_see_job(cluster, uid, NULL, 0);
        return;
    }
    if (value_read_job(kv, &row, &name, &json) != OK)
        stage_fail(&cluster->stage, "a job can't be read");
    oracle_see_job(cluster, uid, json, row.revision);
    if (!cluster->world->first_backup)
        cluster->world->first_backup = kv->mod_revision;
    const struct known_job *job = find_job(cluster, uid);
    if (job->paused != row.paused || job->deleted != row.deleted)
        stage_fail(&cluster->stage, "%s is said to be what it is not", job->name);
    free(name);
    free(json);
}

static void read_cursor(struct cluster *cluster, const struct id *uid, const struct etcd_kv *kv)
{
    struct job_row row = {.uid = *uid};
    enum tell tell;
    if (!kv->version)
        return;
    if (value_read_cursor(kv, &row, &tell) != OK)
        stage_fail(&cluster->stage, "a cursor can't be read");
    oracle_see_cursor(cluster, uid, row.cursor_ms, &row.rewinds, row.last.ended_ms);
}

static void read_run(struct cluster *cluster, const struct id *id, const struct etcd_kv *kv)
{
    struct run_row row;
    enum tell tell;
    if (!kv->version) {
        oracle_see_run(cluster, id, NULL);
        return;
    }
    if (value_read_run(kv, cluster->world->epoch, &row, &tell) != OK)
        stage_fail(&cluster->stage, "a run can't be read");
    row.run.id = *id;
    size_t takeovers = cluster->takeovers;
    oracle_see_run(cluster, id, &row.run);
    if (cluster->takeovers > takeovers)
        wire_restore_taken(cluster);
}

static void read_node(struct cluster *cluster, const char *name, const struct etcd_kv *kv)
{
    struct peer peer;
    bool is_there = kv->version > 0;
    if (is_there && peer_decode(name, kv->value.data, kv->value.length, &peer) != OK)
        stage_fail(&cluster->stage, "what %s says of itself can't be read", name);
    oracle_see_node(cluster, name, is_there ? &peer : NULL);
}

static void read_entry(struct cluster *cluster, const struct id *id, const struct etcd_kv *kv)
{
    struct ledger_entry entry;
    if (kv->version && value_read_entry(kv, &entry) != OK)
        stage_fail(&cluster->stage, "an entry can't be read");
    oracle_see_entry(cluster, id, kv->version ? &entry : NULL);
    if (kv->version && entry.reason == REASON_RESTORED && !cluster->is_restoring)
        wire_restore_swept(cluster);
}

/* A lift counts when it is in etcd, whatever the command was told; unless it was meant for the
 * cluster before this one. */
static void read_epoch(struct cluster *cluster, const struct etcd_kv *kv)
{
    struct world *world = cluster->world;
    struct epoch read;
    if (value_read_epoch(kv, &read) != OK)
        stage_fail(&cluster->stage, "the epoch can't be read");
    bool is_lift = !cluster->is_restoring && read.stamp != world->epoch->stamp &&
                   read.cluster_id == world->etcd.model.cluster_id;
    *world->epoch = read;
    if (is_lift)
        wire_restore_lifted(cluster);
}

/* Going on once is enough. */
static void read_halt(struct cluster *cluster, const struct etcd_kv *kv)
{
    if (kv->version && !cluster->is_restoring && !cluster->world->is_to_advance)
        stage_fail(&cluster->stage, "all is halted, and etcd was not restored: %.*s",
                   (int)kv->value.length, (const char *)kv->value.data);
}

/* ---- a revision ---- */

static bool starts_with(const char *text, const char *head, const char **ret_rest)
{
    size_t length = strlen(head);
    *ret_rest = text + length;
    return strncmp(text, head, length) == 0;
}

/* Cursors first, then jobs: what a revision says of runs follows from them. */
static void read_key(struct cluster *cluster, const char *key, const struct etcd_kv *kv, int round)
{
    const char *rest;
    struct id id;
    bool has_id = strrchr(key, '/') && id_parse(strrchr(key, '/') + 1, &id) == OK;
    if (round == 0 && starts_with(key, "/peal/epoch", &rest))
        read_epoch(cluster, kv);
    if (round == 0 && starts_with(key, "/peal/halt", &rest))
        read_halt(cluster, kv);
    if (round == 0 && has_id && starts_with(key, "/peal/cursors/", &rest))
        read_cursor(cluster, &id, kv);
    if (round == 1 && has_id && starts_with(key, "/peal/jobs/", &rest))
        read_job(cluster, &id, kv);
    if (round == 2 && has_id && starts_with(key, "/peal/runs/", &rest))
        read_run(cluster, &id, kv);
    if (round == 2 && has_id && starts_with(key, "/peal/entries/", &rest))
        read_entry(cluster, &id, kv);
    if (round == 2 && starts_with(key, "/peal/nodes/", &rest))
        read_node(cluster, rest, kv);
}

/* Ends before beginnings, within a revision. */
static bool is_end(const struct model_version *version, const char *key, const struct epoch *epoch)
{
    struct run_row row;
    enum tell tell;
    const char *rest;
    struct etcd_kv kv = {.value = {version->value, version->length},
                         .mod_revision = version->mod_revision};
    return version->version && starts_with(key, "/peal/runs/", &rest) &&
           value_read_run(&kv, epoch, &row, &tell) == OK && run_state_is_end(row.run.state);
}

static void read_version(struct cluster *cluster, const struct model_version *version, int round)
{
    char key[256];
    if (version->key->length >= sizeof(key))
        stage_fail(&cluster->stage, "a long key");
    memcpy(key, version->key->bytes, version->key->length);
    key[version->key->length] = '\0';
    struct etcd_kv kv = {.key = {version->key->bytes, version->key->length},
                         .value = {version->value, version->length},
                         .create_revision = version->create_revision,
                         .mod_revision = version->mod_revision,
                         .version = version->version,
                         .lease = version->lease};
    bool ends = round >= 2 && is_end(version, key, cluster->world->epoch);
    if (round < 2 || ends == (round == 2))
        read_key(cluster, key, &kv, round == 3 ? 2 : round);
}

static void on_changed(void *context, struct model_version *const *versions, size_t count)
{
    struct cluster *cluster = context;
    for (int round = 0; round < 4; round++)
        for (size_t i = 0; i < count; i++)
            read_version(cluster, versions[i], round);
}

void wire_oracle_restore(struct cluster *cluster)
{
    const struct etcd_model *model = &cluster->world->etcd.model;
    oracle_begin_restore(cluster);
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < model->key_count; i++) {
            const struct model_key *key = model->keys[i];
            const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
            if (version)
                read_version(cluster, version, round);
        }
    }
    oracle_end_restore(cluster);
}

void wire_oracle_init(struct cluster *cluster)
{
    struct world *world = cluster->world;
    world->epoch = calloc(1, sizeof(*world->epoch));
    if (!world->epoch)
        abort();
    world->etcd.changed = on_changed;
    world->etcd.context = cluster;
}

void wire_oracle_release(struct cluster *cluster)
{
    free(cluster->world->epoch);
}
