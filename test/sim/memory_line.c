/* A node's line to the store: what a store may do to an engine by its contract, done on purpose. */
#include <stdlib.h>

#include "memory_world.h"
#include "store_memory.h"

enum {
    NOTICE_MS = 7000, /* at most, until it is noticed that a line is cut */
    REFUSED_MS = 500, /* until a request over a line that is known to be cut is refused */
};

enum { WINDOW_MS = 5000 }; /* of a start, after its begin */

enum parcel_state { PARCEL_UP, PARCEL_DOWN, PARCEL_ANSWERED };

/* A request on its way. */
struct parcel {
    struct task task;
    struct line *line;
    struct store_request *request;
    enum parcel_state state;
    bool is_held; /* the line is cut */
    enum status answer;
    size_t told; /* when it was answered */
    TAILQ_ENTRY(parcel) link;
};

static struct stage *stage_of(const struct line *line)
{
    return line->node->machine.stage;
}

static struct world *world_of(const struct line *line)
{
    return line->node->cluster->world;
}

static int64_t later_ms(struct line *line, int64_t *last_ms)
{
    struct stage *stage = stage_of(line);
    int64_t at_ms = stage->now_ms + stage_below(stage, line->latency_ms + 1);
    if (at_ms < *last_ms) /* nothing overtakes what was sent before */
        at_ms = *last_ms;
    return *last_ms = at_ms;
}

/* ---- down ---- */

static void on_answer(struct task *task)
{
    struct parcel *parcel = (struct parcel *)task;
    struct line *line = parcel->line;
    if (line->cuts & LINE_DOWN) {
        parcel->is_held = true;
        return;
    }
    parcel->state = PARCEL_ANSWERED;
    machine_act(&line->node->machine);
    line->wake.wake(line->wake.context);
}

static void send_down(struct parcel *parcel, enum status answer, int64_t after_ms)
{
    struct line *line = parcel->line;
    struct stage *stage = stage_of(line);
    parcel->state = PARCEL_DOWN;
    parcel->answer = answer;
    parcel->told = world_of(line)->told;
    task_init(&parcel->task, &line->node->machine, on_answer);
    int64_t at_ms = later_ms(line, &line->down_at_ms);
    task_at(stage, &parcel->task, at_ms + after_ms);
}

/* ---- up ---- */

static bool needs_room(enum store_op op)
{
    return op == STORE_CLAIM || op == STORE_PUT_JOB || op == STORE_ADD_RUN;
}

/* Who owns runs must have joined. */
static bool is_a_strangers(const struct line *line, const struct store_request *request)
{
    bool is_owning =
        request->op == STORE_CLAIM || request->op == STORE_TAKE || request->op == STORE_BEGIN;
    return is_owning && line->node->cluster->refuses_strangers && !line_is_there(line);
}

/* Some of what can't be done for sure is done; and some of what is done is not told. */
static enum status decide(struct line *line, struct store_request *request)
{
    const struct world *world = world_of(line);
    struct stage *stage = stage_of(line);
    if (world->is_full && needs_room(request->op))
        return E_IO;
    if (world->is_away)
        return stage_chance(stage, 500) ? E_UNREACHABLE : E_UNKNOWN;
    if (is_a_strangers(line, request))
        return E_CONFLICT;
    size_t some = request->count;
    bool is_lost = line->loses_answers && stage_chance(stage, line->loses_answers);
    if (is_lost && stage_chance(stage, 400))
        some = (size_t)stage_below(stage, (int64_t)request->count + 1);
    enum status st = world_apply(line, request, some);
    if (line->is_armed && request->op == STORE_BEGIN) {
        line->is_armed = false;
        is_lost = line->is_stuck = true;
        line->loses_answers = 1000;
        task_at(stage, &line->unstick, stage->now_ms + WINDOW_MS + stage_below(stage, WINDOW_MS));
    }
    return st == OK && is_lost ? E_UNKNOWN : st;
}

static void on_arrival(struct task *task)
{
    struct parcel *parcel = (struct parcel *)task;
    struct line *line = parcel->line;
    if (line->cuts & LINE_UP)
        parcel->is_held = true;
    else
        send_down(parcel, decide(line, parcel->request), 0);
}

static void submit(struct store *store, struct store_request *request)
{
    struct line *line = (struct line *)store;
    struct parcel *parcel = calloc(1, sizeof(*parcel));
    if (!parcel)
        abort();
    parcel->line = line;
    parcel->request = request;
    TAILQ_INSERT_TAIL(&line->parcels, parcel, link);
    line->node->deeds++;
    world_of(line)->messages++;
    task_init(&parcel->task, NULL, on_arrival);
    if (line->node->machine.is_ghost) {
        parcel->state = PARCEL_ANSWERED;
        parcel->answer = E_UNREACHABLE;
        return;
    }
    machine_act(&line->node->machine);
    if (line->is_given_up) {
        send_down(parcel, E_UNREACHABLE, REFUSED_MS);
        return;
    }
    task_at(stage_of(line), &parcel->task, later_ms(line, &line->up_at_ms));
}

/* ---- a line that breaks ---- */

static void late_free(struct parcel *parcel)
{
    task_stop(stage_of(parcel->line), &parcel->task);
    TAILQ_REMOVE(&parcel->line->late, parcel, link);
    request_free(parcel->request);
    free(parcel);
}

static void on_late_arrival(struct task *task)
{
    struct parcel *parcel = (struct parcel *)task;
    struct line *line = parcel->line;
    if (line->cuts & LINE_UP) {
        parcel->is_held = true;
        return;
    }
    if (!world_of(line)->is_away &&
        !is_a_strangers(line, parcel->request)) /* who would be told of an error? */
        world_apply(line, parcel->request, parcel->request->count);
    late_free(parcel);
}

/* Nobody waits for it any more, but it may still arrive. */
static void send_late(struct line *line, const struct parcel *from)
{
    struct stage *stage = stage_of(line);
    struct parcel *parcel = calloc(1, sizeof(*parcel));
    if (!parcel)
        abort();
    parcel->line = line;
    parcel->request = request_copy(from->request);
    task_init(&parcel->task, NULL, on_late_arrival);
    TAILQ_INSERT_TAIL(&line->late, parcel, link);
    task_at(stage, &parcel->task, later_ms(line, &line->up_at_ms) + stage_below(stage, 50));
}

/* All that is not answered is unknown; of what is on its way up the first part arrives. */
void line_reset(struct line *line)
{
    struct stage *stage = stage_of(line);
    struct parcel *parcel;
    bool is_torn = world_of(line)->is_away;
    TAILQ_FOREACH (parcel, &line->parcels, link) {
        if (parcel->state == PARCEL_ANSWERED)
            continue;
        is_torn = is_torn || stage_chance(stage, 400);
        if (parcel->state == PARCEL_UP && !is_torn)
            send_late(line, parcel);
        task_stop(stage, &parcel->task);
        parcel->is_held = false;
        parcel->state = PARCEL_ANSWERED;
        parcel->answer = E_UNKNOWN;
    }
    if (line->is_open)
        line->wake.wake(line->wake.context);
}

static void on_give_up(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, give_up));
    line->is_given_up = true;
    line_reset(line);
}

static void go_on(struct line *line, struct parcels *parcels)
{
    struct parcel *parcel;
    TAILQ_FOREACH (parcel, parcels, link) {
        if (parcel->is_held)
            task_at(stage_of(line), &parcel->task, stage_of(line)->now_ms);
        parcel->is_held = false;
    }
}

void line_set_cuts(struct line *line, unsigned cuts)
{
    struct stage *stage = stage_of(line);
    line->cuts = cuts;
    line_look(line);
    if (cuts && !line->is_given_up && !task_is_set(&line->give_up))
        task_at(stage, &line->give_up, stage->now_ms + 1000 + stage_below(stage, NOTICE_MS));
    if (cuts)
        return;
    task_stop(stage, &line->give_up);
    line->is_given_up = false;
    line_look(line);
    go_on(line, &line->parcels);
    go_on(line, &line->late);
    line_hear(line);
}

/* ---- what is heard ---- */

static void may_hear(struct line *line, size_t until)
{
    if (until > line->hear_until)
        line->hear_until = until;
}

static void on_hear(struct task *task)
{
    struct line *line = (struct line *)((char *)task - offsetof(struct line, hear));
    if ((line->cuts & LINE_DOWN) || line->is_stuck || !line->is_open)
        return;
    may_hear(line, line->told_until);
    if (line->told_until < world_of(line)->told) /* what came since takes its time as well */
        line_hear(line);
    machine_act(&line->node->machine);
    line->wake.wake(line->wake.context);
}

void line_hear(struct line *line)
{
    struct stage *stage = stage_of(line);
    if (!line->is_open || task_is_set(&line->hear))
        return;
    int64_t most_ms = line->latency_ms + line->lag_ms;
    line->told_until = world_of(line)->told;
    task_at(stage, &line->hear, stage->now_ms + stage_below(stage, most_ms + 1));
}

void line_unstick(struct line *line)
{
    line->is_stuck = false;
    line->loses_answers = 0;
    line_hear(line);
}

static void on_unstick(struct task *task)
{
    line_unstick((struct line *)((char *)task - offsetof(struct line, unstick)));
}

static void on_news(void *context)
{
    line_hear(context);
}

static bool next_change(struct store *store, struct store_change *ret)
{
    struct line *line = (struct line *)store;
    if (line->is_loaded && line->heard >= line->hear_until)
        return false;
    if (!store_next_change(line->view, ret))
        return false;
    line->heard += line->is_loaded;
    line->is_loaded |= ret->kind == STORE_CHANGE_LOADED;
    line->node->deeds++;
    return true;
}

/* What a request has changed is there when it is answered. */
static void dispatch(struct store *store)
{
    struct line *line = (struct line *)store;
    struct parcel *parcel;
    while ((parcel = TAILQ_FIRST(&line->parcels)) && parcel->state == PARCEL_ANSWERED) {
        TAILQ_REMOVE(&line->parcels, parcel, link);
        if (parcel->answer == OK)
            may_hear(line, parcel->told);
        line->node->deeds++;
        struct store_request *request = parcel->request;
        enum status answer = parcel->answer;
        free(parcel);
        request->done(request, answer);
    }
}

/* ---- the node among the others ---- */

static enum status announce(struct store *store, const struct peer *self)
{
    return line_announce((struct line *)store, self);
}

static void suspect(struct store *store, const char *node)
{
    line_suspect((struct line *)store, node);
}

static bool leads(const struct store *store)
{
    return line_leads((const struct line *)store);
}

static enum status health(struct store *store, struct strbuf *why)
{
    const struct line *line = (const struct line *)store;
    const struct world *world = world_of(line);
    enum status st = line->is_given_up || world->is_away              ? E_UNREACHABLE
                     : world->is_full                                 ? E_IO
                     : !line_is_there(line) && line_is_shut_out(line) ? E_CONFLICT
                                                                      : OK;
    if (st != OK)
        strbuf_adds(why, status_text(st));
    return st;
}

/* ---- an agent's time ---- */

void line_abandon(struct line *line)
{
    line_reset(line);
    line->wake = (struct store_wake){0};
    line->is_open = false;
    task_stop(stage_of(line), &line->hear);
    line_depart(line);
}

static void wait_for_answers(struct line *line)
{
    struct parcel *parcel;
    TAILQ_FOREACH (parcel, &line->parcels, link) {
        task_stop(stage_of(line), &parcel->task);
        if (parcel->state == PARCEL_UP)
            parcel->answer = line_is_cut(line) ? E_UNKNOWN : decide(line, parcel->request);
        parcel->told = world_of(line)->told;
        parcel->state = PARCEL_ANSWERED;
    }
}

/* A store that is freed in peace takes leave. */
static struct store *free_store(struct store *store)
{
    struct line *line = (struct line *)store;
    bool is_ghost = line->node->machine.is_ghost;
    bool is_kept = line->has_said && line->self.refusal == PEER_STOPPING &&
                   line->self.running > 0 && line_is_there(line);
    if (!is_ghost) {
        wait_for_answers(line);
        line_abandon(line);
        if (is_kept && !line_is_cut(line))
            line_keep_place(line);
    }
    line->node->machine.is_ghost = true; /* what is submitted now is refused */
    while (!TAILQ_EMPTY(&line->parcels))
        dispatch(store);
    line->node->machine.is_ghost = is_ghost;
    if (!is_ghost && !is_kept) {
        line->has_joined = false;
        store_memory_expire(line->view);
    }
    return NULL;
}

void line_open(struct line *line, struct store_wake wake)
{
    line->wake = wake;
    line->is_open = true;
    line->is_loaded = false;
    line->heard = line->hear_until = world_of(line)->told;
    store_memory_reload(line->view);
    line_arrive(line);
}

void line_init(struct line *line, struct node *node)
{
    static const struct store_ops ops = {.submit = submit,
                                         .dispatch = dispatch,
                                         .next_change = next_change,
                                         .announce = announce,
                                         .suspect = suspect,
                                         .leads = leads,
                                         .health = health,
                                         .free = free_store};
    *line = (struct line){.base.ops = &ops, .node = node};
    line->latency_ms = node->cluster->latency_ms;
    TAILQ_INIT(&line->parcels);
    TAILQ_INIT(&line->late);
    task_init(&line->hear, &node->machine, on_hear);
    task_init(&line->give_up, &node->machine, on_give_up);
    task_init(&line->unstick, NULL, on_unstick);
    line_init_presence(line);
    struct store_wake wake = {on_news, line};
    if (store_memory_attach(world_of(line)->eye, wake, &line->view) != OK)
        abort();
}

void line_release(struct line *line)
{
    struct task *const tasks[] = {&line->hear,   &line->keep,   &line->give_up, &line->say,
                                  &line->repeat, &line->expire, &line->unstick};
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        task_stop(stage_of(line), tasks[i]);
    while (!TAILQ_EMPTY(&line->late))
        late_free(TAILQ_FIRST(&line->late));
    store_free(line->view);
}
