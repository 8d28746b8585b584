/* A node among the others: what it says of itself, and for how long the store takes it for alive.
 */
#include <stdlib.h>
#include <string.h>

#include "memory_world.h"
#include "store_memory.h"

enum {
    KEEP_MS = 500,        /* between two signs of life */
    EXPIRE_LATE_MS = 500, /* at most */
    TELL_MS = 120000,
    COMPARE_MS = 10000, /* while somebody compares its clock with the others' */
    WAIT_MS = 500,      /* at most, from one try to join to the next */
    REPEAT_MS = 2000,   /* at most, until those who are there are heard of by one that comes */
};

static struct stage *stage_of(const struct line *line)
{
    return line->node->machine.stage;
}

static struct world *world_of(const struct line *line)
{
    return line->node->cluster->world;
}

bool line_is_cut(const struct line *line)
{
    return line->cuts || line->is_given_up || world_of(line)->is_away;
}

bool line_is_there(const struct line *line)
{
    return line->is_kept || line->kept_until_ms > stage_of(line)->now_ms;
}

/* ---- what it says ---- */

/* A node that compares its clock asks the others to speak, and has to hear them. */
static bool is_anybody_comparing(const struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++) {
        const struct line *line = &cluster->world->lines[i];
        if (line->has_said && line->self.refusal == PEER_CLOCK)
            return true;
    }
    return false;
}

/* Most of what nodes say, and most of what they would listen to, is that nothing is new: that is
 * passed on every two minutes only, so that hours in which nothing happens are short. */
static bool is_old_news(const struct line *line)
{
    int64_t every_ms = is_anybody_comparing(line->node->cluster) ? COMPARE_MS : TELL_MS;
    const struct peer *now = &line->self, *said = &line->said;
    int64_t stepped_ms = (now->wall_ms - now->boot_ms) - (said->wall_ms - said->boot_ms);
    return id_compare(&now->instance, &said->instance) == 0 && now->refusal == said->refusal &&
           now->running == said->running && now->max_running == said->max_running &&
           now->stands == said->stands && strcmp(now->lacks, said->lacks) == 0 &&
           llabs(stepped_ms) < 2 && now->boot_ms - said->boot_ms < every_ms;
}

/* A node that comes wants to hear of all others, whose engines may say nothing for long. */
static void ask_others(struct line *line)
{
    struct stage *stage = stage_of(line);
    for (int i = 0; i < line->node->cluster->node_count; i++) {
        struct line *other = &world_of(line)->lines[i];
        if (other != line && other->is_open && other->has_said)
            task_at(stage, &other->repeat, stage->now_ms + stage_below(stage, REPEAT_MS));
    }
}

static void tell(struct line *line)
{
    if (id_compare(&line->self.instance, &line->said.instance) != 0)
        ask_others(line);
    line->said = line->self;
    if (store_announce(line->view, &line->self) != OK)
        abort();
}

static void on_say(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, say));
    if (line->has_said && line_is_there(line) && !line_is_cut(line))
        tell(line);
}

enum status line_announce(struct line *line, const struct peer *self)
{
    line->node->deeds++;
    line->self = *self;
    line->has_said = true;
    if (!task_is_set(&line->say) && !is_old_news(line))
        task_at(stage_of(line), &line->say,
                stage_of(line)->now_ms + stage_below(stage_of(line), line->latency_ms + 1));
    return OK;
}

/* The same again, by the clocks of now. */
static void on_repeat(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, repeat));
    struct now now = machine_now(&line->node->machine);
    line->self.wall_ms = now.wall.ms;
    line->self.boot_ms = now.boot.ms;
    if (!task_is_set(&line->say))
        task_at(stage_of(line), &line->say,
                stage_of(line)->now_ms + stage_below(stage_of(line), line->latency_ms + 1));
}

/* ---- signs of life ---- */

/* They are not played one by one: only when they begin to arrive, and when they no longer do. */
static void stop_keeping(struct line *line)
{
    struct stage *stage = stage_of(line);
    int64_t last_ms = stage->now_ms - (stage->now_ms - line->kept_since_ms) % KEEP_MS;
    line->is_kept = false;
    line->last_kept_ms = last_ms;
    line->kept_until_ms = last_ms + LEASE_MS + 1 + stage_below(stage, EXPIRE_LATE_MS);
    task_at(stage, &line->expire, line->kept_until_ms);
}

/* Another agent has joined under its name, and is kept. */
bool line_is_shut_out(const struct line *line)
{
    const struct cluster *cluster = line->node->cluster;
    for (int i = 0; i < cluster->node_count; i++) {
        const struct line *other = &cluster->world->lines[i];
        if (other != line && other->has_joined &&
            strcmp(other->node->config.node, line->node->config.node) == 0)
            return true;
    }
    return false;
}

static bool can_keep(const struct line *line)
{
    return line->is_open && !line_is_cut(line) && !line->node->machine.is_paused;
}

void line_look(struct line *line)
{
    struct stage *stage = stage_of(line);
    if (line->is_kept && !can_keep(line))
        stop_keeping(line);
    if (!line->is_kept && can_keep(line) && !task_is_set(&line->keep))
        task_at(stage, &line->keep, stage->now_ms + stage_below(stage, KEEP_MS));
}

/* A machine that goes on is late with everything. */
static void on_stand(struct loop *machine)
{
    const struct node *node = (const struct node *)machine;
    struct line *line = &node->cluster->world->lines[machine->number];
    line_look(line);
    if (!line->is_kept && can_keep(line))
        task_at(machine->stage, &line->keep, machine->stage->now_ms);
}

static void on_keep(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, keep));
    struct stage *stage = stage_of(line);
    if (line->is_kept || !can_keep(line))
        return;
    if (!line_is_there(line) && line_is_shut_out(line)) { /* until that one goes */
        task_at(stage, &line->keep, stage->now_ms + 1 + stage_below(stage, WAIT_MS));
        return;
    }
    line->has_joined = true;
    bool was_gone = !line_is_there(line);
    line->is_kept = true;
    line->kept_since_ms = stage->now_ms;
    task_stop(stage, &line->expire);
    if (was_gone && line->has_said) { /* it is there again, with what was said last; then anew */
        tell(line);
        task_at(stage, &line->repeat, stage->now_ms + stage_below(stage, REPEAT_MS));
    }
}

static void on_expire(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, expire));
    if (line_is_there(line))
        return;
    line->has_joined = false;
    store_memory_expire(line->view);
}

void line_lose_lease(struct line *line)
{
    store_memory_expire(line->view);
    task_stop(stage_of(line), &line->expire);
    line->is_kept = line->has_joined = false;
    line->kept_until_ms = 0;
    line_look(line);
}

/* By the store, which hears of this node now. One that is about to end is waited for. */
static bool is_silent(const struct line *line)
{
    return line->has_joined && !line->is_kept && line->said.refusal != PEER_STOPPING &&
           line_is_there(line) && stage_of(line)->now_ms - line->last_kept_ms > STORE_SILENT_MS;
}

void line_suspect(struct line *line, const char *name)
{
    struct cluster *cluster = line->node->cluster;
    int64_t now_ms = stage_of(line)->now_ms;
    for (int i = 0; !line_is_cut(line) && i < cluster->node_count; i++) {
        struct line *other = &cluster->world->lines[i];
        if (other == line || strcmp(other->node->config.node, name) != 0 || !is_silent(other))
            continue;
        bool is_again = now_ms - other->suspected_ms <= STORE_SILENT_MS;
        other->suspected_ms = now_ms;
        if (!is_again)
            continue;
        oracle_see_suspected(cluster, i);
        line_lose_lease(other);
    }
}

bool line_leads(const struct line *line)
{
    int64_t sure_ms = line->kept_until_ms - EXPIRE_LATE_MS - 2; /* clocks drift apart, a little */
    return (line->is_kept || stage_of(line)->now_ms < sure_ms) && store_leads(line->view);
}

/* For the others it stays until it counts as gone, like one that was killed; but it has said that
 * it ends. */
void line_keep_place(struct line *line)
{
    struct stage *stage = stage_of(line);
    tell(line);
    line->kept_until_ms = stage->now_ms + LEASE_MS + 1 + stage_below(stage, EXPIRE_LATE_MS);
    task_at(stage, &line->expire, line->kept_until_ms);
}

/* ---- an agent's time ---- */

void line_arrive(struct line *line)
{
    line->is_kept = false;
    line->kept_until_ms = 0;
    task_at(stage_of(line), &line->keep, stage_of(line)->now_ms);
}

void line_depart(struct line *line)
{
    struct task *const tasks[] = {&line->say, &line->repeat, &line->keep};
    line->has_said = false;
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        task_stop(stage_of(line), tasks[i]);
    line_look(line);
}

void line_init_presence(struct line *line)
{
    struct loop *machine = &line->node->machine;
    machine->stands = on_stand;
    task_init(&line->say, NULL, on_say);
    task_init(&line->repeat, machine, on_repeat);
    task_init(&line->keep, machine, on_keep);
    task_init(&line->expire, NULL, on_expire);
}
