/* An etcd that comes back from a backup, and whoever runs `peal cluster advance-cursors` then. */
#include "store_etcd.h"
#include "wire_world.h"

enum {
    BACKUP_REVISIONS = 100, /* at most, since the backup */
    LOOK_MS = 2000,         /* between two tries to go on */
    PATIENCE_MS = 60 * SECOND,
};

static void on_advanced(void *context, enum status st)
{
    struct cluster *cluster = context;
    stage_log(&cluster->stage, "advance-cursors: %s", status_text(st));
}

void wire_restore_lifted(struct cluster *cluster)
{
    stage_log(&cluster->stage, "etcd is gone on with");
    oracle_see_lift(cluster);
    cluster->world->is_to_advance = false;
    cluster->world->oldest_backup = cluster->world->etcd.model.revision;
}

/* Through the first agent that takes it. */
static void advance(struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        if (!node_is_up(node) || node->machine.is_paused)
            continue;
        struct loop *before = machine_enter(&node->machine);
        enum status st = store_etcd_advance(node->store, machine_now(&node->machine).wall.ms,
                                            "person", on_advanced, cluster);
        machine_leave(before);
        if (st == OK || st == E_BUSY)
            return;
    }
}

static bool is_halted(const struct cluster *cluster)
{
    static const char key[] = "/peal/halt";
    return etcd_model_get(&cluster->world->etcd.model, key, sizeof(key) - 1) != NULL;
}

static void on_operate(struct task *task)
{
    struct world *world = (struct world *)((char *)task - offsetof(struct world, operate));
    struct stage *stage = &world->cluster->stage;
    bool is_now_halted = is_halted(world->cluster);
    if (world->is_to_advance && world->is_well && stage->now_ms > world->well_ms + PATIENCE_MS)
        stage_fail(stage, "etcd was restored, and nobody %s",
                   is_now_halted ? "can go on" : "noticed");
    if (is_now_halted) /* perhaps once more: by one who had seen it go on otherwise */
        advance(world->cluster);
    task_at(stage, task, stage->now_ms + LOOK_MS);
}

void wire_restore(struct cluster *cluster)
{
    struct world *world = cluster->world;
    struct stage *stage = &cluster->stage;
    const struct etcd_model *model = &world->etcd.model;
    int64_t oldest =
        model->compacted > world->oldest_backup ? model->compacted : world->oldest_backup;
    int64_t since = model->revision - oldest;
    if (since <= 0)
        return; /* all that there is would be in it */
    int64_t back = 1 + stage_below(stage, since < BACKUP_REVISIONS ? since : BACKUP_REVISIONS);
    stage_log(stage, "etcd is restored from a backup, %lld revisions old", (long long)back);
    etcd_serve_restore(&world->etcd, model->revision - back);
    wire_oracle_restore(cluster);
    world->is_to_advance = true;
    world->is_well = false;
    task_at(stage, &world->operate, stage->now_ms + stage_below(stage, 40 * SECOND));
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
}
