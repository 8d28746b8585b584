#include "executor_spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "clock.h"
#include "descent.h"
#include "file_looks.h"
#include "function/run_limits.h"
#include "params/run_body.h"
#include "refused_starts.h"
#include "run_environment.h"
#include "run_secrets.h"
#include "spawn_output.h"
#include "start_notes.h"
#include "version.h"

static const struct spawn_build own_build = {.version = PEAL_VERSION, .revision = PEAL_REVISION};

struct executor_spawn {
    struct executor port; /* first member: the engine's handle */
    struct spawn_client *client;
    struct spawn_launcher *launcher; /* NULL: none */
    struct executor_news news;
    enum spawner_match told;    /* what was told of the spawner's version */
    struct spawner_death death; /* of the last one that died under this agent */
    pid_t spawner;              /* the one that was ready last; 0: none */
    int64_t gone_ms;            /* when its connection was lost */
    struct start_notes notes;
    struct file_looks looks;
    struct refused_starts refused;
    const struct known_secrets *secrets; /* NULL: none */
    struct job_users users;
    char *folder;
    char *node;
    char *default_user; /* NULL: none */
    char *program;      /* NULL: beside this executable */
    const char *shell;  /* NULL: bash, or sh */
    char tag[SPAWN_TAG_SIZE];
    void (*wake)(void *context);
    void *context;
};

static struct executor_spawn *from_port(struct executor *port)
{
    return (struct executor_spawn *)port;
}

/* ---- start ---- */

static void set_limit(struct spawn_request *request, enum spawn_limit which, int64_t value)
{
    if (value < 0)
        return;
    request->limits_set |= 1u << which;
    request->limits[which] = (uint64_t)value;
}

/* As ioprio_set takes it. */
static uint32_t ioprio_of(const struct job_ionice *ionice)
{
    enum { CLASS_SHIFT = 13, BEST_EFFORT = 2, IDLE = 3 };
    switch (ionice->class) {
    case IONICE_BEST_EFFORT:
        return (uint32_t)(BEST_EFFORT << CLASS_SHIFT | ionice->level);
    case IONICE_IDLE:
        return IDLE << CLASS_SHIFT;
    case IONICE_DEFAULT:
        break;
    }
    return 0;
}

static void set_share(struct spawn_share *share, const struct job *job)
{
    const struct job_limits *limits = &job->limits;
    *share = (struct spawn_share){
        .memory_bytes = limits->total_memory_bytes > 0 ? (uint64_t)limits->total_memory_bytes : 0,
        .cpu_milli = (uint32_t)limit_cpu_milli(limits),
        .processes = limits->total_processes > 0 ? (uint32_t)limits->total_processes : 0,
        .io_weight = limits->io_weight > 0 ? (uint32_t)limits->io_weight : 0,
        .ioprio = ioprio_of(&job->ionice),
    };
}

static void set_user(struct spawn_request *request, const struct executor_spawn *self,
                     const struct job *job)
{
    request->job = job->name;
    request->is_default_user = !job->user && self->default_user;
    request->user = job->user ? job->user : self->default_user ? self->default_user : "";
}

static void fill_request(struct spawn_request *request, const struct job *job,
                         struct boot_ms deadline)
{
    request->deadline_boot_ms = deadline.ms;
    request->timeout_ms = job->timeout_s * 1000;
    request->grace_ms = (int32_t)(job->grace_s * 1000);
    if (job->umask_bits >= 0)
        request->umask = (uint32_t)job->umask_bits;
    request->nice = job->nice;
    request->is_merged = job->output == OUTPUT_MERGED;
    request->linger_s = (int32_t)job->linger_s;
    request->head_bytes = request->tail_bytes = (uint64_t)job->output_limit;
    if (job->body) { /* becomes PEAL_INPUT: run_environment.h */
        request->stdin_bytes = job->body->bytes;
        request->stdin_length = job->body->length;
    } else if (job->stdin_text) {
        request->stdin_bytes = job->stdin_text;
        request->stdin_length = strlen(job->stdin_text);
    }
    set_limit(request, SPAWN_LIMIT_NOFILE, job->limits.open_files);
    set_limit(request, SPAWN_LIMIT_NPROC, job->limits.processes);
    set_limit(request, SPAWN_LIMIT_CORE, job->limits.core_bytes);
    set_limit(request, SPAWN_LIMIT_AS, job->limits.memory_bytes);
    set_limit(request, SPAWN_LIMIT_CPU, job->limits.cpu_s);
    set_limit(request, SPAWN_LIMIT_FSIZE, job->limits.file_bytes);
    set_share(&request->share, job);
}

/* The environment of a run, with its secrets. OK, and *ret_refused: the run ends before it starts.
 */
static enum status make_environment(struct executor_spawn *self, const struct run *run,
                                    const struct job *job, const struct job_user *user,
                                    struct run_environment *ret, bool *ret_refused)
{
    struct strbuf why;
    enum status st = run_environment_init(ret, run, job, user, self->node, self->shell);
    *ret_refused = false;
    if (st != OK || !job->secrets)
        return st;
    strbuf_init(&why);
    st = run_secrets_add(ret, job, self->secrets, &why);
    if (st != OK)
        run_environment_release(ret);
    if (st != OK && st != E_NOMEM) {
        *ret_refused = true;
        st = refused_starts_add(&self->refused, &run->id, why.text);
        self->wake(self->context);
    }
    strbuf_release(&why);
    return st;
}

static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct executor_spawn *self = from_port(port);
    struct run_environment environment;
    struct spawn_request request;
    char id[ID_TEXT + 1];
    bool is_refused = false;
    spawn_request_init(&request);
    set_user(&request, self, job);
    const struct job_user *user = job_users_find(&self->users, request.user, clock_now().boot.ms);
    enum status st =
        user ? make_environment(self, run, job, user, &environment, &is_refused) : E_NOMEM;
    if (st != OK || is_refused)
        return st;
    id_format(&run->id, id);
    fill_request(&request, job, deadline);
    request.has_values = run_is_step(run);
    request.at_boot_us = clock_boot_us_near(at, (struct wall_ms){run->not_before_ms});
    request.id = id;
    request.argv = environment.argv;
    request.env = environment.variables;
    request.secret_count = (uint32_t)environment.secret_count;
    request.cwd = environment.cwd;
    st = spawn_client_start(self->client, &request);
    if (st == OK)
        start_notes_add(&self->notes, &request);
    run_environment_release(&environment);
    return st;
}

static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct executor_spawn *self = from_port(port);
    char id[ID_TEXT + 1];
    (void)reason;
    id_format(run_id, id);
    /* Out of memory: the timeout or the next kill tries again. */
    if (spawn_client_kill(self->client, id, 0, -1) != OK)
        return;
}

static void drop_look(struct executor_spawn *self, const struct id *run_id)
{
    char id[FILE_LOOK_ID];
    if (!file_looks_drop(&self->looks, run_id))
        return;
    file_look_id(run_id, id);
    spawn_output_remove(self->folder, id);
    if (spawn_client_ack(self->client, id) != OK) /* told again, and then it is a stray */
        return;
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    struct executor_spawn *self = from_port(port);
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    drop_look(self, run_id);
    start_notes_drop(&self->notes, id);
    /* Not sent: the spawner reports the end again with the next connection. */
    if (spawn_client_ack(self->client, id) != OK)
        return;
}

static enum status values(struct executor *port, const struct id *run_id, char **ret,
                          size_t *ret_length)
{
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    return spawn_values_read(from_port(port)->folder, id, EXECUTOR_VALUES_MAX, ret, ret_length);
}

static void remove_values(struct executor *port, const struct id *run_id)
{
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    spawn_values_remove(from_port(port)->folder, id);
}

static enum status look(struct executor *port, const struct id *run_id, const struct job *job,
                        const struct run *end)
{
    struct executor_spawn *self = from_port(port);
    struct spawn_request request;
    struct file_look_start words;
    char id[FILE_LOOK_ID];
    bool is_known;
    enum status st = file_looks_ask(&self->looks, run_id, end, &is_known);
    if (st != OK || is_known)
        return st;
    file_look_id(run_id, id);
    spawn_request_init(&request);
    set_user(&request, self, job);
    file_look_fill(&words, job->expect.file, &request);
    request.id = id;
    st = spawn_client_start(self->client, &request);
    if (st != OK)
        file_looks_drop(&self->looks, run_id);
    return st;
}

/* ---- events ---- */

static const struct {
    enum run_state state;
    enum run_reason reason;
} ends[] = {
    [SPAWN_SIGNALED] = {RUN_FAILED, REASON_SIGNAL},
    [SPAWN_TIMED_OUT] = {RUN_TIMED_OUT, REASON_TIMEOUT},
    [SPAWN_KILLED] = {RUN_KILLED, REASON_SHUTDOWN},
    [SPAWN_START_FAILED] = {RUN_FAILED, REASON_NO_START},
    [SPAWN_UNKNOWN] = {RUN_LOST, REASON_SPAWNER_DIED},
};

/* The reason from a spawner of any version. An unknown one, or one that is no end, becomes
 * SPAWN_UNKNOWN. */
static enum spawn_reason known_reason(uint32_t reason)
{
    bool is_known = reason == SPAWN_EXITED || (reason < sizeof(ends) / sizeof(ends[0]) &&
                                               run_state_is_end(ends[reason].state));
    return is_known ? (enum spawn_reason)reason : SPAWN_UNKNOWN;
}

/* The reason of a run that a signal ended. */
static enum run_reason signal_reason(const struct spawn_run *known)
{
    if (WIFSIGNALED(known->wait_status) && WTERMSIG(known->wait_status) == SIGXCPU)
        return REASON_CPU_TIME;
    bool is_oom = known->error == SPAWN_CAUSE_OOM || known->error == SPAWN_CAUSE_TOTAL_MEMORY;
    return is_oom ? REASON_OOM : REASON_SIGNAL;
}

/* What the kernel has done at a limit of the whole run. NULL: nothing, as far as known. */
static const char *limit_detail(const struct spawn_run *known)
{
    if (known->error == SPAWN_CAUSE_TOTAL_MEMORY)
        return "its processes together needed more than limits.total_memory";
    if (known->error == SPAWN_CAUSE_TOTAL_PROCESSES)
        return "it had as many processes as limits.total_processes allows, and could not make "
               "another one";
    return NULL;
}

/* Of a run that has failed by its exit code: what may be behind that. NULL: nothing is known. */
static const char *exit_detail(const struct spawn_run *known)
{
    int code = WEXITSTATUS(known->wait_status);
    if (limit_detail(known))
        return limit_detail(known);
    if (known->error == SPAWN_CAUSE_OOM)
        return "the kernel's OOM killer ended one of its processes";
    if (code == 128 + SIGXCPU)
        return "a shell's exit code for a command that SIGXCPU ended, at its limit of CPU time";
    if (code == 128 + SIGKILL)
        return "a shell's exit code for a command that SIGKILL ended";
    return NULL;
}

static void fill_end(const struct start_notes *notes, const struct spawn_run *known,
                     struct run *end)
{
    end->finished_ms = known->ended_wall_ms;
    end->exit_code = WIFEXITED(known->wait_status) && known->started_wall_ms &&
                             known->reason != SPAWN_START_FAILED && known->reason != SPAWN_UNKNOWN
                         ? WEXITSTATUS(known->wait_status)
                         : -1;
    end->term_signal = WIFSIGNALED(known->wait_status) ? WTERMSIG(known->wait_status) : 0;
    end->user_ms = known->user_ms;
    end->system_ms = known->system_ms;
    end->max_rss_kb = known->max_rss_kib;
    end->output_bytes = (int64_t)known->output_bytes;
    end->output_truncated = known->dropped_bytes > 0;
    if (known->reason == SPAWN_EXITED) {
        end->state = end->exit_code == 0 ? RUN_OK : RUN_FAILED;
        end->reason = end->exit_code == 0 ? REASON_NONE : REASON_EXIT_CODE;
    } else {
        end->state = ends[known_reason(known->reason)].state;
        end->reason = known->reason == SPAWN_SIGNALED ? signal_reason(known)
                                                      : ends[known_reason(known->reason)].reason;
    }
    const char *exit_words = end->reason == REASON_EXIT_CODE   ? exit_detail(known)
                             : known->reason == SPAWN_SIGNALED ? limit_detail(known)
                                                               : NULL;
    if (known->reason == SPAWN_START_FAILED)
        start_notes_tell(notes, known, end->detail, sizeof(end->detail));
    else if (known_reason(known->reason) == SPAWN_UNKNOWN)
        snprintf(end->detail, sizeof(end->detail), "%s", spawn_unseen_text(known));
    else if (exit_words)
        snprintf(end->detail, sizeof(end->detail), "%s", exit_words);
    else if (known->left_over)
        snprintf(end->detail, sizeof(end->detail), "some of its processes would not die");
    else if (known->disk_full)
        snprintf(end->detail, sizeof(end->detail), "the disk was full: some output is gone");
}

/* False: no event for the engine. */
static bool translate(struct start_notes *notes, const struct spawn_event *event,
                      struct executor_event *ret)
{
    *ret = (struct executor_event){0};
    switch (event->kind) {
    case SPAWN_EVENT_READY:
        ret->kind = EXECUTOR_READY;
        return true;
    case SPAWN_EVENT_GONE:
    case SPAWN_EVENT_REPLACED:
        ret->kind = EXECUTOR_GONE;
        return true;
    case SPAWN_EVENT_RUN:
        break;
    }
    const struct spawn_run *known = &event->run;
    if (known->change == SPAWN_CHANGE_GREW || id_parse(known->id, &ret->run_id) != OK)
        return false;
    ret->end.started_ms = known->started_wall_ms;
    if (known->change == SPAWN_CHANGE_HELD) {
        ret->kind = EXECUTOR_HELD;
    } else if (known->reason == SPAWN_NOT_ENDED) {
        ret->kind = EXECUTOR_STARTED;
    } else if (known->reason == SPAWN_EXPIRED) {
        ret->kind = EXECUTOR_EXPIRED;
    } else {
        ret->kind = EXECUTOR_ENDED;
        fill_end(notes, known, &ret->end);
    }
    if (ret->kind != EXECUTOR_STARTED &&
        ret->kind != EXECUTOR_HELD) /* steps in the new process may still fail */
        start_notes_drop(notes, known->id);
    return true;
}

/* Looks are not the engine's runs. */
static bool take_look(struct executor_spawn *self, const struct spawn_event *event)
{
    struct id run_id;
    if (event->kind != SPAWN_EVENT_RUN || !file_look_is(event->run.id, &run_id))
        return false;
    if (event->run.reason != SPAWN_NOT_ENDED)
        file_looks_answer(&self->looks, self->folder, &run_id, &event->run);
    return true;
}

/* All runs that wait for a look were told before READY, and have asked for it. */
static void drop_strays(struct executor_spawn *self)
{
    struct id run_id;
    while (file_looks_stray(&self->looks, &run_id))
        drop_look(self, &run_id);
}

/* Once for each match, not with each connection. */
static void tell_version(struct executor_spawn *self)
{
    const struct spawner_info *spawner = spawn_client_spawner(self->client);
    if (spawner->match != self->told && self->news.matched)
        self->news.matched(self->news.context, spawner);
    self->told = spawner->match;
}

/* Another spawner than before: the one before has died. */
static void look_for_death(struct executor_spawn *self, const struct spawn_event *event)
{
    pid_t pid = spawn_client_spawner(self->client)->pid;
    if (event->kind == SPAWN_EVENT_GONE)
        self->gone_ms = clock_now().wall.ms;
    if (event->kind != SPAWN_EVENT_READY)
        return;
    if (self->spawner && self->spawner != pid) {
        self->death = (struct spawner_death){.pid = self->spawner, .at_ms = self->gone_ms};
        if (self->news.died)
            self->news.died(self->news.context, &self->death, pid, (int)event->hello.runs);
    }
    self->spawner = pid;
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct executor_spawn *self = from_port(port);
    struct spawn_event event;
    if (file_looks_next(&self->looks, ret) || refused_starts_next(&self->refused, ret))
        return true;
    while (spawn_client_next_event(self->client, &event)) {
        if (event.kind != SPAWN_EVENT_RUN) {
            tell_version(self);
            look_for_death(self, &event);
        }
        if (event.kind == SPAWN_EVENT_READY)
            drop_strays(self);
        if (take_look(self, &event)) {
            if (file_looks_next(&self->looks, ret))
                return true;
            continue;
        }
        if (translate(&self->notes, &event, ret))
            return true;
    }
    return false;
}

static const char *version(const struct executor *port)
{
    const struct executor_spawn *self = (const struct executor_spawn *)port;
    return spawn_client_spawner(self->client)->build.version;
}

/* The bits of both have the same order. */
static unsigned enforces(const struct executor *port)
{
    _Static_assert(SPAWN_LIMITS_CPU / SPAWN_LIMITS_MEMORY == 1 << CONTROLLER_CPU &&
                       SPAWN_LIMITS_PIDS / SPAWN_LIMITS_MEMORY == 1 << CONTROLLER_PIDS &&
                       SPAWN_LIMITS_IO / SPAWN_LIMITS_MEMORY == 1 << CONTROLLER_IO,
                   "the same order");
    const struct executor_spawn *self = (const struct executor_spawn *)port;
    return spawn_client_enforces(self->client);
}

/* Time enough for a thousand processes to be made. */
static int64_t ahead_ms(const struct executor *port, const struct job *job)
{
    enum { AHEAD_MS = 200 };
    (void)job;
    const struct executor_spawn *self = (const struct executor_spawn *)port;
    return spawn_client_knows_times(self->client) ? AHEAD_MS : 0;
}

static const struct executor_ops ops = {.start = start,
                                        .kill = kill_run,
                                        .acknowledge = acknowledge,
                                        .values = values,
                                        .remove_values = remove_values,
                                        .look = look,
                                        .next_event = next_event,
                                        .version = version,
                                        .enforces = enforces,
                                        .ahead_ms = ahead_ms};

/* ---- life ---- */

static void on_wake(void *context)
{
    struct executor_spawn *self = context;
    self->wake(self->context);
}

enum status executor_spawn_new(struct loop *loop, const struct executor_spawn_config *config,
                               void (*wake)(void *context), void *context,
                               struct executor_spawn **ret)
{
    if (mkdir(config->folder, 0700) != 0 && errno != EEXIST)
        return E_IO;
    struct executor_spawn *self = calloc(1, sizeof(*self));
    if (!self)
        return E_NOMEM;
    self->port.ops = &ops;
    start_notes_init(&self->notes);
    file_looks_init(&self->looks);
    self->wake = wake;
    self->context = context;
    self->folder = strdup(config->folder);
    self->node = strdup(config->node);
    self->default_user = config->default_user ? strdup(config->default_user) : NULL;
    char *real = realpath(config->folder, NULL); /* the same path as the spawner's */
    spawn_tag(real ? real : config->folder, self->tag);
    free(real);
    self->program = config->program ? strdup(config->program) : NULL;
    enum status st = E_NOMEM;
    if (!self->folder || !self->node || (config->default_user && !self->default_user) ||
        (config->program && !self->program))
        goto out;
    struct spawn_client_config client = {
        .folder = self->folder,
        .program = self->program,
        .allow_file = config->allow_file,
        .open_files = config->open_files,
        .launcher = config->launcher,
        .build = own_build,
    };
    self->launcher = config->launcher;
    self->news = config->news;
    self->secrets = config->secrets;
    self->shell = config->shell;
    st = spawn_client_new(loop, &client, on_wake, self, &self->client);
    if (st != OK)
        goto out;
    *ret = self;
    self = NULL;
out:
    executor_spawn_free(self);
    return st;
}

struct executor_spawn *executor_spawn_free(struct executor_spawn *executor)
{
    if (!executor)
        return NULL;
    spawn_client_free(executor->client);
    start_notes_release(&executor->notes);
    file_looks_release(&executor->looks);
    refused_starts_release(&executor->refused);
    job_users_release(&executor->users);
    free(executor->folder);
    free(executor->node);
    free(executor->default_user);
    free(executor->program);
    free(executor);
    return NULL;
}

bool executor_spawn_may_be_run(const struct executor_spawn *executor, int fd)
{
    struct lineage lineage = {.spawner = spawn_client_spawner(executor->client)->pid};
    if (executor->launcher)
        return spawn_launcher_descent(executor->launcher, fd, lineage.spawner) != DESCENT_NONE;
    memcpy(lineage.tag, executor->tag, sizeof(lineage.tag));
    return descent_of_peer(fd, &lineage) != DESCENT_NONE;
}

const struct spawner_info *executor_spawn_spawner(const struct executor_spawn *executor)
{
    return spawn_client_spawner(executor->client);
}

const struct spawner_death *executor_spawn_death(const struct executor_spawn *executor)
{
    return &executor->death;
}

struct executor *executor_spawn_port(struct executor_spawn *executor)
{
    return &executor->port;
}
