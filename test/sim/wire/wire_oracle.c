/* What is in etcd, read at the moment it gets there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/store_kv_value.h"
#include "rules/rules.h"
#include "wire_world.h"

static void read_job(struct cluster *cluster, const struct id *uid, const struct kv_pair *kv)
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

static void read_cursor(struct cluster *cluster, const struct id *uid, const struct kv_pair *kv)
{
    struct job_row row = {.uid = *uid};
    enum tell tell;
    if (!kv->version)
        return;
    if (value_read_cursor(kv, &row, &tell) != OK)
        stage_fail(&cluster->stage, "a cursor can't be read");
    oracle_see_cursor(cluster, uid, row.cursor_ms, &row.rewinds, row.last.ended_ms);
}

static void read_run(struct cluster *cluster, const struct id *id, const struct kv_pair *kv)
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

static void read_node(struct cluster *cluster, const char *name, const struct kv_pair *kv)
{
    struct peer peer;
    bool is_there = kv->version > 0;
    if (is_there && peer_decode(name, kv->value.data, kv->value.length, &peer) != OK)
        stage_fail(&cluster->stage, "what %s says of itself can't be read", name);
    oracle_see_node(cluster, name, is_there ? &peer : NULL);
}

static void read_entry(struct cluster *cluster, const struct id *id, const struct kv_pair *kv)
{
    struct ledger_entry entry;
    if (kv->version && value_read_entry(kv, &entry) != OK)
        stage_fail(&cluster->stage, "an entry can't be read");
    oracle_see_entry(cluster, id, kv->version ? &entry : NULL);
    if (kv->version && entry.reason == REASON_RESTORED && !cluster->is_restoring)
        wire_restore_swept(cluster);
}

static void read_boot(struct cluster *cluster, const char *name, const struct kv_pair *kv)
{
    int64_t revision;
    char *json = NULL;
    if (kv->version && value_read_doc(kv, &revision, &json) != OK)
        stage_fail(&cluster->stage, "a boot can't be read");
    oracle_see_boot(cluster, name, json);
    free(json);
}

static void read_attendance(struct cluster *cluster, const struct kv_pair *kv)
{
    int64_t revision;
    char *json = NULL;
    if (kv->version && value_read_doc(kv, &revision, &json) != OK)
        stage_fail(&cluster->stage, "the attendance can't be read");
    oracle_see_attendance(cluster, json);
    free(json);
}

/* "NODE/boot": its first word. */
static void read_notice(struct cluster *cluster, const char *rest, const struct kv_pair *kv)
{
    char node[64], text[BOOT_ID_SIZE], boot_id[BOOT_ID_SIZE];
    const char *slash = strrchr(rest, '/');
    size_t length = kv->value.length < sizeof(text) ? kv->value.length : sizeof(text) - 1;
    if (!kv->version || !slash || strcmp(slash, "/boot") != 0)
        return;
    snprintf(node, sizeof(node), "%.*s", (int)(slash - rest), rest);
    memcpy(text, kv->value.data, length);
    text[length] = '\0';
    if (sscanf(text, "%39s", boot_id) == 1)
        oracle_see_notice(cluster, node, boot_id);
}

/* A lift counts when it is in etcd, whatever the command was told; unless it was meant for the
 * cluster before this one. */
static void read_epoch(struct cluster *cluster, const struct kv_pair *kv)
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
static void read_halt(struct cluster *cluster, const struct kv_pair *kv)
{
    if (kv->version && !cluster->is_restoring && !cluster->world->is_to_advance)
        stage_fail(&cluster->stage, "all is halted, and etcd was not restored: %.*s",
                   (int)kv->value.length, (const char *)kv->value.data);
}

/* ---- a revision ---- */

enum { ROUND_CURSORS, ROUND_JOBS, ROUND_ENDS, ROUND_REST, ROUNDS };

enum read_kind {
    READ_EPOCH,
    READ_HALT,
    READ_CURSOR,
    READ_JOB,
    READ_RUN,
    READ_ENTRY,
    READ_NODE,
    READ_BOOT,
    READ_ATTENDANCE,
    READ_META,
    READ_NOTHING
};

static const struct {
    const char *head;
    int round;
} kinds[] = {
    [READ_EPOCH] = {"/peal/epoch", ROUND_CURSORS},
    [READ_HALT] = {"/peal/halt", ROUND_CURSORS},
    [READ_CURSOR] = {"/peal/cursors/", ROUND_CURSORS},
    [READ_JOB] = {"/peal/jobs/", ROUND_JOBS},
    [READ_RUN] = {"/peal/runs/", ROUND_REST},
    [READ_ENTRY] = {"/peal/entries/", ROUND_REST},
    [READ_NODE] = {"/peal/nodes/", ROUND_REST},
    [READ_BOOT] = {"/peal/docs/" BOOT_DOC "/", ROUND_JOBS},
    [READ_ATTENDANCE] = {"/peal/docs/" ATTENDANCE_DOC "/", ROUND_JOBS},
    [READ_META] = {"/peal/metas/", ROUND_REST},
    [READ_NOTHING] = {"", ROUND_REST},
};

static enum read_kind kind_of(const struct model_key *key)
{
    enum read_kind kind = READ_EPOCH;
    while (key->length < strlen(kinds[kind].head) ||
           memcmp(key->bytes, kinds[kind].head, strlen(kinds[kind].head)) != 0)
        kind++;
    return kind;
}

static struct kv_pair kv_of(const struct model_version *version)
{
    return (struct kv_pair){.key = {version->key->bytes, version->key->length},
                            .value = {version->value, version->length},
                            .create_revision = version->create_revision,
                            .mod_revision = version->mod_revision,
                            .version = version->version,
                            .lease = version->lease};
}

/* Cursors first, then jobs: what a revision says of runs follows from them. Ends before
 * beginnings. */
static int round_of(const struct cluster *cluster, const struct model_version *version)
{
    struct run_row row;
    enum tell tell;
    enum read_kind kind = kind_of(version->key);
    struct kv_pair kv = kv_of(version);
    bool is_end = kind == READ_RUN && version->version &&
                  value_read_run(&kv, cluster->world->epoch, &row, &tell) == OK &&
                  run_state_is_end(row.run.state);
    return is_end ? ROUND_ENDS : kinds[kind].round;
}

static void read_version(struct cluster *cluster, const struct model_version *version)
{
    char rest[256];
    struct id id;
    enum read_kind kind = kind_of(version->key);
    struct kv_pair kv = kv_of(version);
    size_t head = strlen(kinds[kind].head), length = version->key->length - head;
    if (length >= sizeof(rest))
        stage_fail(&cluster->stage, "a long key");
    memcpy(rest, version->key->bytes + head, length);
    rest[length] = '\0';
    bool has_id = kind < READ_NODE && id_parse(rest, &id) == OK;
    if (kind == READ_EPOCH)
        read_epoch(cluster, &kv);
    if (kind == READ_HALT)
        read_halt(cluster, &kv);
    if (kind == READ_CURSOR && has_id)
        read_cursor(cluster, &id, &kv);
    if (kind == READ_JOB && has_id)
        read_job(cluster, &id, &kv);
    if (kind == READ_RUN && has_id)
        read_run(cluster, &id, &kv);
    if (kind == READ_ENTRY && has_id)
        read_entry(cluster, &id, &kv);
    if (kind == READ_NODE)
        read_node(cluster, rest, &kv);
    if (kind == READ_BOOT)
        read_boot(cluster, rest, &kv);
    if (kind == READ_ATTENDANCE)
        read_attendance(cluster, &kv);
    if (kind == READ_META)
        read_notice(cluster, rest, &kv);
}

static void read_versions(struct cluster *cluster, struct model_version *const *versions,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        versions[i]->round = round_of(cluster, versions[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < count; i++)
            if (versions[i]->round == round)
                read_version(cluster, versions[i]);
}

static void on_changed(void *context, struct model_version *const *versions, size_t count)
{
    if (count == 1) /* as most are: in no order */
        read_version(context, versions[0]);
    else
        read_versions(context, versions, count);
}

void wire_oracle_restore(struct cluster *cluster)
{
    const struct etcd_model *model = &cluster->world->etcd.model;
    struct model_version **versions = calloc(model->key_count + 1, sizeof(*versions));
    size_t count = 0;
    if (!versions)
        abort();
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_key *key = model->keys[i];
        if (key->count && key->versions[key->count - 1]->version)
            versions[count++] = key->versions[key->count - 1];
    }
    oracle_begin_restore(cluster);
    read_versions(cluster, versions, count);
    oracle_end_restore(cluster);
    free(versions);
}

static void on_revoking(void *context, int machine)
{
    oracle_see_suspected(context, machine);
}

static void on_fall_behind(void *context, int64_t incarnation)
{
    wire_restore_behind(context, incarnation);
}

void wire_oracle_init(struct cluster *cluster)
{
    struct world *world = cluster->world;
    world->epoch = calloc(1, sizeof(*world->epoch));
    if (!world->epoch)
        abort();
    world->etcd.changed = on_changed;
    world->etcd.revoking = on_revoking;
    world->etcd.fall_behind = on_fall_behind;
    world->etcd.context = cluster;
}

void wire_oracle_release(struct cluster *cluster)
{
    free(cluster->world->epoch);
}
