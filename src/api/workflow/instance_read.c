#include "workflow/instance_read.h"

#include "auth/visible.h"
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

static void end(struct call *call)
{
    struct instance_read *read = call->state;
    instance_view_settle(&read->view);
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
    struct open_visit visit = {.view = &read->view};
    instance_read_release(read);
    read->is_begun = true;
    read->reads = 0;
    read->then = then;
    visit.st = instance_view_init(&read->view, instance, plan);
    if (visit.st == OK)
        call_each_open_run(call, take_open, &visit);
    if (visit.st != OK) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    read_rows(call, (struct id){{0}});
    return true;
}
