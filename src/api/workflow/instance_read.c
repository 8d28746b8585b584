#include "workflow/instance_read.h"

#include "groups/slots.h"
#include "server.h"

enum {
    ROWS = 1000,
    READS = 40, /* pages: 10,000 items with some attempts each */
};

void instance_read_release(struct instance_read *read)
{
    if (read->is_begun)
        instance_view_release(&read->view);
    read->is_begun = false;
}

struct open_visit {
    struct instance_view *view;
    enum status st;
};

static void take_open(void *context, const struct run *run)
{
    struct open_visit *visit = context;
    if (visit->st == OK)
        visit->st = instance_view_add(visit->view, run);
}

/* The terms of items are those of their step. */
static void find_lack(const struct call *call, struct instance_step *step)
{
    struct engine *engine = call->api->ports.engine;
    bool is_due = step->is_known && (step->run.state == RUN_DUE || step->items[RUN_DUE]);
    const struct catalog_job *terms = is_due ? engine_terms(engine, &step->run) : NULL;
    step->lack = (struct instance_lack){.where = terms ? terms->where : NULL};
    if (!terms)
        return;
    step->lack.is_nobody = !engine_has_node(engine, terms);
    step->lack.hindrance = engine_hindrance(engine, terms->where);
}

struct slot_visit {
    struct engine *engine;
    struct instance_view *view;
};

/* Of the items of a step, the one that is next. */
static void find_slot(void *context, const struct run *run)
{
    const struct slot_visit *visit = context;
    int step = run_is_step(run) && run->state == RUN_DUE ? flow_step_of(run->part) : -1;
    if (step < 0 || step >= visit->view->count)
        return;
    struct instance_lack *lack = &visit->view->steps[step].lack;
    struct slot_wait wait = engine_slot_wait(visit->engine, &run->id);
    if (!wait.group || (lack->group && lack->place <= wait.place))
        return;
    lack->group = wait.group->name;
    lack->place = wait.place;
    lack->waiting = wait.waiting;
}

static void settle(const struct call *call, struct instance_view *view)
{
    struct slot_visit visit = {.engine = call->api->ports.engine, .view = view};
    instance_view_settle(view);
    view->now_ms = call->now_ms;
    for (int i = 0; i < view->count; i++)
        find_lack(call, &view->steps[i]);
    engine_each_member(visit.engine, &view->instance.id, find_slot, &visit);
}

static enum status add_open(const struct call *call, struct instance_view *view)
{
    struct open_visit visit = {.view = view};
    engine_each_member(call->api->ports.engine, &view->instance.id, take_open, &visit);
    return visit.st;
}

enum status instance_read_open(const struct call *call, struct instance_view *view)
{
    enum status st = add_open(call, view);
    if (st == OK)
        settle(call, view);
    return st;
}

static void end(struct call *call)
{
    struct instance_read *read = call->state;
    settle(call, &read->view);
    read->then(call);
}

static void take_rows(struct call *call);

static void read_rows(struct call *call, struct id before)
{
    struct instance_read *read = call->state;
    const struct run *instance = &read->view.instance;
    read->reads++;
    call->reads_steps = true;
    call->read.query = (struct history_query){
        .job_uid = instance->job_uid,
        .since_ms = instance->tick_ms,
        .until_ms = instance->tick_ms + 1,
        .before = before,
        .limit = ROWS,
    };
    call_read_history(call, take_rows);
}

static void take_rows(struct call *call)
{
    struct instance_read *read = call->state;
    const struct history_read *rows = &call->read;
    enum status st = call->answer;
    for (size_t i = 0; call->answer == OK && st == OK && i < rows->count; i++)
        if (!rows->rows[i].is_entry)
            st = instance_view_add(&read->view, &rows->rows[i].run);
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (st == OK && rows->more && read->reads < READS)
        read_rows(call, rows->next);
    else
        end(call);
}

bool instance_read_begin(struct call *call, const struct run *instance, const char *plan,
                         call_then *then)
{
    struct instance_read *read = call->state;
    instance_read_release(read);
    read->is_begun = true;
    read->reads = 0;
    read->then = then;
    enum status st = instance_view_init(&read->view, instance, plan);
    if (st == OK)
        st = add_open(call, &read->view);
    if (st != OK) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    read_rows(call, (struct id){{0}});
    return true;
}
