/* The executor of a node: a process of its own, which the agent asks and which outlives it. */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

static struct node *of_executor(struct executor *executor)
{
    return (struct node *)((char *)executor - offsetof(struct node, executor));
}

static struct child *find_child(const struct node *node, const struct id *run_id)
{
    struct child *child;
    TAILQ_FOREACH (child, &node->children, link) {
        if (id_compare(&child->run_id, run_id) == 0)
            return child;
    }
    return NULL;
}

bool child_is_alive(const struct child *child, int64_t within_ms)
{
    return !child->ended || child->ended_at_ms > child->node->machine.stage->now_ms - within_ms;
}

static int64_t any_duration_ms(struct stage *stage)
{
    if (stage_chance(stage, 600))
        return stage_below(stage, 3 * SECOND);
    return stage_below(stage, stage_chance(stage, 800) ? MINUTE : 12 * MINUTE);
}

static void end_child(struct child *child)
{
    const struct now now = machine_now(&child->node->machine);
    child->ended = true;
    child->finished_ms = now.wall.ms;
    child->ended_at_ms = child->node->machine.stage->now_ms;
    node_wake(child->node);
}

static void on_end(struct task *task)
{
    end_child((struct child *)((char *)task - offsetof(struct child, task)));
}

/* Right before the process is made the window is looked at once more. */
static void on_start(struct task *task)
{
    struct child *child = (struct child *)((char *)task - offsetof(struct child, task));
    struct loop *machine = &child->node->machine;
    child->is_asked = false;
    if (machine_now(machine).boot.ms >= child->deadline.ms) {
        child->expired = child->ended = child->told_start = true;
        child->ended_at_ms = machine->stage->now_ms;
        node_wake(child->node);
        return;
    }
    child->started_ms = machine_now(machine).wall.ms;
    oracle_see_start(child->node->cluster, child);
    task_init(&child->task, machine, on_end);
    task_at(machine->stage, &child->task, machine->stage->now_ms + child->duration_ms);
    node_wake(child->node);
}

static struct child *new_child(struct cluster *cluster)
{
    if (cluster->child_count == cluster->child_room) {
        cluster->child_room = 2 * cluster->child_room + 256;
        cluster->children =
            realloc(cluster->children, cluster->child_room * sizeof(*cluster->children));
        if (!cluster->children)
            abort();
    }
    struct child *child = calloc(1, sizeof(*child));
    if (!child)
        abort();
    cluster->children[cluster->child_count++] = child;
    return child;
}

/* How long it takes from being asked to the process. */
static int64_t delay_ms(struct node *node)
{
    struct stage *stage = node->machine.stage;
    if (node->is_executor_slow && stage_chance(stage, 500))
        return stage_below(stage, 7 * SECOND);
    return stage_below(stage, 5);
}

/* How long it waits for its time. */
static int64_t early_ms(const struct child *child)
{
    int64_t ms = child->at.ms - machine_now(&child->node->machine).boot.ms;
    return ms > 0 ? ms : 0;
}

/* Half of the nodes have an executor that takes starts ahead of their time. */
static int64_t ahead_ms(const struct executor *executor, const struct job *job)
{
    (void)job;
    const struct node *node = of_executor((struct executor *)executor);
    return node->name[strlen(node->name) - 1] % 2 ? 50 : 0;
}

static enum status start(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct node *node = of_executor(executor);
    struct stage *stage = node->machine.stage;
    node->deeds++;
    if (node->machine.is_ghost)
        stage_fail(stage, "a dead agent starts something");
    if (node->executor_away)
        return E_BUSY;
    if (machine_now(&node->machine).boot.ms >= deadline.ms)
        stage_fail(stage, "a start of %s is asked for after its window", run->job_name);
    if (stage_chance(stage, 5))
        return E_TOO_LARGE;
    if (find_child(node, &run->id))
        return OK;
    struct child *child = new_child(node->cluster);
    child->run_id = run->id;
    child->node = node;
    child->job = (size_t)(find_job(node->cluster, &run->job_uid) - node->cluster->jobs);
    child->tick_ms = run->tick_ms;
    child->attempt = run->attempt;
    child->fence = run->fence;
    child->version = version_of(job);
    program_see_start(node->cluster, job, node);
    if (run_is_step(run))
        workflow_see_start(node->cluster, find_run(node->cluster, &run->id), job);
    child->at = at;
    child->deadline = deadline;
    child->duration_ms = any_duration_ms(stage);
    child->exit_code = stage_chance(stage, 200) ? (int)stage_below(stage, 255) + 1 : 0;
    child->is_asked = true;
    TAILQ_INSERT_TAIL(&node->children, child, link);
    task_init(&child->task, &node->machine, on_start);
    task_at(stage, &child->task, stage->now_ms + early_ms(child) + delay_ms(node));
    machine_act(&node->machine);
    return OK;
}

/* Killed before its time: it never has a process. */
static void drop_early(struct child *child)
{
    task_stop(child->node->machine.stage, &child->task);
    child->is_asked = false;
    child->told_start = child->killed = true;
    end_child(child);
}

static void kill_child(struct executor *executor, const struct id *run_id, enum run_reason reason)
{
    struct node *node = of_executor(executor);
    struct stage *stage = node->machine.stage;
    struct child *child = find_child(node, run_id);
    (void)reason;
    node->deeds++;
    if (node->machine.is_ghost || node->executor_away || !child || child->ended)
        return;
    if (child->is_asked) {
        if (early_ms(child))
            drop_early(child);
        return;
    }
    child->killed = true;
    task_at(stage, &child->task, stage->now_ms + stage_below(stage, 3 * SECOND));
}

static void acknowledge(struct executor *executor, const struct id *run_id)
{
    struct node *node = of_executor(executor);
    struct child *child = find_child(node, run_id);
    if (node->machine.is_ghost || node->executor_away || !child)
        return;
    if (!child->ended)
        stage_fail(node->machine.stage, "an acknowledgement for a process that runs");
    child->acknowledged = true;
    TAILQ_REMOVE(&node->children, child, link);
}

static enum status values(struct executor *executor, const struct id *run_id, char **ret,
                          size_t *ret_length)
{
    struct node *node = of_executor(executor);
    const struct child *child = find_child(node, run_id);
    struct strbuf text;
    strbuf_init(&text);
    if (child && !child->lost)
        workflow_write_values(run_id, &text);
    *ret = text.length ? strdup(text.text) : NULL;
    *ret_length = text.length;
    strbuf_release(&text);
    return OK;
}

static void fill_end(const struct child *child, struct run *end)
{
    end->started_ms = child->started_ms;
    end->finished_ms = child->finished_ms;
    end->exit_code = child->killed || child->lost ? -1 : child->exit_code;
    end->state = child->lost        ? RUN_LOST
                 : child->killed    ? RUN_KILLED
                 : child->exit_code ? RUN_FAILED
                                    : RUN_OK;
    end->reason = child->lost        ? REASON_SPAWNER_DIED
                  : child->killed    ? REASON_SHUTDOWN
                  : child->exit_code ? REASON_EXIT_CODE
                                     : REASON_NONE;
}

static bool tell(struct child *child, struct executor_event *ret)
{
    if (child->is_to_name) {
        child->is_to_name = false;
        ret->run_id = child->run_id;
        ret->kind = EXECUTOR_STARTED;
        return true;
    }
    if (child->is_asked || (child->told_start && (child->told_end || !child->ended)))
        return false;
    ret->run_id = child->run_id;
    if (!child->told_start) {
        child->told_start = true;
        ret->kind = EXECUTOR_STARTED;
        ret->end.started_ms = child->started_ms;
        return true;
    }
    child->told_end = true;
    ret->kind = child->expired ? EXECUTOR_EXPIRED : EXECUTOR_ENDED;
    if (!child->expired)
        fill_end(child, &ret->end);
    return true;
}

static bool find_event(struct node *node, struct executor_event *ret)
{
    struct child *child;
    *ret = (struct executor_event){0};
    if (node->tell_gone) {
        node->tell_gone = false;
        ret->kind = EXECUTOR_GONE;
        return true;
    }
    if (node->executor_away)
        return false;
    TAILQ_FOREACH (child, &node->children, link) {
        if (tell(child, ret))
            return true;
    }
    if (!node->tell_ready)
        return false;
    node->tell_ready = false;
    ret->kind = EXECUTOR_READY;
    return true;
}

static bool next_event(struct executor *executor, struct executor_event *ret)
{
    struct node *node = of_executor(executor);
    bool is_there = find_event(node, ret);
    node->deeds += is_there;
    return is_there;
}

static const struct executor_ops ops = {.start = start,
                                        .kill = kill_child,
                                        .acknowledge = acknowledge,
                                        .values = values,
                                        .next_event = next_event,
                                        .ahead_ms = ahead_ms};

void children_init(struct node *node)
{
    node->executor.ops = &ops;
    TAILQ_INIT(&node->children);
}

void children_attach(struct node *node)
{
    struct child *child;
    TAILQ_FOREACH (child, &node->children, link) {
        child->is_to_name = child->is_asked && early_ms(child);
        if (child->is_asked &&
            !child->is_to_name) { /* what was asked before is done before anything is told */
            task_stop(node->machine.stage, &child->task);
            on_start(&child->task);
        }
        child->told_end = false;
        child->told_start = child->ended;
    }
    node->tell_gone = false;
    node->tell_ready = true;
    node_wake(node);
}

/* What was only asked for is forgotten with it. */
void children_lose(struct node *node)
{
    struct child *next, *child = TAILQ_FIRST(&node->children);
    for (; child; child = next) {
        next = TAILQ_NEXT(child, link);
        if (child->ended)
            continue;
        task_stop(node->machine.stage, &child->task);
        child->lost = true;
        if (child->is_asked) {
            child->expired = child->acknowledged = child->ended = true;
            child->is_asked = false;
            TAILQ_REMOVE(&node->children, child, link);
            continue;
        }
        end_child(child);
    }
}

/* The next process knows nothing of them. */
void children_die(struct node *node)
{
    struct child *child;
    children_lose(node);
    while ((child = TAILQ_FIRST(&node->children))) {
        child->died = child->acknowledged = true;
        TAILQ_REMOVE(&node->children, child, link);
    }
}

void executor_set_away(struct node *node, bool is_away)
{
    if (node->executor_away == is_away)
        return;
    node->executor_away = is_away;
    if (is_away)
        node->tell_gone = true;
    else
        children_attach(node);
    node_wake(node);
}
