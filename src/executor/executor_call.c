#include "executor_call.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "call_request.h"
#include "call_start.h"
#include "clock.h"
#include "spawn_output.h"
#include "table.h"
#include "version.h"

enum { LINE_MAX_BYTES = 320 }; /* of the line that says why a call has failed */

static const struct spawn_build own_build = {.version = PEAL_VERSION, .revision = PEAL_REVISION};

/* A call that peal-call was asked for, until its end is acknowledged. */
struct known_call {
    struct id id;
    int64_t started_ms;
    int http_status; /* of its answer; 0: none */
    bool is_started, is_told, is_ended;
    bool is_killed; /* as it was asked for */
};

static const struct table_type by_id_type = {.key_at = offsetof(struct known_call, id),
                                             .key_size = sizeof(struct id)};

struct executor_call {
    struct executor port; /* first member */
    struct loop *loop;
    struct spawn_client *client; /* NULL: there was no call yet */
    struct spawn_launcher *launcher;
    struct executor_news news;
    const struct known_secrets *secrets; /* NULL: none */
    bool is_ready;
    bool is_settled; /* all calls from before this agent were told */
    enum spawner_match told;
    struct table calls;
    struct executor_event *events; /* of its own, before those of the client */
    size_t event_count, event_first;
    char *folder, *user, *node, *allow;
    char *program; /* NULL: beside this executable */
    void (*wake)(void *context);
    void *context;
};

static struct executor_call *from_port(struct executor *port)
{
    return (struct executor_call *)port;
}

static struct known_call *find(const struct executor_call *self, const struct id *run_id)
{
    return table_find(&self->calls, run_id);
}

static struct known_call *find_or_add(struct executor_call *self, const struct id *run_id)
{
    struct known_call *call = find(self, run_id);
    struct known_call fresh = {.id = *run_id};
    return call ? call : table_add(&self->calls, &fresh, sizeof(fresh));
}

static void forget(struct executor_call *self, const struct id *run_id)
{
    struct known_call *call = find(self, run_id);
    if (!call)
        return;
    table_remove(&self->calls, call);
    free(call);
}

/* ---- own events ---- */

static void on_wake(void *context)
{
    struct executor_call *self = context;
    self->wake(self->context);
}

static enum status add_event(struct executor_call *self, const struct executor_event *event)
{
    if (array_grow(&self->events, self->event_count, sizeof(*self->events)) != OK)
        return E_NOMEM;
    self->events[self->event_count++] = *event;
    self->wake(self->context);
    return OK;
}

static enum status end_call(struct executor_call *self, const struct id *run_id,
                            enum run_state state, enum run_reason reason, const char *detail)
{
    struct executor_event event = {.kind = EXECUTOR_ENDED, .run_id = *run_id};
    event.end.state = state;
    event.end.reason = reason;
    event.end.exit_code = -1;
    event.end.finished_ms = clock_now().wall.ms;
    snprintf(event.end.detail, sizeof(event.end.detail), "%s", detail);
    return add_event(self, &event);
}

static bool next_own_event(struct executor_call *self, struct executor_event *ret)
{
    if (self->event_first == self->event_count) {
        self->event_first = self->event_count = 0;
        return false;
    }
    *ret = self->events[self->event_first++];
    return true;
}

/* ---- start ---- */

static enum status connect_client(struct executor_call *self)
{
    struct spawn_client_config config = {
        .folder = self->folder,
        .program = self->program,
        .launcher = self->launcher,
        .call_user = self->user,
        .build = own_build,
        .is_call = true,
    };
    return self->client ? OK : spawn_client_new(self->loop, &config, on_wake, self, &self->client);
}

static enum status send_start(struct executor_call *self, const struct run *run,
                              const struct job *job, struct call_start *start, struct boot_ms at,
                              struct boot_ms deadline)
{
    struct spawn_request request;
    char id[ID_TEXT + 1];
    id_format(&run->id, id);
    spawn_request_init(&request);
    request.id = id;
    request.job = job->name;
    request.argv = start->words.argv;
    request.env = call_start_secrets(start);
    request.secret_count = (uint32_t)start->environment.secret_count;
    request.at_boot_us = at.ms > clock_now().boot.ms ? at.ms * 1000 : 0;
    request.deadline_boot_ms = deadline.ms;
    request.timeout_ms = (job->timeout_s ? job->timeout_s : JOB_HTTP_TIMEOUT_S) * 1000;
    request.head_bytes = request.tail_bytes = (uint64_t)job->output_limit;
    if (start->has_body) {
        request.stdin_bytes = start->body.text;
        request.stdin_length = start->body.length;
    }
    if (!find_or_add(self, &run->id))
        return E_NOMEM;
    enum status st = spawn_client_start(self->client, &request);
    if (st != OK)
        forget(self, &run->id);
    return st;
}

/* Until peal-call is there the engine asks again, as long as the start window is open. */
static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct executor_call *self = from_port(port);
    struct call_start request;
    struct strbuf why;
    if (geteuid() == 0 && !self->user)
        return end_call(self, &run->id, RUN_FAILED, REASON_NO_START,
                        "HTTP calls are not made as root, and this agent of root has no "
                        "default_user");
    enum status st = connect_client(self);
    if (st != OK || !self->is_ready)
        return st == OK ? E_BUSY : st;
    strbuf_init(&why);
    const struct call_place place = {self->node, self->allow, self->secrets};
    st = call_start_init(&request, run, job, &place, &why);
    if (st == OK) {
        st = send_start(self, run, job, &request, at, deadline);
        call_start_release(&request);
    } else if (why.length) {
        st = end_call(self, &run->id, RUN_FAILED, REASON_NO_START, why.text);
    }
    strbuf_release(&why);
    return st;
}

static void kill_call(struct executor_call *self, const struct known_call *call)
{
    char id[ID_TEXT + 1];
    id_format(&call->id, id);
    /* Out of memory: the timeout or the next kill tries again. */
    if (self->client && spawn_client_kill(self->client, id, 0, -1) != OK)
        return;
}

static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct executor_call *self = from_port(port);
    struct known_call *call = find(self, run_id);
    (void)reason;
    if (!call)
        return;
    call->is_killed = true;
    kill_call(self, call);
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    struct executor_call *self = from_port(port);
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    forget(self, run_id);
    /* Not sent: peal-call reports the end again with the next connection. */
    if (self->client && spawn_client_ack(self->client, id) != OK)
        return;
}

/* ---- ends ---- */

/* Did an answer come, whose status peal-call tells? */
static bool has_answer(const struct spawn_run *known)
{
    int how = WEXITSTATUS(known->wait_status);
    return known->reason == SPAWN_EXITED &&
           (how == CALL_OK || how == CALL_STATUS || how == CALL_BODY);
}

/* The status is all that a call hands over. */
static enum status values(struct executor *port, const struct id *run_id, char **ret,
                          size_t *ret_length)
{
    const struct known_call *call = find(from_port(port), run_id);
    char *text = NULL;
    int length = 0;
    if (call && call->http_status &&
        (length = asprintf(&text, "status=%d\n", call->http_status)) < 0)
        return E_NOMEM;
    *ret = text;
    *ret_length = (size_t)length;
    return OK;
}

/* The last line on stderr, which says why the call has failed. False: it is not there. */
static bool read_line(const struct executor_call *self, const struct spawn_run *known, char *buf,
                      size_t size)
{
    struct spawn_output *output;
    struct spawn_chunk chunk;
    bool is_there = false;
    uint64_t from = known->output_bytes > LINE_MAX_BYTES ? known->output_bytes - LINE_MAX_BYTES : 0;
    if (spawn_output_open(self->folder, known->id, from, &output) != OK)
        return false;
    while (spawn_output_next(output, &chunk) == OK) {
        const char *line = memmem(chunk.bytes, chunk.length, CALL_LINE, strlen(CALL_LINE));
        if (chunk.stream != SPAWN_STDERR || !line)
            continue;
        line += strlen(CALL_LINE);
        size_t length = strcspn(line, "\n");
        size_t room = (size_t)(chunk.bytes + chunk.length - line);
        snprintf(buf, size, "%.*s", (int)(length < room ? length : room), line);
        is_there = true;
    }
    spawn_output_free(output);
    return is_there;
}

static const struct {
    enum run_state state;
    enum run_reason reason;
    const char *words; /* unless there is a line */
} own_ends[] = {
    [CALL_OK] = {RUN_OK, REASON_NONE, ""},
    [CALL_STATUS] = {RUN_FAILED, REASON_HTTP_STATUS, ""},
    [CALL_BODY] = {RUN_FAILED, REASON_HTTP_BODY, ""},
    [CALL_ERROR] = {RUN_FAILED, REASON_HTTP_ERROR, ""},
    [CALL_NO_START] = {RUN_FAILED, REASON_NO_START, "the request could not be made"},
};

static void fill_own_end(const struct executor_call *self, const struct spawn_run *known,
                         struct run *end)
{
    unsigned how = (unsigned)WEXITSTATUS(known->wait_status);
    if (how >= CALL_ENDS)
        how = CALL_ERROR; /* one of a newer peal-call */
    end->state = own_ends[how].state;
    end->reason = own_ends[how].reason;
    if (how != CALL_OK && read_line(self, known, end->detail, sizeof(end->detail)))
        return;
    if (has_answer(known))
        snprintf(end->detail, sizeof(end->detail), "HTTP %d", known->error);
    else
        snprintf(end->detail, sizeof(end->detail), "%s", own_ends[how].words);
}

static void fill_end(const struct executor_call *self, const struct spawn_run *known,
                     struct run *end)
{
    end->finished_ms = known->ended_wall_ms;
    end->exit_code = -1;
    end->output_bytes = (int64_t)known->output_bytes;
    end->output_truncated = known->dropped_bytes > 0;
    switch (known->reason) {
    case SPAWN_EXITED:
        fill_own_end(self, known, end);
        return;
    case SPAWN_TIMED_OUT:
        end->state = RUN_TIMED_OUT;
        end->reason = REASON_TIMEOUT;
        return;
    case SPAWN_KILLED:
        end->state = RUN_KILLED;
        end->reason = REASON_SHUTDOWN;
        return;
    case SPAWN_START_FAILED:
        end->state = RUN_FAILED;
        end->reason = REASON_NO_START;
        snprintf(end->detail, sizeof(end->detail), "%s",
                 known->step == SPAWN_STEP_SECRETS
                     ? "peal-call is of an earlier version, which can't mask secrets"
                     : "peal-call is stopping");
        return;
    default:
        end->state = RUN_LOST;
        end->reason = REASON_SPAWNER_DIED;
        snprintf(end->detail, sizeof(end->detail),
                 "the call was under way when peal-call was killed");
    }
}

/* ---- events ---- */

static void gone(struct executor_call *self)
{
    struct known_call *call;
    self->is_ready = false;
    for (size_t at = 0; (call = table_next(&self->calls, &at));)
        call->is_told = false;
}

/* Calls that had started, and that peal-call no longer knows, are lost with its journal; kills may
 * have got lost on the way. */
static void ready(struct executor_call *self)
{
    struct known_call *call;
    self->is_ready = self->is_settled = true;
    for (size_t at = 0; (call = table_next(&self->calls, &at));) {
        if (call->is_started && !call->is_ended && !call->is_told) {
            call->is_ended = end_call(self, &call->id, RUN_LOST, REASON_SPAWNER_DIED,
                                      "peal-call has forgotten it") == OK;
        } else if (call->is_killed && !call->is_ended) {
            kill_call(self, call);
        }
    }
    const struct spawner_info *caller = spawn_client_spawner(self->client);
    if (caller->match != self->told && self->news.matched)
        self->news.matched(self->news.context, caller);
    self->told = caller->match;
}

/* False: nothing for the engine. */
static bool translate(struct executor_call *self, const struct spawn_run *known,
                      struct executor_event *ret)
{
    *ret = (struct executor_event){0};
    if (known->change == SPAWN_CHANGE_GREW || id_parse(known->id, &ret->run_id) != OK)
        return false;
    struct known_call *call = find_or_add(self, &ret->run_id);
    if (call) {
        call->is_told = call->is_started = true;
        call->started_ms = known->started_wall_ms;
        call->is_ended = known->reason != SPAWN_NOT_ENDED;
        call->http_status = has_answer(known) ? known->error : 0;
    }
    ret->end.started_ms = known->started_wall_ms;
    ret->kind = known->reason == SPAWN_NOT_ENDED ? EXECUTOR_STARTED
                : known->reason == SPAWN_EXPIRED ? EXECUTOR_EXPIRED
                                                 : EXECUTOR_ENDED;
    if (ret->kind == EXECUTOR_ENDED)
        fill_end(self, known, &ret->end);
    return true;
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct executor_call *self = from_port(port);
    struct spawn_event event;
    if (next_own_event(self, ret))
        return true;
    while (self->client && spawn_client_next_event(self->client, &event)) {
        if (event.kind == SPAWN_EVENT_READY)
            ready(self);
        else if (event.kind != SPAWN_EVENT_RUN)
            gone(self);
        else if (translate(self, &event.run, ret))
            return true;
        if (next_own_event(self, ret))
            return true;
    }
    return false;
}

static const struct executor_ops ops = {.start = start,
                                        .kill = kill_run,
                                        .acknowledge = acknowledge,
                                        .values = values,
                                        .next_event = next_event};

bool executor_call_is_settled(const struct executor_call *executor)
{
    return executor->is_settled;
}

bool executor_call_has(const struct executor_call *executor, const struct id *run_id)
{
    return find(executor, run_id) != NULL;
}

void executor_call_tell_again(struct executor_call *executor)
{
    const struct known_call *call;
    for (size_t at = 0; (call = table_next(&executor->calls, &at));) {
        struct executor_event event = {.kind = EXECUTOR_STARTED, .run_id = call->id};
        event.end.started_ms = call->started_ms;
        if (call->is_started && !call->is_ended && add_event(executor, &event) != OK)
            return; /* it is thought lost, and found again with the next connection */
    }
}

const struct spawner_info *executor_call_caller(const struct executor_call *executor)
{
    return executor->client ? spawn_client_spawner(executor->client) : NULL;
}

/* ---- life ---- */

static bool has_file(const char *folder, const char *name)
{
    struct stat about;
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
           stat(path, &about) == 0;
}

/* Where there were calls before, peal-call is started at once, so that the first one is not late.
 * If it has left a journal it may know of calls whose ends nobody has heard of yet: the engine must
 * not judge them before that. */
static enum status find_earlier(struct executor_call *self)
{
    self->is_settled = !has_file(self->folder, "journal");
    if (!self->is_settled && self->news.awaited)
        self->news.awaited(self->news.context);
    return has_file(self->folder, ".") ? connect_client(self) : OK;
}

enum status executor_call_set_allow(struct executor_call *executor, const char *allow)
{
    char *copy = strdup(allow ? allow : "");
    if (!copy)
        return E_NOMEM;
    free(executor->allow);
    executor->allow = copy;
    return OK;
}

enum status executor_call_new(struct loop *loop, const struct executor_call_config *config,
                              void (*wake)(void *context), void *context,
                              struct executor_call **ret)
{
    struct executor_call *self = calloc(1, sizeof(*self));
    if (!self)
        return E_NOMEM;
    self->port.ops = &ops;
    self->loop = loop;
    self->launcher = config->launcher;
    self->news = config->news;
    self->secrets = config->secrets;
    self->wake = wake;
    self->context = context;
    table_init(&self->calls, &by_id_type);
    self->folder = strdup(config->folder);
    self->node = strdup(config->node);
    self->user = config->user ? strdup(config->user) : NULL;
    self->program = config->program ? strdup(config->program) : NULL;
    enum status st = executor_call_set_allow(self, config->allow);
    if (!self->folder || !self->node || (config->user && !self->user) ||
        (config->program && !self->program))
        st = E_NOMEM;
    if (st == OK)
        st = find_earlier(self);
    if (st != OK) {
        executor_call_free(self);
        return st;
    }
    *ret = self;
    return OK;
}

struct executor_call *executor_call_free(struct executor_call *executor)
{
    if (!executor)
        return NULL;
    spawn_client_free(executor->client);
    table_release_items(&executor->calls);
    free(executor->events);
    free(executor->folder);
    free(executor->node);
    free(executor->user);
    free(executor->allow);
    free(executor->program);
    free(executor);
    return NULL;
}

struct executor *executor_call_port(struct executor_call *executor)
{
    return &executor->port;
}
