/* Every start request becomes a run, so that its end (also "could not start") is kept and reported
 * like any other.
 *
 * The requests of a packet make batches: all of one are written to the journal before its first
 * process is made. They are small, for a spawner that is killed can't tell which of the batch have
 * run. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "descent.h"
#include "spawner.h"

#define OWN_FDS         64
#define HOLD_SHARE      2    /* half of the descriptors are left to what is not held */
#define LIMIT_MS        1000 /* how long the limit of descriptors is known */
#define MANY            4    /* starts in a batch that are a burst ... */
#define LISTEN_LATER_MS 20   /* ... whose pipes are read after the end if that comes before this */

/* Both pipes, or one for both streams; fds[1] and fds[2] become the run's ends. A run of another
 * user owns them, so that it may open /dev/stderr. False and errno: the caller closes what was
 * made. */
static bool make_pipes(struct spawner *s, struct run *run, const struct user_ids *user,
                       bool is_merged, int fds[3])
{
    for (int i = 0; i < (is_merged ? 1 : 2); i++) {
        struct pipe_ends ends;
        if (!pipes_take(&s->pipes, &ends))
            return false;
        run->streams[i].watch.fd = ends.read_fd;
        run->pipes[i] = ends.inode;
        fds[i + 1] = ends.write_fd;
        if (user->must_switch && fchown(ends.read_fd, user->uid, user->gid) < 0)
            return false;
    }
    if (is_merged)
        fds[2] = fds[1];
    return true;
}

static bool names(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* Is it a variable that the spawner sets itself? */
static bool is_mark(const char *variable, const struct spawn_request *request)
{
    return names(variable, SPAWN_MARK) || names(variable, SPAWN_TAG_MARK) ||
           (request->has_values && names(variable, SPAWN_VALUES_VARIABLE));
}

/* What a run finds in its environment besides the variables of its request. */
struct marks {
    char values[VALUES_TEXT];
    char id[64];
};

/* The request's variables, the mark that a kill looks for, that of descent.h, and in front of them
 * the file for values. */
static char **make_env(const struct spawner *s, const struct spawn_request *request,
                       struct marks *marks)
{
    size_t count = 0;
    while (request->env[count])
        count++;
    char **env = calloc(count + 4, sizeof(*env));
    if (!env)
        return NULL;
    size_t to = 0;
    if (request->has_values) {
        values_text(marks->values);
        env[to++] = marks->values;
    }
    snprintf(marks->id, sizeof(marks->id), SPAWN_MARK "=%s", request->id);
    env[to++] = marks->id;
    env[to++] = (char *)s->tag_mark;
    for (size_t i = 0; i < count; i++)
        if (!is_mark(request->env[i], request))
            env[to++] = request->env[i];
    return env;
}

/* The process in the cgroup; both may be none. The cgroup is given back at the end of the run, also
 * of one that could not start. With `held`, a process that is held. */
static pid_t launch_in(struct spawner *s, struct run *run, struct child_setup *setup,
                       uint32_t cgroup, struct launch **held)
{
    run->cgroup = cgroup;
    setup->cgroup_fd = cgroup == CGROUP_NONE ? -1 : setup->cgroup_fd;
    pid_t pid = held ? launch_held(&s->launches, setup, held) : launch_process(&s->launches, setup);
    int error = errno;
    cgroup_entered(cgroup, setup->cgroup_fd);
    errno = error;
    return pid;
}

static bool is_for_want_of_room(int error)
{
    return error == EAGAIN || error == ENOMEM;
}

static pid_t launch_in_cgroup(struct spawner *s, struct run *run, struct child_setup *setup,
                              struct launch **held)
{
    uint32_t cgroup = cgroup_take(&s->cgroups, run->info.id, &setup->cgroup_fd);
    pid_t pid = launch_in(s, run, setup, cgroup, held);
    if (held) /* what failed now is tried again at its time */
        return pid;
    if (pid < 0 && cgroup >= CGROUP_POOLED && !is_for_want_of_room(errno)) { /* it is spoilt */
        cgroup = cgroup_take_own(&s->cgroups, run->info.id, &setup->cgroup_fd);
        pid = launch_in(s, run, setup, cgroup, NULL);
    }
    if (pid < 0 && cgroup == CGROUP_OWN &&
        !is_for_want_of_room(errno)) { /* it exists, but can't be entered */
        cgroups_give_up(&s->cgroups);
        pid = launch_in(s, run, setup, CGROUP_NONE, NULL);
    }
    return pid;
}

/* Without its limits it must not run. */
static enum spawn_step launch_limited(struct spawner *s, struct run *run, struct child_setup *setup,
                                      pid_t *ret_pid, int *ret_error)
{
    uint32_t cgroup = cgroup_take_limited(&s->cgroups, run->info.id, &setup->request->share,
                                          &setup->cgroup_fd, ret_error);
    if (cgroup == CGROUP_NONE)
        return SPAWN_STEP_CGROUP;
    setup->is_limited = true;
    *ret_pid = launch_in(s, run, setup, cgroup, NULL);
    return SPAWN_STEP_NONE;
}

/* SPAWN_STEP_NONE: the process exists. Else the failing step, with its errno. */
static enum spawn_step make_process(struct spawner *s, struct run *run, struct child_setup *setup,
                                    struct launch **held, int *ret_error)
{
    run->slot = slots_take(&s->slots);
    if (run->slot == SLOT_NONE) {
        *ret_error = EAGAIN;
        return SPAWN_STEP_FORK;
    }
    setup->slot = &s->slots.memory[run->slot];
    run->info.started_boot_ms = clock_now().boot.ms;
    run->info.started_wall_ms = held ? 0 : clock_now().wall.ms;
    pid_t pid = -1;
    enum spawn_step step = SPAWN_STEP_NONE;
    if (limited_needs(&setup->request->share))
        step = launch_limited(s, run, setup, &pid, ret_error);
    else
        pid = launch_in_cgroup(s, run, setup, held);
    if (step != SPAWN_STEP_NONE)
        return step;
    if (pid < 0) {
        *ret_error = errno;
        return SPAWN_STEP_FORK;
    }
    run->info.pid = pid;
    if (!held)
        life_note(s, run, JOURNAL_STARTED); /* best effort: it runs by now */
    return SPAWN_STEP_NONE;
}

/* Two pipes and a file per run, and some for the spawner itself: a run must not start if its output
 * can't be read. The limit is asked for once a second, and before anything is refused. Of
 * those it may take one part in `share`. */
static bool has_fds_left(struct spawner *s, rlim_t share)
{
    rlim_t need = share * (s->runs.open_streams + s->runs.active + 2 * s->launches.held +
                           2 * s->cgroups.made + s->pipes.count + s->maskings + 3 + OWN_FDS);
    if (s->now_boot_ms >= s->limit_until_boot_ms || need > s->limit.rlim_cur) {
        s->limit_until_boot_ms = s->now_boot_ms + LIMIT_MS;
        if (getrlimit(RLIMIT_NOFILE, &s->limit) < 0)
            s->limit.rlim_cur = 0;
    }
    return need <= s->limit.rlim_cur;
}

/* False and errno. */
static bool make_values(const struct spawner *s, const struct starting *starting, int *ret_fd)
{
    if (!starting->request.has_values)
        return true;
    *ret_fd = values_make(s->output_fd, starting->request.id, &starting->user);
    return *ret_fd >= 0;
}

/* From the pipes to the process; on failure nothing is left but the run itself. */
static enum spawn_step begin(struct spawner *s, const struct starting *starting,
                             struct launch **held, int *ret_error)
{
    struct marks marks;
    struct run *run = starting->run;
    struct child_setup setup = {
        .request = &starting->request,
        .user = &starting->user,
        .fds = {starting->stdin_fd >= 0 ? starting->stdin_fd : s->null_fd, -1, -1},
        .values_fd = -1,
        .nofile = s->nofile,
        .reset_oom = s->reset_oom,
    };
    char **env = make_env(s, &starting->request, &marks);
    enum spawn_step step = SPAWN_STEP_PIPE;
    setup.env = env;
    if (!env)
        *ret_error = ENOMEM;
    else if (!make_pipes(s, run, &starting->user, starting->request.is_merged, setup.fds) ||
             !make_values(s, starting, &setup.values_fd))
        *ret_error = errno;
    else
        step = make_process(s, run, &setup, held, ret_error);
    if (setup.fds[2] >= 0 && setup.fds[2] != setup.fds[1])
        close(setup.fds[2]);
    if (setup.fds[1] >= 0)
        close(setup.fds[1]);
    if (setup.values_fd >= 0)
        close(setup.values_fd);
    free(env);
    return step;
}

static void close_pipes(struct run *run)
{
    for (int i = 0; i < 2; i++) {
        if (run->streams[i].watch.fd >= 0)
            close(run->streams[i].watch.fd);
        run->streams[i].watch.fd = -1;
    }
}

/* Checks what can be checked before the journal is written. False: the run has failed. */
static bool check(struct spawner *s, struct run *run, const struct spawn_request *request,
                  int64_t now_boot_ms, struct user_ids *ret_user)
{
    int error = 0;
    enum spawn_step step = SPAWN_STEP_NONE;
    if (s->is_stopping) {
        step = SPAWN_STEP_SPAWNER;
    } else if (request->deadline_boot_ms && now_boot_ms >= request->deadline_boot_ms) {
        life_fail(s, run, SPAWN_EXPIRED, SPAWN_STEP_DEADLINE, 0);
        return false;
    } else if (!has_fds_left(s, 1)) {
        step = SPAWN_STEP_PIPE;
        error = EMFILE;
    } else {
        step = user_find(&s->users, now_boot_ms, request, s->options.allow_file, ret_user, &error);
    }
    if (step != SPAWN_STEP_NONE)
        life_fail(s, run, SPAWN_START_FAILED, step, error);
    return step == SPAWN_STEP_NONE;
}

/* False: the run has failed. */
static bool keep_secrets(struct spawner *s, struct run *run, const struct spawn_request *request)
{
    if (!request->secret_count)
        return true;
    run->has_secrets = true;
    enum status st = masking_new(request, &run->masking);
    s->maskings += st == OK;
    if (st != OK)
        life_fail(s, run, SPAWN_START_FAILED, SPAWN_STEP_SECRETS, st == E_NOMEM ? ENOMEM : errno);
    return st == OK;
}

struct run *start_new(struct spawner *s, const struct spawn_request *request)
{
    struct run *run = run_by_id(&s->runs, request->id);
    if (run) {
        agent_report(s, run, REPORT_KNOWN);
        return NULL;
    }
    run = run_new(&s->runs, request->id);
    if (!run) {
        serve_log("event=start_refused run=%s reason=\"out of memory\"", request->id);
        agent_link_drop(&s->link); /* it reconnects, and sees that the run is unknown */
        return NULL;
    }
    int64_t now = clock_now().boot.ms; /* not the turn's: many starts may precede this one */
    int64_t at = request->at_boot_us / 1000;
    run->grace_ms = request->grace_ms;
    run->linger_ms = request->linger_s * 1000;
    run->timeout_at_boot_ms = request->timeout_ms ? (at > now ? at : now) + request->timeout_ms : 0;
    output_init(&run->output, request->head_bytes, request->tail_bytes);
    return keep_secrets(s, run, request) ? run : NULL;
}

void start_go(struct spawner *s, struct run *run, const struct spawn_request *request, void *block,
              int stdin_fd)
{
    struct starting starting = {
        .run = run, .request = *request, .block = block, .stdin_fd = stdin_fd};
    if (!check(s, run, request, clock_now().boot.ms, &starting.user)) {
        free(block);
        return;
    }
    s->starting[s->starting_count++] = starting;
    if (s->starting_count == START_BATCH)
        start_batch(s);
}

void start_add(struct spawner *s, const struct spawn_request *request, void *block, int stdin_fd)
{
    struct run *run = start_new(s, request);
    if (run)
        start_go(s, run, request, block, stdin_fd);
    else
        free(block);
}

static void start(struct spawner *s, const struct starting *starting, bool is_many)
{
    struct run *run = starting->run;
    int error = 0;
    enum spawn_step step = begin(s, starting, NULL, &error);
    if (step != SPAWN_STEP_NONE) {
        close_pipes(run);
        life_fail(s, run, SPAWN_START_FAILED, step, error);
        return;
    }
    run_add_pid(&s->runs, run);
    agent_report(s, run, REPORT_STARTED);
    life_began(s, run, is_many ? LISTEN_LATER_MS : 0);
}

/* ---- ahead of its time ---- */

bool start_hold(struct spawner *s, struct run *run, const struct spawn_request *request,
                int stdin_fd, struct launch **ret)
{
    int error = 0;
    struct starting starting = {.run = run, .request = *request, .stdin_fd = stdin_fd};
    if (s->is_stopping || !has_fds_left(s, HOLD_SHARE) ||
        user_find(&s->users, s->now_boot_ms, request, s->options.allow_file, &starting.user,
                  &error) != SPAWN_STEP_NONE)
        return false;
    cgroups_look(&s->cgroups, s->now_boot_ms);
    bool must_fork = starting.user.must_switch || limited_needs(&request->share);
    bool is_held = !must_fork && begin(s, &starting, ret, &error) == SPAWN_STEP_NONE;
    user_release(&starting.user);
    if (is_held)
        run_add_pid(&s->runs, run);
    else
        start_unhold(s, run);
    return is_held;
}

void start_unhold(struct spawner *s, struct run *run)
{
    close_pipes(run);
    if (run->slot != SLOT_NONE)
        slots_give(&s->slots, run->slot);
    run->slot = SLOT_NONE;
    cgroup_give(&s->cgroups, run->cgroup, run->info.id, false);
    run->cgroup = CGROUP_NONE;
    run_drop_pid(&s->runs, run);
    run->info.pid = 0;
    run->info.started_boot_ms = run->info.started_wall_ms = 0;
}

/* ---- a batch ---- */

/* From here on these ids never start again. Returns an errno. */
static int write_ids(struct spawner *s)
{
    life_write(s);
    for (size_t i = 0; i < s->starting_count; i++) {
        struct journal_record record = run_record(s->starting[i].run);
        if (journal_append(&s->journal, JOURNAL_STARTING, &record) != OK)
            return errno;
    }
    return journal_write(&s->journal) == OK ? 0 : errno;
}

void start_batch(struct spawner *s)
{
    size_t count = s->starting_count;
    if (count == 0)
        return;
    int error = write_ids(s);
    cgroups_look(&s->cgroups, s->now_boot_ms);
    for (size_t i = 0; i < count; i++) {
        struct starting *starting = &s->starting[i];
        if (error)
            life_fail(s, starting->run, SPAWN_START_FAILED, SPAWN_STEP_JOURNAL, error);
        else
            start(s, starting, count >= MANY);
        free(starting->block);
        user_release(&starting->user);
    }
    s->starting_count = 0;
    if (count >= MANY) /* more may come at once, and those that have ended are in their way */
        life_look(s);
    life_write(s);
}
