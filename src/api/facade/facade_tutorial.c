/* The API of the well-known tutorial that builds a distributed crontab from etcd and MongoDB;
 * docs/FROM-OTHERS.md says what is different. Answers are {"errno","msg","data"}. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "auth/visible.h"
#include "confirm.h"
#include "facade/facade.h"
#include "facade/facade_dkron_job.h"
#include "handlers.h"
#include "input.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

enum { LOGS = 20, LOGS_MAX = 1000, SKIP_MAX = 1000000 };

/* ---- jobs ---- */

static json_t *show_job(const json_t *native)
{
    const json_t *many = json_object_get(native, "schedules");
    const json_t *words = json_object_get(native, "command");
    const char *spec =
        json_string_value(many ? json_array_get(many, 0) : json_object_get(native, "schedule"));
    const char *script = json_string_value(json_object_get(native, "shell"));
    const json_t *http = json_object_get(native, "http"); /* for people to see */
    const char *url = json_string_value(json_is_object(http) ? json_object_get(http, "url") : http);
    struct strbuf command;
    strbuf_init(&command);
    if (words)
        command_join(words, &command);
    else
        strbuf_adds(&command, script ? script : url ? url : "");
    json_t *job = json_pack("{s:O, s:s, s:s}", "name", json_object_get(native, "name"), "command",
                            command.text, "cronExpr", spec ? spec : "");
    strbuf_release(&command);
    return job;
}

static json_t *show(const struct call *call, const struct catalog_job *job)
{
    json_t *native = facade_native_job(call, job);
    json_t *theirs = native ? show_job(native) : NULL;
    json_decref(native);
    return theirs;
}

static json_t *wrap(json_t *data)
{
    return json_pack("{s:i, s:s, s:o}", "errno", 0, "msg", "success", "data", data);
}

static json_t *shape_data(struct call *call, int *status, json_t *native)
{
    (void)call;
    *status = 200;
    return wrap(native);
}

/* Answers with the old job, from call->before. */
static json_t *shape_old_job(struct call *call, int *status, json_t *native)
{
    json_decref(native);
    *status = 200;
    return wrap(call->before ? json_incref(call->before) : json_null());
}

static void keep_old_job(struct call *call, const char *name)
{
    const struct catalog_job *job = catalog_by_name(engine_catalog(call->api->ports.engine), name);
    call->before = job ? show(call, job) : NULL;
    call->shape = shape_old_job;
}

/* Its parser reads six fields as five and a year, with second 0. */
static json_t *read_expression(const char *text)
{
    size_t fields = 0;
    for (const char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
        at += strcspn(at, " \t");
        fields++;
    }
    return fields == 6 && *text != '@' ? json_sprintf("0 %s", text) : json_string(text);
}

static json_t *read_definition(struct call *call)
{
    const char *text = query_get(&call->form, "job");
    const char *name = NULL, *command = NULL, *expression = NULL;
    json_error_t error = {0};
    json_t *job = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
    json_t *definition = NULL;
    if (!job)
        call_fail_at(call, "/job", "job: expected {\"name\",\"command\",\"cronExpr\"}, as JSON");
    else if (json_unpack_ex(job, &error, JSON_STRICT, "{s:s, s:s, s:s}", "name", &name, "command",
                            &command, "cronExpr", &expression) != 0)
        call_fail_at(call, "/job", "job: %s", error.text);
    else if (!(definition = json_pack("{s:s, s:s, s:o}", "name", name, "shell", command, "schedule",
                                      read_expression(expression))))
        call_fail(call, 500, "out of memory");
    json_decref(job);
    return definition;
}

void tutorial_save_job(struct call *call)
{
    json_t *definition = read_definition(call);
    if (!definition)
        return;
    const char *name = json_string_value(json_object_get(definition, "name"));
    if (!facade_name_job(call, name)) {
        json_decref(definition);
        return;
    }
    keep_old_job(call, name);
    json_decref(call->body);
    call->body = definition;
    put_job(call);
}

/* The job that the form names; false: the call has failed. */
static bool name_from(struct call *call, const struct query *query)
{
    const char *name = query_get(query, "name");
    if (name && *name)
        return facade_name_job(call, name);
    call_fail_at(call, "/name", "name: expected the name of a job");
    return false;
}

/* Deleting a missing job is no error. */
static void absence_confirmed(struct call *call)
{
    keep_old_job(call, call->argument);
    if (call->answer != OK)
        call_fail_unconfirmed(call);
    else if (call->before)
        delete_job(call);
    else
        call_reply(call, 200, json_null());
}

void tutorial_delete_job(struct call *call)
{
    if (!name_from(call, &call->form))
        return;
    keep_old_job(call, call->argument);
    if (call->before)
        delete_job(call);
    else
        call_confirm(call, absence_confirmed);
}

static void reply_jobs(struct call *call, json_t *items, int64_t total)
{
    (void)total;
    call->shape = shape_data;
    call_reply(call, 200, items);
}

void tutorial_list_jobs(struct call *call)
{
    facade_list_jobs(call, 0, INT64_MAX, show, reply_jobs);
}

/* ---- kill ---- */

struct kill {
    struct call *call;
    struct store_order *orders;
    size_t count;
    bool failed;
};

static void release_kill(void *state)
{
    free(((struct kill *)state)->orders);
}

static void add_order(void *context, const struct run *run)
{
    struct kill *kill = context;
    const char *name = job_name_now(kill->call, &run->job_uid, run->job_name);
    if (run_state_is_end(run->state) || run_is_step(run) || strcmp(name, kill->call->argument) != 0)
        return;
    if (array_grow(&kill->orders, kill->count, sizeof(*kill->orders)) != OK) {
        kill->failed = true;
        return;
    }
    struct store_order *order = &kill->orders[kill->count++];
    *order = (struct store_order){.run_id = run->id, .reason = REASON_USER};
    snprintf(order->by, sizeof(order->by), "%s", kill->call->principal.name);
    note_run(kill->call, CHANGE_KILL, run);
}

static void reply_nothing(struct call *call)
{
    call_reply(call, 200, json_null());
}

static void killed(struct call *call)
{
    if (call->answer != OK)
        call_fail_store(call, call->answer);
    else
        note_write(call, reply_nothing);
}

/* `if_none`: what to do when no run is open. */
static void kill_open(struct call *call, call_then *if_none)
{
    struct kill *kill = call->state;
    call_each_open_run(call, add_order, kill);
    if (kill->failed)
        call_fail(call, 500, "out of memory");
    else if (kill->count)
        call_submit(call, STORE_ORDER, kill->orders, kill->count, killed);
    else
        if_none(call);
}

static void idleness_confirmed(struct call *call)
{
    if (call->answer == OK)
        kill_open(call, reply_nothing);
    else
        call_fail_unconfirmed(call);
}

static void confirm_idleness(struct call *call)
{
    call_confirm(call, idleness_confirmed);
}

/* Kills all open runs of the job, on all nodes. */
void tutorial_kill_job(struct call *call)
{
    struct kill *kill = call_state(call, sizeof(*kill), release_kill);
    if (!kill || !name_from(call, &call->form))
        return;
    kill->call = call;
    call->shape = shape_data;
    kill_open(call, confirm_idleness);
}

/* ---- logs ---- */

/* The error as text; empty if none. */
static json_t *show_error(const struct run *run)
{
    if (run->state == RUN_OK)
        return json_string("");
    if (run->state == RUN_FAILED && run->exit_code > 0)
        return json_sprintf("exit status %d", run->exit_code);
    return *run->detail ? json_words(run->detail) : json_string(run_state_name(run->state));
}

static json_t *show_log(const struct call *call, const struct run *run, const char *output)
{
    return json_pack("{s:o, s:O, s:o, s:o, s:I, s:I, s:I, s:I}", "jobName",
                     json_words(run->job_name), "command", call->before, "err", show_error(run),
                     "output", json_words(output), "planTime", (json_int_t)run->tick_ms,
                     "scheduleTime", (json_int_t)run->claimed_ms, "startTime",
                     (json_int_t)run->started_ms, "endTime", (json_int_t)run->finished_ms);
}

void tutorial_list_logs(struct call *call)
{
    int64_t skip = 0, limit = LOGS;
    if (!param_number(call, "skip", 0, SKIP_MAX, &skip) ||
        !param_number(call, "limit", 1, LOGS_MAX, &limit) || !name_from(call, &call->query))
        return;
    const struct catalog_job *job =
        catalog_by_name(engine_catalog(call->api->ports.engine), call->argument);
    json_t *theirs = job ? show(call, job) : NULL;
    json_t *command = json_object_get(theirs, "command");
    call->before = command ? json_incref(command) : json_string("");
    json_decref(theirs);
    call->shape = shape_data;
    facade_list_runs(call, skip, limit, show_log);
}

/* ---- workers ---- */

static bool add_worker(void *context, const struct known_peer *known)
{
    const struct peer *peer = &known->peer;
    if (known->gone.ms || !(peer->roles & PEER_WORKER))
        return true;
    return json_array_append_new(context,
                                 json_words(*peer->address ? peer->address : peer->name)) == 0;
}

void tutorial_list_workers(struct call *call)
{
    json_t *items = json_array();
    call->shape = shape_data;
    peers_each(engine_peers(call->api->ports.engine), add_worker, items);
    call_reply(call, 200, items);
}
