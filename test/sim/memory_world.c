#include "memory_world.h"

#include <stdlib.h>
#include <string.h>

#include "any_job.h"
#include "store_memory.h"

const char *world_name(void)
{
    return "memory";
}

bool world_has_days(void)
{
    return true;
}

bool world_counts_deeds(void)
{
    return true;
}

size_t world_messages(const struct cluster *cluster)
{
    return cluster->world->messages;
}

/* ---- what the oracle sees ---- */

static void see_forget(struct cluster *cluster, const struct id *id)
{
    const struct known_run *run = find_run(cluster, id);
    if (run && run->is_stored)
        oracle_see_run(cluster, id, NULL);
    else
        oracle_see_entry(cluster, id, NULL);
}

static void see(struct cluster *cluster, const struct store_change *change)
{
    switch ((int)change->kind) {
    case STORE_CHANGE_JOB:
    case STORE_CHANGE_DELETE:
        if (change->job_json && change->cursor_ms > find_job(cluster, &change->job_uid)->cursor_ms)
            oracle_see_cursor(cluster, &change->job_uid, change->cursor_ms, &change->rewinds,
                              change->last.ended_ms);
        oracle_see_job(cluster, &change->job_uid, change->job_json, change->job_revision);
        break;
    case STORE_CHANGE_CURSOR:
        oracle_see_cursor(cluster, &change->job_uid, change->cursor_ms, &change->rewinds,
                          change->last.ended_ms);
        break;
    case STORE_CHANGE_RUN:
        oracle_see_run(cluster, &change->run->id, change->run);
        break;
    case STORE_CHANGE_ENTRY:
        oracle_see_entry(cluster, &change->entry->id, change->entry);
        break;
    case STORE_CHANGE_FORGET:
        see_forget(cluster, &change->gone_id);
        break;
    case STORE_CHANGE_PEER:
        oracle_see_node(cluster, change->peer->name, change->peer->is_alive ? change->peer : NULL);
        break;
    case STORE_CHANGE_DOC:
        if (strcmp(change->doc->kind, BOOT_DOC) == 0)
            oracle_see_boot(cluster, change->doc->name, change->doc->json);
        else if (strcmp(change->doc->kind, ATTENDANCE_DOC) == 0)
            oracle_see_attendance(cluster, change->doc->json);
        break;
    default:
        break;
    }
}

static void look(void *context)
{
    struct cluster *cluster = context;
    struct store_change change;
    while (store_next_change(cluster->world->eye, &change)) {
        cluster->world->told += change.kind != STORE_CHANGE_LOADED;
        see(cluster, &change);
    }
}

/* ---- requests ---- */

static void done(struct store_request *request, enum status st)
{
    *(enum status *)request->context = st;
}

static void see_meta(struct node *node, const struct store_set_meta *meta)
{
    char boot_id[BOOT_ID_SIZE];
    if (strcmp(meta->key, "boot") == 0 && sscanf(meta->value, "%39s", boot_id) == 1)
        oracle_see_notice(node->cluster, node->config.node, boot_id);
}

enum status world_apply(struct line *line, struct store_request *request, size_t count)
{
    struct cluster *cluster = line->node->cluster;
    enum status st = OK;
    for (size_t i = 0; i < count && st == OK; i++) {
        struct store_request one = request_item(request, i);
        one.done = done;
        one.context = &st;
        store_submit(line->view, &one);
        store_dispatch(line->view);
        if (request->op == STORE_SET_META)
            see_meta(line->node, &request->items.metas[i]);
        look(cluster);
    }
    return st;
}

/* ---- nodes ---- */

void world_add_node(struct node *node)
{
    line_init(&node->cluster->world->lines[node->machine.number], node);
}

static struct line *line_of(const struct node *node)
{
    return &node->cluster->world->lines[node->machine.number];
}

enum status world_open(struct node *node, struct store_wake wake, struct store **ret,
                       struct strbuf *why)
{
    struct line *line = line_of(node);
    if (line->cuts || node->cluster->world->is_away) {
        strbuf_adds(why, "the store does not answer");
        return E_UNREACHABLE;
    }
    line_open(line, wake);
    *ret = &line->base;
    return OK;
}

void world_forget(struct node *node)
{
    line_abandon(line_of(node));
}

void world_stop(struct node *node)
{
    (void)node;
}

void world_thaw(struct node *node)
{
    struct stage *stage = node->machine.stage;
    struct line *line = line_of(node);
    if (stage_chance(stage, 500))
        return;
    line->is_stuck = true;
    task_at(stage, &line->unstick, stage->now_ms + stage_below(stage, 3 * SECOND));
}

/* ---- faults ---- */

/* Members are many lines' ends. */
static bool is_at(const struct line *line, int member)
{
    return line->node->machine.number % 3 == member;
}

static void reset_at(struct cluster *cluster, int member)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (is_at(&cluster->world->lines[i], member))
            line_reset(&cluster->world->lines[i]);
}

static void lag_at(struct cluster *cluster, int member, int64_t ms)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (is_at(&cluster->world->lines[i], member))
            cluster->world->lines[i].lag_ms = ms;
}

/* All who lead, one after the other, until nobody does. */
static void topple(struct cluster *cluster)
{
    for (int left = cluster->node_count; left > 0; left--)
        for (int i = 0; i < cluster->node_count; i++)
            if (store_leads(cluster->world->lines[i].view))
                line_lose_lease(&cluster->world->lines[i]);
}

static void set_away(struct cluster *cluster, bool is_away)
{
    cluster->world->is_away = is_away;
    for (int i = 0; i < cluster->node_count; i++) {
        if (is_away)
            line_reset(&cluster->world->lines[i]);
        line_look(&cluster->world->lines[i]);
    }
}

void world_break(struct cluster *cluster, const struct fault *fault, uint64_t *random)
{
    struct line *line = &cluster->world->lines[fault->node];
    switch ((int)fault->kind) {
    case FAULT_CUT_COMPACT:
    case FAULT_CUT_OFF:
        line_set_cuts(line, 1 + (unsigned)any_below(random, 3));
        break;
    case FAULT_LOST_ANSWERS:
        line->loses_answers = 700;
        line->is_stuck = any_chance(random, 50);
        break;
    case FAULT_LOST_BEGIN:
        line->is_armed = true;
        break;
    case FAULT_CUT_ONE:
    case FAULT_RESET:
        line_reset(line);
        break;
    case FAULT_SLOW:
        line->latency_ms = any_below(random, 900);
        break;
    case FAULT_MEMBER_DOWN:
        reset_at(cluster, fault->member);
        break;
    case FAULT_NO_LEADER:
    case FAULT_NO_QUORUM:
        set_away(cluster, true);
        break;
    case FAULT_LAG:
        lag_at(cluster, fault->member, any_below(random, 3 * SECOND));
        break;
    case FAULT_LEASE:
        line_lose_lease(line);
        break;
    case FAULT_TOPPLE:
        topple(cluster);
        break;
    case FAULT_FULL:
        cluster->world->is_full = true;
        break;
    case FAULT_STUCK_WATCH:
        line->is_stuck = true;
        break;
    default:
        break;
    }
}

void world_mend(struct cluster *cluster, const struct fault *fault)
{
    struct line *line = &cluster->world->lines[fault->node];
    switch ((int)fault->kind) {
    case FAULT_CUT_COMPACT:
    case FAULT_CUT_OFF:
        line_set_cuts(line, 0);
        break;
    case FAULT_LOST_ANSWERS:
    case FAULT_STUCK_WATCH:
        line_unstick(line);
        break;
    case FAULT_SLOW:
        line->latency_ms = cluster->latency_ms;
        break;
    case FAULT_NO_LEADER:
    case FAULT_NO_QUORUM:
        set_away(cluster, false);
        break;
    case FAULT_LAG:
        lag_at(cluster, fault->member, 0);
        break;
    case FAULT_FULL:
        cluster->world->is_full = false;
        break;
    default: /* the others are over at once */
        break;
    }
}

void world_mend_all(struct cluster *cluster)
{
    cluster->world->is_full = false;
    set_away(cluster, false);
    for (int i = 0; i < cluster->node_count; i++) {
        struct line *line = &cluster->world->lines[i];
        line->lag_ms = 0;
        line->is_armed = false;
        line_set_cuts(line, 0);
        line_unstick(line);
    }
}

/* ---- all of it ---- */

void world_init(struct cluster *cluster)
{
    struct world *world = cluster->world = calloc(1, sizeof(*world));
    struct store_wake wake = {look, cluster};
    if (!world || store_memory_new(wake, &world->eye) != OK)
        abort();
}

void world_release(struct cluster *cluster)
{
    struct world *world = cluster->world;
    while (cluster->stage.tasks.count)
        task_stop(&cluster->stage, cluster->stage.tasks.entries[0].item);
    for (int i = 0; i < cluster->node_count; i++)
        line_release(&world->lines[i]);
    store_free(world->eye);
    free(world);
}

bool world_is_at_rest(struct cluster *cluster, struct strbuf *left)
{
    struct store_change change;
    strbuf_reset(left);
    store_memory_reload(cluster->world->eye);
    while (store_next_change(cluster->world->eye, &change)) {
        if (change.kind == STORE_CHANGE_RUN && !may_stay_lost(cluster, &change.run->id))
            strbuf_addf(left, "%s%sa run of %s: %s. ", change.run->step,
                        change.run->step[0] ? ", " : "", change.run->job_name,
                        run_state_name(change.run->state));
        if (change.kind == STORE_CHANGE_ENTRY)
            strbuf_addf(left, "an entry of %s. ", change.entry->job_name);
    }
    return left->length == 0;
}
