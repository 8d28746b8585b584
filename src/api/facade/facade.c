#include "facade/facade.h"

#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "jobs/job_filter.h"
#include "jobs/jobs.h"

enum {
    OUTPUT_BYTES = 16 << 10, /* of each run that is shown in a list */
    PAGE = 100,              /* of the history */
    JOBS_MAX = 10000,        /* in one answer */
    SLICE_MS = 1,
};

unsigned facade_by_name(const char *name, size_t length)
{
    static const struct {
        const char *name;
        unsigned flag;
    } facades[] = {{"dkron", ROUTE_DKRON}, {"tutorial", ROUTE_TUTORIAL}};
    for (size_t i = 0; i < sizeof(facades) / sizeof(facades[0]); i++) {
        if (strlen(facades[i].name) == length && strncmp(facades[i].name, name, length) == 0)
            return facades[i].flag;
    }
    return 0;
}

bool facade_name_job(struct call *call, const char *name)
{
    if (!call_may_on(call, call->route->right, name))
        return false;
    char *copy = strdup(name);
    if (!copy) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    free(call->argument);
    call->argument = copy;
    return true;
}

json_t *facade_native_job(const struct call *call, const struct catalog_job *job)
{
    struct strbuf text;
    strbuf_init(&text);
    write_job(call, job, NULL, &text);
    json_t *value = strbuf_status(&text) == OK ? json_loadb(text.text, text.length, 0, NULL) : NULL;
    strbuf_release(&text);
    return value;
}

/* ---- runs ---- */

struct run_list {
    facade_show_run *show;
    int64_t skip, left;
    size_t at; /* in the rows of the history's page */
    json_t *items;
};

static void release_runs(void *state)
{
    json_decref(((struct run_list *)state)->items);
}

static void next_run(struct call *call);

static char *output_text(const struct history_log *log)
{
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < log->count; i++) {
        const struct output_chunk *chunk = &log->chunks[i];
        if (chunk->gap_bytes)
            strbuf_addf(&text, "\n[%lld bytes were dropped]\n", (long long)chunk->gap_bytes);
        strbuf_add(&text, chunk->bytes, chunk->length);
    }
    return strbuf_detach(&text);
}

static void output_read(struct call *call)
{
    struct run_list *list = call->state;
    const struct run *run = &call->read.rows[list->at].run;
    char *output = call->answer == OK ? output_text(&call->log) : NULL;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    bool is_added =
        output && json_array_append_new(list->items, list->show(call, run, output)) == 0;
    free(output);
    if (!is_added) {
        call_fail(call, 500, "out of memory");
        return;
    }
    list->at++;
    list->left--;
    next_run(call);
}

static void runs_read(struct call *call)
{
    struct run_list *list = call->state;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    size_t skipped = list->skip < (int64_t)call->read.count ? (size_t)list->skip : call->read.count;
    list->skip -= (int64_t)skipped;
    list->at = skipped;
    next_run(call);
}

static void next_run(struct call *call)
{
    struct run_list *list = call->state;
    if (list->left && list->at < call->read.count) {
        call->log.run_id = call->read.rows[list->at].run.id;
        call->log.offset = 0;
        call->log.limit = OUTPUT_BYTES;
        call_read_log(call, output_read);
    } else if (list->left && call->read.more) {
        call->read.query.before = call->read.next;
        call_read_history(call, runs_read);
    } else {
        call_reply(call, 200, json_incref(list->items));
    }
}

void facade_list_runs(struct call *call, int64_t skip, int64_t limit, facade_show_run *show)
{
    struct run_list *list = call_state(call, sizeof(*list), release_runs);
    if (!list)
        return;
    *list = (struct run_list){.show = show, .skip = skip, .left = limit, .items = json_array()};
    call->read.query = (struct history_query){.limit = PAGE};
    call_select_job(call, call->argument, &call->read.query.job_uid, &call->read.query.job_name);
    call_read_history(call, runs_read);
}

/* ---- jobs ---- */

struct job_list_state {
    struct call *call;
    struct job_filter filter;
    facade_show_job *show;
    facade_jobs_done *done;
    int64_t start, end, seen;
    int64_t slice_end_ms;
    char last[JOB_NAME_SIZE];
    bool has_last, is_cut, failed;
    json_t *items;
};

static void release_jobs(void *state)
{
    struct job_list_state *list = state;
    job_filter_release(&list->filter);
    json_decref(list->items);
}

static bool visit(void *context, const struct catalog_job *job)
{
    struct job_list_state *list = context;
    list->is_cut = list->has_last && clock_now().boot.ms >= list->slice_end_ms;
    if (list->is_cut)
        return false;
    snprintf(list->last, sizeof(list->last), "%s", job->name);
    list->has_last = true;
    if (!job_filter_takes(&list->filter, job))
        return true;
    int64_t place = list->seen++;
    if (place < list->start || place >= list->end)
        return true;
    list->failed = json_array_size(list->items) == JOBS_MAX ||
                   json_array_append_new(list->items, list->show(list->call, job)) != 0;
    return !list->failed;
}

static void look(struct call *call)
{
    struct job_list_state *list = call->state;
    list->slice_end_ms = clock_now().boot.ms + SLICE_MS;
    call_each_job(call, list->has_last ? list->last : NULL, false, visit, list);
    if (list->is_cut)
        call_later(call, look);
    else if (list->failed && json_array_size(list->items) == JOBS_MAX)
        call_fail(call, 422, "there are more than %d jobs: ask for a part of them", JOBS_MAX);
    else if (list->failed || !list->items)
        call_fail(call, 500, "out of memory");
    else
        list->done(call, json_incref(list->items), list->seen);
}

void facade_list_jobs(struct call *call, int64_t start, int64_t end, facade_show_job *show,
                      facade_jobs_done *done)
{
    struct job_list_state *list = call_state(call, sizeof(*list), release_jobs);
    if (!list)
        return;
    *list = (struct job_list_state){.call = call,
                                    .show = show,
                                    .done = done,
                                    .start = start,
                                    .end = end,
                                    .items = json_array()};
    if (job_filter_read(call, &list->filter))
        look(call);
}
