/* An etcd that comes back from a backup, and whoever runs `peal cluster advance-cursors` then. */
#include <string.h>

#include "any_job.h"
#include "kv/store_kv_internal.h"
#include "wire_world.h"

enum {
    BACKUP_REVISIONS = 100, /* at most, since the backup */
    SURE_REVISIONS = 20,    /* seen since the backup: who has seen fewer may not notice */
    LOOK_MS = 2000,         /* between two tries to go on */
    PATIENCE_MS = 60 * SECOND,
    TOLD_MS = 30 * SECOND, /* for who has sent the lift to find out that it was done */
};

/* If the agent is killed, or told to stop, whoever has asked it sees that. Of several that were
 * asked one has done it, and the others say so or that they could not. */
static void on_advanced(void *context, enum status st)
{
    const struct node *node = context;
    struct world *world = node->cluster->world;
    stage_log(&node->cluster->stage, "advance-cursors: %s", status_text(st));
    world->asked &= ~(1U << node->machine.number);
    world->is_told |= st == OK || !node_is_up(node) || world->times_asked > 1;
}

static bool is_any_paused(const struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].machine.is_paused)
            return true;
    return false;
}

/* Whatever became of the answer, who has sent the lift finds out; but not through a fault, nor in
 * its sleep. */
static void check_told(struct world *world)
{
    struct stage *stage = &world->cluster->stage;
    if (is_any_paused(world->cluster))
        world->lifted_ms = stage->now_ms;
    if (!world->is_to_advance && !world->is_told && stage->now_ms > world->lifted_ms + TOLD_MS &&
        TAILQ_EMPTY(&world->cluster->faults_now))
        stage_fail(stage, "etcd is gone on with, and who did it does not know");
}

/* Now and then its answer is lost, with all that is on its way. Who has sent it may have been
 * killed before it came here: then there is nobody to be told. */
void wire_restore_lifted(struct cluster *cluster)
{
    struct world *world = cluster->world;
    stage_log(&cluster->stage, "etcd is gone on with%s",
              world->asked ? "" : ", by an agent that is dead");
    oracle_see_lift(cluster);
    task_stop(&cluster->stage, &world->strike);
    world->is_to_advance = false;
    world->lifted = world->etcd.model.revision;
    world->lifted_ms = cluster->stage.now_ms;
    world->is_told = !world->asked;
    for (int i = 0; i < cluster->node_count && stage_chance(&cluster->stage, 300); i++)
        net_reset(&world->net, i);
}

/* Through the first agent that takes it. */
static void advance(struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        if (!node_is_up(node) || node->machine.is_paused)
            continue;
        struct loop *before = machine_enter(&node->machine);
        enum status st = store_kv_advance(node->store, machine_now(&node->machine).wall.ms,
                                          "person", on_advanced, node);
        machine_leave(before);
        if (st == OK) {
            cluster->world->asked |= 1U << node->machine.number;
            cluster->world->times_asked++;
        }
        if (st == OK || st == E_BUSY)
            return;
    }
}

static const struct model_version *find_halt(const struct cluster *cluster)
{
    static const char key[] = "/peal/halt";
    return etcd_model_get(&cluster->world->etcd.model, key, sizeof(key) - 1);
}

static void on_operate(struct task *task)
{
    struct world *world = (struct world *)((char *)task - offsetof(struct world, operate));
    struct stage *stage = &world->cluster->stage;
    bool is_now_halted = find_halt(world->cluster) != NULL;
    if (world->is_to_advance && world->is_well && stage->now_ms > world->well_ms + PATIENCE_MS)
        stage_fail(stage, "etcd was restored, and nobody %s",
                   is_now_halted ? "can go on" : "noticed");
    check_told(world);
    if (is_now_halted) /* perhaps once more: by one who had seen it go on otherwise */
        advance(world->cluster);
    task_at(stage, task, stage->now_ms + LOOK_MS);
}

/* ---- going away ---- */

static void on_away(struct task *task)
{
    struct world *world = (struct world *)((char *)task - offsetof(struct world, away));
    for (int i = 0; i < NET_MEMBERS; i++)
        etcd_serve_set_down(&world->etcd, i, true);
}

void wire_restore_begin(struct cluster *cluster, struct node *node, uint64_t *random)
{
    cluster->world->waits_for_take = any_chance(random, 40);
    if (!cluster->world->waits_for_take) {
        on_away(&cluster->world->away);
        return;
    }
    node->trap = TRAP_FREEZE;
    node->trap_at = RUN_CLAIMED;
}

/* Late enough for whoever has taken it to start it, and mostly before the other one wakes up. */
void wire_restore_taken(struct cluster *cluster)
{
    struct stage *stage = &cluster->stage;
    if (cluster->world->waits_for_take && !task_is_set(&cluster->world->away))
        task_at(stage, &cluster->world->away, stage->now_ms + stage_below(stage, 4 * SECOND));
}

/* ---- going back ---- */

/* What the node knows, in memory or on its disk. */
static struct revision_record memory_of(const struct node *node)
{
    const struct world *world = node->cluster->world;
    const struct store_kv *store = (const struct store_kv *)node->store;
    const struct remembered *remembered = &world->remembered[node->machine.number];
    if (node_is_up(node))
        return (struct revision_record){.generation = store->epoch.generation,
                                        .revision = store->epoch.seen.revision};
    return remembered->is_there ? remembered->record : (struct revision_record){.revision = 0};
}

/* All nodes have seen what is clearly younger than the backup. Else nobody can be held to notice
 * a restore that does not show, nor that a backup is from before the last lift. */
static bool is_known_by_all(const struct cluster *cluster, int64_t revision)
{
    for (int i = 0; i < cluster->node_count; i++) {
        struct revision_record memory = memory_of(&cluster->nodes[i]);
        if (memory.generation != cluster->world->epoch->generation ||
            memory.revision < revision + SURE_REVISIONS)
            return false;
    }
    return true;
}

static void go_back_to(struct cluster *cluster, int64_t revision, bool keeps_id)
{
    struct world *world = cluster->world;
    struct stage *stage = &cluster->stage;
    const struct etcd_model *model = &world->etcd.model;
    stage_log(stage, "etcd is restored from a backup, %lld revisions old%s",
              (long long)(model->revision - revision), keeps_id ? ", under the same id" : "");
    etcd_serve_restore(&world->etcd, revision, keeps_id);
    wire_oracle_restore(cluster);
    if (keeps_id) /* of the same cluster, leases have come back that were gone */
        cluster->revoked_ms = stage->now_ms;
    if (world->lifted > revision)
        world->lifted = 0;
    world->is_to_advance = true;
    world->times_asked = 0;
    world->is_told = true; /* or never will be, of the lift before */
    world->is_well = false;
    task_at(stage, &world->operate, stage->now_ms + stage_below(stage, 40 * SECOND));
}

static void go_back(struct cluster *cluster, int64_t revision)
{
    const struct world *world = cluster->world;
    bool keeps_id = !world->is_to_advance && revision >= world->lifted &&
                    is_known_by_all(cluster, revision) && stage_chance(&cluster->stage, 400);
    go_back_to(cluster, revision, keeps_id);
}

/* The last change that every node has on its disk, by its tag; 0: one has none of this data. */
static int64_t marked_by_all(const struct cluster *cluster, int64_t incarnation)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < cluster->node_count; i++) {
        const struct remembered *remembered = &cluster->world->remembered[i];
        const struct kv_mark *mark = &remembered->record.mark;
        if (!remembered->is_there || mark->incarnation != incarnation)
            return 0;
        if (mark->revision < least)
            least = mark->revision;
    }
    return least;
}

void wire_restore_behind(struct cluster *cluster, int64_t incarnation)
{
    const struct world *world = cluster->world;
    struct stage *stage = &cluster->stage;
    int64_t oldest = world->lifted > world->first_backup ? world->lifted : world->first_backup;
    int64_t revision = marked_by_all(cluster, incarnation) - 1 - stage_below(stage, 3);
    if (oldest < world->etcd.model.compacted)
        oldest = world->etcd.model.compacted;
    if (cluster->may_lose && !world->is_to_advance && world->first_backup && revision > oldest)
        go_back_to(cluster, revision, true);
}

static bool is_claim(const struct world *world, const struct model_version *version)
{
    static const char prefix[] = "/peal/runs/";
    struct run_row row;
    enum tell tell;
    struct kv_pair kv = {.value = {version->value, version->length},
                         .mod_revision = version->mod_revision};
    return version->version && version->key->length > strlen(prefix) &&
           memcmp(version->key->bytes, prefix, strlen(prefix)) == 0 &&
           value_read_run(&kv, world->epoch, &row, &tell) == OK && row.run.state == RUN_CLAIMED;
}

/* The revision before the last one in which a run was taken over from who had claimed it; 0: none
 * since `oldest`. */
static int64_t before_a_take(const struct world *world, int64_t oldest)
{
    const struct etcd_model *model = &world->etcd.model;
    for (size_t i = model->log_count; i-- > 0 && model->log[i]->mod_revision > oldest;) {
        const struct model_version *version = model->log[i];
        const struct model_key *key = version->key;
        for (size_t k = 1; is_claim(world, version) && k < key->count; k++)
            if (key->versions[k] == version && is_claim(world, key->versions[k - 1]))
                return version->mod_revision - 1;
    }
    return 0;
}

void wire_restore(struct cluster *cluster)
{
    struct world *world = cluster->world;
    struct stage *stage = &cluster->stage;
    const struct etcd_model *model = &world->etcd.model;
    bool is_untaken = world->waits_for_take;
    task_stop(stage, &world->away);
    world->waits_for_take = false;
    int64_t oldest =
        model->compacted > world->first_backup ? model->compacted : world->first_backup;
    if (oldest < world->lifted && !is_known_by_all(cluster, world->lifted))
        oldest = world->lifted;
    int64_t since = model->revision - oldest;
    if (since <= 0)
        return; /* all that there is would be in it */
    int64_t back = 1 + stage_below(stage, since < BACKUP_REVISIONS ? since : BACKUP_REVISIONS);
    int64_t untaken = is_untaken ? before_a_take(world, oldest) : 0;
    go_back(cluster, untaken ? untaken : model->revision - back);
}

/* To the moment of the halt: the lift that is on its way may be done there. */
static void on_strike(struct task *task)
{
    struct world *world = (struct world *)((char *)task - offsetof(struct world, strike));
    const struct model_version *halt = find_halt(world->cluster);
    if (halt && halt->mod_revision > world->etcd.model.compacted)
        go_back(world->cluster, halt->mod_revision);
}

void wire_restore_swept(struct cluster *cluster)
{
    struct stage *stage = &cluster->stage;
    if (!cluster->world->is_well && stage_chance(stage, 50))
        task_at(stage, &cluster->world->strike,
                stage->now_ms + stage_below(stage, 6 * cluster->latency_ms + 6));
}

void wire_restore_hurry(struct cluster *cluster)
{
    struct world *world = cluster->world;
    world->is_well = true;
    world->well_ms = cluster->stage.now_ms;
    if (world->is_to_advance)
        task_at(&cluster->stage, &world->operate, cluster->stage.now_ms + SECOND);
}

void wire_restore_init(struct world *world)
{
    task_init(&world->operate, NULL, on_operate);
    task_init(&world->strike, NULL, on_strike);
    task_init(&world->away, NULL, on_away);
}
