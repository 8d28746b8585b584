/* The history: one for all nodes, each of which may lose sight of it. */
#include <stdlib.h>

#include "cluster.h"

struct pending_append {
    struct task task;
    struct node *node;
    struct history_append *append;
    bool is_answered;
    enum status answer;
    TAILQ_ENTRY(pending_append) link;
};

static struct node *of_history(struct history *history)
{
    return (struct node *)((char *)history - offsetof(struct node, history));
}

struct record *find_record(const struct cluster *cluster, const struct id *id)
{
    return table_find(&cluster->records, id);
}

/* Twice is harmless; an end that is known is never replaced by LOST, nor by another end. */
static void take_run(struct cluster *cluster, struct record *record, const struct run *run,
                     bool is_new)
{
    if (!is_new && run->state == RUN_LOST)
        return;
    if (!is_new && find_run(cluster, &run->id)->is_undone && record->run.state != RUN_LOST)
        return; /* the store had it as it was before its end */
    if (!is_new && record->run.state != run->state && record->run.state != RUN_LOST)
        stage_fail(&cluster->stage, "an end of %s is recorded as %s, and later as %s",
                   run->job_name, run_state_name(record->run.state), run_state_name(run->state));
    record->run = *run;
}

static void take_record(struct node *node, const struct history_record *from)
{
    struct cluster *cluster = node->cluster;
    const struct id *id = from->run ? &from->run->id : &from->entry->id;
    struct record *record = find_record(cluster, id);
    bool is_new = !record;
    if (is_new) {
        record = calloc(1, sizeof(*record));
        if (!record)
            abort();
        record->id = *id;
        record->is_entry = !from->run;
        if (table_insert(&cluster->records, record) != OK)
            abort();
    }
    record->homes |= UINT32_C(1) << node->machine.number;
    if (from->run)
        take_run(cluster, record, from->run, is_new);
    else
        record->entry = *from->entry;
}

static void take_append(struct node *node, const struct history_append *append)
{
    for (size_t i = 0; i < append->count; i++)
        take_record(node, &append->records[i]);
}

static void on_append(struct task *task)
{
    struct pending_append *pending = (struct pending_append *)task;
    struct node *node = pending->node;
    struct stage *stage = node->machine.stage;
    pending->answer = !node->history_down ? OK : stage_chance(stage, 300) ? E_UNKNOWN : E_IO;
    if (pending->answer != E_IO)
        take_append(node, pending->append);
    pending->is_answered = true;
    node_wake(node);
}

static void submit(struct history *history, struct history_request *request)
{
    struct node *node = of_history(history);
    struct stage *stage = node->machine.stage;
    node->deeds++;
    struct pending_append *pending = calloc(1, sizeof(*pending));
    if (!pending)
        abort();
    task_init(&pending->task, &node->machine, on_append);
    pending->node = node;
    pending->append = history_request_of(request, history_append);
    TAILQ_INSERT_TAIL(&node->appends, pending, link);
    task_at(stage, &pending->task,
            stage->now_ms + 1 + stage_below(stage, node->history_latency_ms + 2));
}

static void dispatch(struct history *history)
{
    struct node *node = of_history(history);
    struct pending_append *pending;
    while ((pending = TAILQ_FIRST(&node->appends)) && pending->is_answered) {
        TAILQ_REMOVE(&node->appends, pending, link);
        node->deeds++;
        pending->append->done(pending->append, pending->answer);
        free(pending);
    }
}

void history_abandon(struct node *node)
{
    for (struct pending_append *pending; (pending = TAILQ_FIRST(&node->appends));) {
        TAILQ_REMOVE(&node->appends, pending, link);
        task_stop(node->machine.stage, &pending->task);
        if (!pending->is_answered && stage_chance(node->machine.stage, 500))
            take_append(node, pending->append);
        pending->append->done(pending->append, E_UNKNOWN);
        free(pending);
    }
}

static const struct history_ops ops = {.submit = submit, .dispatch = dispatch};

void history_init(struct node *node)
{
    node->history.ops = &ops;
    TAILQ_INIT(&node->appends);
}
