/* What the engine is told of the spawner: READY at first, once it and peal-call have told what they
 * know of an earlier process. When it goes, nothing: functions go on, and commands wait for the
 * next one. When that is there, GONE, news of all runs, and READY: so the engine finds the runs
 * that it has forgotten, and repeats its kills. */
#include "outside/outside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/call_spool.h"
#include "data_folder.h"
#include "executor_call.h"
#include "executor_spawn.h"
#include "function/job_function.h"
#include "outside/process.h"
#include "run_output.h"
#include "spawn_output.h"
#include "table.h"

enum { AHEAD_MS = 50 };

/* A command or an HTTP call, until the history has its output. */
struct outside_run {
    struct id id;
    bool is_ended;
    bool is_told; /* to end, as the program stops */
};

struct outside {
    struct executor port; /* first member: the engine's handle */
    struct outside_config config;
    struct executor_spawn *spawn; /* NULL: not needed yet, as: */
    struct executor_call *call;
    char *spawn_folder, *call_folder;
    struct run_output output;
    struct table runs;
    size_t running;             /* of them */
    bool calls_are_ready;       /* the functions' executor */
    bool spawn_is_awaited;      /* it may know of runs from before */
    bool spawn_is_ready;        /* it takes starts */
    bool spawn_is_away;         /* its GONE was not told to the engine yet */
    bool is_told;               /* the engine was told READY, and nothing since */
    bool is_telling;            /* the news before that */
    struct executor_event kept; /* of the spawner, behind its GONE */
    bool has_kept;
    bool has_earlier; /* output of functions of an earlier process was found */
    bool is_way_told; /* the log has how commands are run */
};

static const struct table_type runs_type = {.key_at = offsetof(struct outside_run, id),
                                            .key_size = sizeof(struct id)};

static struct outside *of(struct executor *port)
{
    return (struct outside *)port;
}

/* ---- the runs ---- */

static void note_run(struct outside *self, const struct id *run_id)
{
    struct outside_run fresh = {.id = *run_id};
    if (!table_find(&self->runs, run_id) && table_add(&self->runs, &fresh, sizeof(fresh)))
        self->running++;
}

static void note_end(struct outside *self, const struct id *run_id)
{
    struct outside_run *run = table_find(&self->runs, run_id);
    if (!run || run->is_ended)
        return;
    run->is_ended = true;
    self->running--;
}

static void forget_run(struct outside *self, const struct id *run_id)
{
    struct outside_run *run = table_find(&self->runs, run_id);
    note_end(self, run_id);
    if (run)
        table_remove(&self->runs, run);
    free(run);
}

/* While there are only functions, nothing is searched. NULL: it was a spawner's, of which there is
 * none now. */
static struct executor *part_of(const struct outside *self, const struct id *run_id)
{
    bool is_call = (!self->spawn && !self->call) || calls_has(self->config.calls, run_id);
    if (is_call)
        return calls_executor(self->config.calls);
    if (self->call && executor_call_has(self->call, run_id))
        return executor_call_port(self->call);
    return self->spawn ? executor_spawn_port(self->spawn) : NULL;
}

/* ---- starting ---- */

/* A start of what is no function, and how it has gone. */
struct order {
    struct outside *self;
    const struct run *run;
    const struct job *job;
    struct boot_ms at, deadline;
    enum status st;
    bool is_here; /* no spawner: a call of the library's own */
};

static void start_process(void *context, const struct job *process)
{
    struct order *order = context;
    struct outside *self = order->self;
    struct process_run own;
    bool is_http = process->kind == JOB_HTTP;
    order->is_here = !is_http && !self->config.tools->spawn;
    if (order->is_here)
        return;
    order->st = E_BUSY; /* asked for again, as long as its window is open */
    if (is_http ? !self->call : !self->spawn_is_ready)
        return;
    order->st = process_run_init(&own, process, order->job);
    if (order->st != OK)
        return;
    struct executor *part =
        is_http ? executor_call_port(self->call) : executor_spawn_port(self->spawn);
    order->st = part->ops->start(part, order->run, &own.job, order->at, order->deadline);
    process_run_release(&own);
    if (order->st == OK)
        note_run(self, &order->run->id);
}

static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct outside *self = of(port);
    struct order order = {self, run, job, at, deadline, OK, false};
    bool is_process = functions_have_processes(self->config.functions) &&
                      functions_with_process(self->config.functions, job_function_name(job),
                                             start_process, &order);
    if (is_process && !order.is_here)
        return order.st;
    struct executor *calls = calls_executor(self->config.calls);
    return calls->ops->start(calls, run, job, at, deadline);
}

static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct executor *part = part_of(of(port), run_id);
    if (part)
        part->ops->kill(part, run_id, reason);
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    struct executor *part = part_of(of(port), run_id);
    if (part)
        part->ops->acknowledge(part, run_id);
}

/* ---- events ---- */

/* Keeps count. False: a run of an earlier process that nobody waits for, which is ended here. */
static bool take(struct outside *self, struct executor *part, const struct executor_event *event)
{
    bool is_known = table_find(&self->runs, &event->run_id);
    if (self->config.is_local && !is_known) {
        if (event->kind == EXECUTOR_STARTED)
            part->ops->kill(part, &event->run_id, REASON_SHUTDOWN);
        else
            part->ops->acknowledge(part, &event->run_id);
        struct output_source files = run_output_source(&self->output);
        if (event->kind != EXECUTOR_STARTED)
            files.remove(files.context, &event->run_id);
        return false;
    }
    if (event->kind == EXECUTOR_STARTED)
        note_run(self, &event->run_id);
    else if (event->kind == EXECUTOR_EXPIRED)
        forget_run(self, &event->run_id);
    else if (is_known)
        note_end(self, &event->run_id);
    return true;
}

static bool next_of_calls(struct outside *self, struct executor_event *ret)
{
    struct executor *calls = calls_executor(self->config.calls);
    while (calls->ops->next_event(calls, ret)) {
        if (ret->kind != EXECUTOR_READY)
            return true;
        self->calls_are_ready = true;
    }
    return false;
}

static bool next_of_http(struct outside *self, struct executor_event *ret)
{
    struct executor *part = self->call ? executor_call_port(self->call) : NULL;
    while (part && part->ops->next_event(part, ret))
        if (take(self, part, ret))
            return true;
    return false;
}

/* The next event of the spawner as it comes, or the one that was put back. */
static bool next_raw(struct outside *self, struct executor_event *ret)
{
    struct executor *part = executor_spawn_port(self->spawn);
    if (!self->has_kept)
        return part->ops->next_event(part, ret);
    *ret = self->kept;
    self->has_kept = false;
    return true;
}

/* An order to stop may have got lost with the spawner before this one. */
static void spawner_came(struct outside *self)
{
    struct outside_run *run;
    self->spawn_is_ready = true;
    self->spawn_is_awaited = false;
    for (size_t at = 0; (run = table_next(&self->runs, &at));)
        run->is_told = false;
}

static bool next_of_spawn(struct outside *self, struct executor_event *ret)
{
    while (self->spawn && next_raw(self, ret)) {
        if (ret->kind == EXECUTOR_GONE) {
            self->spawn_is_ready = false;
            self->spawn_is_away = true;
            continue;
        }
        if (self->spawn_is_away && self->is_told) { /* the next one is there */
            self->kept = *ret;
            self->has_kept = true;
            self->spawn_is_away = self->is_told = false;
            self->spawn_is_awaited = true;
            ret->kind = EXECUTOR_GONE;
            return true;
        }
        self->spawn_is_away = false;
        if (ret->kind == EXECUTOR_READY) {
            spawner_came(self);
            return false; /* what comes behind it comes after the engine's READY */
        }
        if (take(self, executor_spawn_port(self->spawn), ret))
            return true;
    }
    return false;
}

static bool next_of_parts(struct outside *self, struct executor_event *ret)
{
    return next_of_calls(self, ret) || next_of_http(self, ret) || next_of_spawn(self, ret);
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct outside *self = of(port);
    if (next_of_parts(self, ret))
        return true;
    bool is_settled = self->calls_are_ready && !self->spawn_is_awaited &&
                      (!self->call || executor_call_is_settled(self->call));
    if (self->is_told || !is_settled)
        return false;
    if (!self->is_telling) { /* the engine expects news of all runs before READY */
        self->is_telling = true;
        calls_tell_again(self->config.calls);
        if (self->call)
            executor_call_tell_again(self->call);
        if (next_of_calls(self, ret) || next_of_http(self, ret))
            return true;
    }
    self->is_told = true;
    self->is_telling = false;
    *ret = (struct executor_event){.kind = EXECUTOR_READY};
    return true;
}

static int64_t ahead_ms(const struct executor *port, const struct job *job)
{
    (void)port;
    (void)job;
    return AHEAD_MS;
}

static size_t starts_ahead(const struct executor *port)
{
    struct executor *calls = calls_executor(of((struct executor *)port)->config.calls);
    return calls->ops->starts_ahead(calls);
}

static const struct executor_ops ops = {.start = start,
                                        .kill = kill_run,
                                        .acknowledge = acknowledge,
                                        .next_event = next_event,
                                        .ahead_ms = ahead_ms,
                                        .starts_ahead = starts_ahead};

struct executor *outside_executor(struct outside *outside)
{
    return &outside->port;
}

/* ---- output ---- */

/* Output of a function of an earlier process; an ended run without output costs no search. */
static enum status read_earlier(struct outside *self, const struct id *run_id,
                                struct output_chunk **ret, size_t *ret_count)
{
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    enum status st = call_spool_read(self->config.spool, id, ret, ret_count);
    self->has_earlier |= st == OK;
    return st;
}

static enum status read_output(void *context, const struct id *run_id, struct output_chunk **ret,
                               size_t *ret_count)
{
    struct outside *self = context;
    bool is_call = calls_has(self->config.calls, run_id);
    if (!is_call && read_earlier(self, run_id, ret, ret_count) == OK)
        return OK;
    struct output_source source =
        is_call ? calls_output(self->config.calls) : run_output_source(&self->output);
    return source.read(source.context, run_id, ret, ret_count);
}

/* All are from malloc. */
static void release_output(void *context, struct output_chunk *chunks, size_t count)
{
    (void)context;
    call_output_free_chunks(chunks, count);
}

static void remove_output(void *context, const struct id *run_id)
{
    struct outside *self = context;
    char id[ID_TEXT + 1];
    bool is_plain = !self->spawn && !self->call && !self->has_earlier;
    bool is_call = is_plain || calls_has(self->config.calls, run_id);
    struct output_source source =
        is_call ? calls_output(self->config.calls) : run_output_source(&self->output);
    source.remove(source.context, run_id);
    id_format(run_id, id);
    if (!is_call && self->has_earlier && !table_find(&self->runs, run_id))
        spawn_output_remove(self->config.spool, id);
    if (!is_call)
        forget_run(self, run_id);
}

struct output_source outside_output(struct outside *outside)
{
    return (struct output_source){read_output, release_output, remove_output, outside};
}

static enum status read_live(void *context, const struct id *run_id, int64_t offset, size_t limit,
                             struct output_chunk **ret, size_t *ret_count)
{
    struct outside *self = context;
    bool is_call = !table_find(&self->runs, run_id);
    struct live_output live =
        is_call ? calls_live(self->config.calls) : run_output_live(&self->output);
    return live.read(live.context, run_id, offset, limit, ret, ret_count);
}

struct live_output outside_live(struct outside *outside)
{
    return (struct live_output){read_live, outside};
}

/* ---- turns ---- */

/* As root the program's commands run as root, as they do without a spawner, or as whom they name:
 * the program could do all that itself. */
static enum status allow_all(const struct outside *self, char **ret)
{
    *ret = data_folder_file(self->spawn_folder, "users.allow");
    return *ret ? data_folder_write(self->spawn_folder, "users.allow", "*\nroot\n") : E_NOMEM;
}

static enum status start_spawner(struct outside *self)
{
    char *allow_file = NULL;
    bool is_root = geteuid() == 0;
    enum status st = data_folder_make(self->spawn_folder);
    if (st == OK && is_root)
        st = allow_all(self, &allow_file);
    struct executor_spawn_config config = {.folder = self->spawn_folder,
                                           .allow_file = allow_file,
                                           .default_user = is_root ? "root" : NULL,
                                           .node = self->config.node,
                                           .program = self->config.tools->spawn,
                                           .shell = "/bin/sh"};
    if (st == OK)
        st = executor_spawn_new(self->config.loop, &config, self->config.wake, self->config.context,
                                &self->spawn);
    free(allow_file);
    return st;
}

/* The program's author has named the address: which ones calls may reach is not restricted. */
static enum status start_caller(struct outside *self)
{
    struct executor_call_config config = {.folder = self->call_folder,
                                          .user = geteuid() == 0 ? "nobody" : NULL,
                                          .node = self->config.node,
                                          .allow = "0.0.0.0/0,::/0",
                                          .program = self->config.tools->call};
    return executor_call_new(self->config.loop, &config, self->config.wake, self->config.context,
                             &self->call);
}

static void tell_way(struct outside *self)
{
    char message[600];
    const char *spawn = self->config.tools->spawn;
    if (spawn)
        snprintf(message, sizeof(message), "commands are run by %s", spawn);
    else
        snprintf(
            message, sizeof(message),
            "commands are run by the library itself: peal-spawn is not installed, and they end "
            "with this process unless they detach");
    self->config.log(self->config.context, message);
    self->is_way_told = true;
}

/* Out of memory, or the disk is full: tried again with the next turn. */
void outside_step(struct outside *outside)
{
    const struct tools *tools = outside->config.tools;
    bool has_commands = functions_have_commands(outside->config.functions);
    if (has_commands && !outside->is_way_told)
        tell_way(outside);
    if (has_commands && tools->spawn && !outside->spawn && start_spawner(outside) != OK)
        return;
    if (functions_have_https(outside->config.functions) && !outside->call &&
        start_caller(outside) != OK)
        return;
}

void outside_shut_down(struct outside *outside)
{
    struct outside_run *run;
    for (size_t at = 0; (run = table_next(&outside->runs, &at));) {
        if (run->is_ended || run->is_told)
            continue;
        kill_run(&outside->port, &run->id, REASON_SHUTDOWN);
        run->is_told = true;
    }
}

size_t outside_running(const struct outside *outside)
{
    return outside->running;
}

bool outside_is_recorded(const struct outside *outside)
{
    return !outside->runs.count;
}

/* ---- beginning and end ---- */

static bool has_journal(const char *folder)
{
    char *path = data_folder_file(folder, "journal");
    bool has = path && access(path, F_OK) == 0;
    free(path);
    return has;
}

/* What the process before this one may have left. */
static enum status ask_earlier(struct outside *self)
{
    enum status st = OK;
    if (has_journal(self->spawn_folder) && self->config.tools->spawn) {
        self->spawn_is_awaited = true;
        st = start_spawner(self);
    }
    if (st == OK && has_journal(self->call_folder) && self->config.tools->call)
        st = start_caller(self);
    return st;
}

static char *folder_of(const struct outside_config *config, const char *name)
{
    char file[32];
    snprintf(file, sizeof(file), "%s%s", config->prefix, name);
    return data_folder_file(config->folder, file);
}

enum status outside_new(const struct outside_config *config, struct outside **ret)
{
    struct outside *self = calloc(1, sizeof(*self));
    if (!self)
        return E_NOMEM;
    self->port.ops = &ops;
    self->config = *config;
    table_init(&self->runs, &runs_type);
    self->spawn_folder = folder_of(config, "spawn");
    self->call_folder = folder_of(config, "call");
    enum status st = self->spawn_folder && self->call_folder
                         ? run_output_init(&self->output, self->spawn_folder, self->call_folder)
                         : E_NOMEM;
    if (st == OK)
        st = ask_earlier(self);
    if (st == OK)
        *ret = self;
    else
        outside_free(self);
    return st;
}

struct outside *outside_free(struct outside *outside)
{
    if (!outside)
        return NULL;
    executor_spawn_free(outside->spawn);
    executor_call_free(outside->call);
    run_output_release(&outside->output);
    table_release_items(&outside->runs);
    free(outside->spawn_folder);
    free(outside->call_folder);
    free(outside);
    return NULL;
}
