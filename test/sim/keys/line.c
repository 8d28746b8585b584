#include "line.h"

#include <stdlib.h>

enum { CUT_LOOK_MS = 40, SERVER = 0 };

struct line_item {
    void *what;         /* NULL: */
    const char *closed; /* why it ends; NULL: it is open */
    int64_t due_ms;
    TAILQ_ENTRY(line_item) entry;
};

bool lines_are_served(const struct lines *lines)
{
    int down = 0;
    for (int i = 0; i < NET_MEMBERS; i++)
        down += lines->net->is_down[i];
    return !lines->net->is_down[SERVER] && down < 2 && lines->stage->now_ms >= lines->down_until_ms;
}

static unsigned cuts_of(const struct line *line)
{
    return line->all->net->cuts[line->machine][SERVER];
}

static int64_t arrival_ms(const struct line *line, int64_t more_ms, int64_t *last_ms)
{
    struct stage *stage = line->all->stage;
    int64_t at_ms = stage->now_ms +
                    stage_below(stage, line->all->net->latency_ms[line->machine] + 1) +
                    (more_ms ? stage_below(stage, more_ms + 1) : 0);
    if (at_ms < *last_ms)
        at_ms = *last_ms;
    return *last_ms = at_ms;
}

/* ---- the ends of what is on its way ---- */

static struct line_item *new_item(void *what, const char *closed)
{
    struct line_item *item = calloc(1, sizeof(*item));
    if (!item)
        abort();
    *item = (struct line_item){.what = what, .closed = closed};
    return item;
}

static void drop_up(struct line *line)
{
    for (struct line_item *item; (item = TAILQ_FIRST(&line->up));) {
        TAILQ_REMOVE(&line->up, item, entry);
        line->all->ops->free_command(item->what);
        free(item);
    }
}

static void drop_down(struct line *line)
{
    for (struct line_item *item; (item = TAILQ_FIRST(&line->down));) {
        TAILQ_REMOVE(&line->down, item, entry);
        if (item->what)
            line->all->ops->free_answer(item->what);
        free(item);
    }
}

static void free_line(struct line *line)
{
    struct stage *stage = line->all->stage;
    if (line->all->ops->gone)
        line->all->ops->gone(line);
    drop_up(line);
    drop_down(line);
    task_stop(stage, &line->up_task);
    task_stop(stage, &line->down_task);
    task_stop(stage, &line->busy_task);
    TAILQ_REMOVE(&line->all->list, line, entry);
    free(line);
}

static void send_down(struct line *line, void *answer, const char *closed)
{
    struct net *net = line->all->net;
    if (!line->near) {
        if (answer)
            line->all->ops->free_answer(answer);
        return;
    }
    struct line_item *item = new_item(answer, closed);
    item->due_ms = arrival_ms(line, net->lag_ms[SERVER], &line->last_down_ms);
    TAILQ_INSERT_TAIL(&line->down, item, entry);
    net->messages++;
    if (!task_is_set(&line->down_task))
        task_at(line->all->stage, &line->down_task, item->due_ms);
}

void line_answer(struct line *line, void *answer)
{
    send_down(line, answer, NULL);
}

void line_end(struct line *line, const char *why)
{
    if (line->is_ended)
        return;
    line->is_ended = true;
    drop_up(line);
    task_stop(line->all->stage, &line->up_task);
    task_stop(line->all->stage, &line->busy_task);
    send_down(line, NULL, why);
    if (!line->near)
        free_line(line);
}

void lines_end(struct lines *lines, const char *why)
{
    struct line *line, *next;
    for (line = TAILQ_FIRST(&lines->list); line; line = next) {
        next = TAILQ_NEXT(line, entry);
        line_end(line, why);
    }
}

void lines_reset(struct lines *lines, int machine, const char *why)
{
    struct line *line, *next;
    for (line = TAILQ_FIRST(&lines->list); line; line = next) {
        next = TAILQ_NEXT(line, entry);
        if (line->machine == machine)
            line_end(line, why);
    }
}

void lines_stick(struct lines *lines, int machine)
{
    struct line *line;
    TAILQ_FOREACH (line, &lines->list, entry)
        line->is_stuck |= line->machine == machine && line->reads_feed;
}

struct line *lines_find(struct lines *lines, int64_t id)
{
    struct line *line;
    TAILQ_FOREACH (line, &lines->list, entry)
        if (line->id == id)
            return line;
    return NULL;
}

void lines_init(struct lines *lines, struct stage *stage, struct net *net,
                const struct line_ops *ops)
{
    *lines = (struct lines){.ops = ops, .stage = stage, .net = net};
    TAILQ_INIT(&lines->list);
}

void lines_release(struct lines *lines)
{
    while (!TAILQ_EMPTY(&lines->list))
        free_line(TAILQ_FIRST(&lines->list));
}

/* ---- to the server ---- */

/* Whoever has given it up waits for nothing any more, but for what is to be done in any case. */
static bool is_done_with(const struct line *line)
{
    return !line->near && TAILQ_EMPTY(&line->up) && !(line->is_busy && line->goes_on);
}

static void settle(struct line *line)
{
    struct stage *stage = line->all->stage;
    const struct line_item *next = TAILQ_FIRST(&line->up);
    if (is_done_with(line))
        free_line(line);
    else if (next && !line->is_busy && !task_is_set(&line->up_task))
        task_at(stage, &line->up_task, next->due_ms > stage->now_ms ? next->due_ms : stage->now_ms);
}

void line_go_on(struct line *line)
{
    line->is_busy = false;
    task_stop(line->all->stage, &line->busy_task);
    settle(line);
}

void line_busy(struct line *line, int64_t until_ms)
{
    line->is_busy = true;
    task_at(line->all->stage, &line->busy_task, until_ms);
}

static void on_up(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, up_task));
    struct lines *lines = line->all;
    struct line_item *item = TAILQ_FIRST(&line->up);
    if (cuts_of(line) & CUT_UP) {
        task_at(lines->stage, task, lines->stage->now_ms + CUT_LOOK_MS);
        return;
    }
    if (lines->frozen_until_ms > lines->stage->now_ms) {
        task_at(lines->stage, task, lines->frozen_until_ms);
        return;
    }
    TAILQ_REMOVE(&line->up, item, entry);
    lines->ops->take(line, item->what);
    free(item);
    if (!line->is_ended)
        settle(line);
    lines->ops->took(lines);
}

static void on_busy(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, busy_task));
    const struct lines *lines = line->all;
    if (lines->frozen_until_ms > lines->stage->now_ms)
        task_at(lines->stage, task, lines->frozen_until_ms);
    else
        lines->ops->woken(line);
}

/* ---- to the client ---- */

static void on_down(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, down_task));
    const struct line_ops *ops = line->all->ops;
    struct stage *stage = line->all->stage;
    struct line_item *item;
    bool is_told = false;
    if (line->is_stuck || cuts_of(line) & CUT_DOWN) {
        task_at(stage, task, stage->now_ms + CUT_LOOK_MS);
        return;
    }
    machine_act(line->loop);
    while ((item = TAILQ_FIRST(&line->down)) && item->due_ms <= stage->now_ms) {
        struct line_item taken = *item;
        TAILQ_REMOVE(&line->down, item, entry);
        free(item);
        if (taken.closed) {
            ops->closed(line, taken.closed); /* it may be given up now */
            return;
        }
        is_told |= taken.what != NULL;
        if (taken.what)
            ops->tell(line, taken.what);
        else
            ops->opened(line);
    }
    if (item)
        task_at(stage, task, item->due_ms);
    if (is_told)
        ops->paused(line);
}

/* ---- the client's ---- */

struct line *line_new(struct lines *lines, struct loop *loop, void *near)
{
    struct line *line = calloc(1, lines->ops->size);
    if (!line)
        abort();
    *line = (struct line){
        .all = lines, .near = near, .loop = loop, .machine = loop->number, .id = ++lines->made};
    TAILQ_INIT(&line->up);
    TAILQ_INIT(&line->down);
    task_init(&line->up_task, NULL, on_up);
    task_init(&line->down_task, loop, on_down);
    task_init(&line->busy_task, NULL, on_busy);
    TAILQ_INSERT_TAIL(&lines->list, line, entry);
    if (lines_are_served(lines))
        send_down(line, NULL, NULL);
    else
        line_end(line, "Connection refused");
    return line;
}

void line_leave(struct line *line)
{
    struct stage *stage = line->all->stage;
    line->near = NULL;
    task_stop(stage, &line->down_task);
    drop_down(line);
    for (struct line_item *last;
         (last = TAILQ_LAST(&line->up, line_items)) && stage_chance(stage, 500);) {
        TAILQ_REMOVE(&line->up, last, entry);
        line->all->ops->free_command(last->what);
        free(last);
    }
    if (line->is_ended || is_done_with(line))
        free_line(line);
}

void line_send(struct line *line, void *command)
{
    struct lines *lines = line->all;
    if (line->loop->is_ghost || line->is_ended) {
        lines->ops->free_command(command);
        return;
    }
    machine_act(line->loop);
    struct line_item *item = new_item(command, NULL);
    item->due_ms = arrival_ms(line, 0, &line->last_up_ms);
    TAILQ_INSERT_TAIL(&line->up, item, entry);
    lines->net->messages++;
    if (!line->is_busy && !task_is_set(&line->up_task))
        task_at(lines->stage, &line->up_task, item->due_ms);
}
