/* Starting: exit codes, what the child finds around it, and every way in which a start fails. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "harness.h"
#include "serve/low_fds.h"

static void ends_are_told(void **state)
{
    static const struct {
        int line;
        const char *script;
        enum spawn_reason reason;
        int code; /* exit code, or signal */
    } cases[] = {
        {__LINE__, "exit 0", SPAWN_EXITED, 0},
        {__LINE__, "exit 7", SPAWN_EXITED, 7},
        {__LINE__, "exit 255", SPAWN_EXITED, 255},
        {__LINE__, "kill -9 $$", SPAWN_SIGNALED, SIGKILL},
        {__LINE__, "kill -TERM $$", SPAWN_SIGNALED, SIGTERM},
        {__LINE__, "kill -PIPE $$; exit 3", SPAWN_SIGNALED, SIGPIPE}, /* not inherited as ignored */
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32];
        snprintf(id, sizeof(id), "end-%zu", i);
        harness_sh(h, id, cases[i].script);
        const struct spawn_run *run = harness_ended(h, id);
        int code = cases[i].reason == SPAWN_EXITED ? WEXITSTATUS(run->wait_status)
                                                   : WTERMSIG(run->wait_status);
        if (run->reason != cases[i].reason || code != cases[i].code)
            fail_msg("line %d: %s, status 0x%x", cases[i].line,
                     spawn_reason_text((enum spawn_reason)run->reason), run->wait_status);
        struct now now = clock_now();
        assert_true(run->pid > 0 && run->started_boot_ms > 0);
        assert_true(run->ended_boot_ms >= run->started_boot_ms);
        assert_in_range(run->ended_boot_ms, now.boot.ms - 20000, now.boot.ms);
        assert_in_range(run->ended_wall_ms, now.wall.ms - 20000, now.wall.ms);
        assert_true(run->max_rss_kib > 0);
    }
}

static void surroundings_are_as_asked_for(void **state)
{
    static const struct {
        int line;
        const char *script;
        const char *want;
    } cases[] = {
        {__LINE__, "echo /proc/self/fd/*", "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2"},
        {__LINE__, "readlink /proc/self/fd/0", "/dev/null"},
        {__LINE__, "pwd", "/usr"},
        {__LINE__, "umask", "0027"},
        {__LINE__, "nice", "5"},
        {__LINE__, "ulimit -n", "123"},
        {__LINE__, "ulimit -c", "0"},
        {__LINE__, "echo $A$PEAL_SPAWN_RUN", "1around-7"},
        {__LINE__, "grep SigBlk /proc/self/status", "SigBlk:\t0000000000000000"},
        {__LINE__, "echo $((0x$(sed -n 's/SigIgn:.//p' /proc/self/status) & 0x7fffffff))", "0"},
        {__LINE__, "[ $(cut -d ' ' -f 6 /proc/$$/stat) = $$ ] && echo leader", "leader"},
        {__LINE__, "cat /proc/self/oom_score_adj", "0"},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32];
        struct shell shell;
        snprintf(id, sizeof(id), "around-%zu", i);
        shell_init(&shell, id, cases[i].script);
        shell.request.cwd = "/usr";
        shell.request.umask = 027;
        shell.request.nice = 5;
        shell.request.limits_set = 1u << SPAWN_LIMIT_NOFILE | 1u << SPAWN_LIMIT_CORE;
        shell.request.limits[SPAWN_LIMIT_NOFILE] = 123;
        harness_start(h, &shell.request);
        harness_ended(h, id);
        char *text = harness_output(h, id, 0, NULL, NULL);
        text[strcspn(text, "\n")] = '\0';
        /* the glob is expanded by the shell itself, which has opened the folder as 3 */
        text[i == 0 ? strcspn(text, "3") : strlen(text)] = '\0';
        if (strncmp(text, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("line %d: got \"%s\"", cases[i].line, text);
        free(text);
    }
}

static void only_three_descriptors_are_inherited(void **state)
{
    struct harness *h = *state;
    enum { NEIGHBOURS = 100 }; /* more than have their descriptors below LAUNCH_FDS */
    char id[32];
    for (int i = 0; i < NEIGHBOURS; i++) { /* whose pipes must not leak */
        snprintf(id, sizeof(id), "neighbour-%d", i);
        harness_sh(h, id, "exec sleep 100");
    }
    harness_wait(h, harness_seen(h, id)->started == 1);
    struct shell shell;
    shell_init(&shell, "fds", "");
    char *argv[] = {(char *)"ls", (char *)"/proc/self/fd", NULL};
    shell.request.argv = argv;
    harness_start(h, &shell.request);
    harness_ended(h, "fds");
    char *text = harness_output(h, "fds", SPAWN_STDOUT, NULL, NULL);
    assert_string_equal(text, "0\n1\n2\n3\n"); /* 3 is the folder that ls reads */
    free(text);
}

static void stdin_is_given(void **state)
{
    struct harness *h = *state;
    size_t length = 3 << 20; /* more than a message or a pipe takes */
    char *bytes = malloc(length);
    assert_non_null(bytes);
    memset(bytes, 'x', length);
    struct shell shell;
    shell_init(&shell, "stdin", "wc -c");
    shell.request.stdin_bytes = bytes;
    shell.request.stdin_length = length;
    harness_start(h, &shell.request);
    free(bytes);
    harness_ended(h, "stdin");
    char *text = harness_output(h, "stdin", 0, NULL, NULL);
    assert_int_equal(atoi(text), length);
    free(text);
}

/* Without cgroups, whose descriptors are open for long, an input has a low number, which the next
 * input has again as soon as it is closed. */
static void each_run_of_a_burst_has_its_own_stdin(void **state)
{
    struct harness *h = *state;
    enum { COUNT = 100 };
    char id[32];
    for (int i = 0; i < COUNT; i++) {
        struct shell shell;
        snprintf(id, sizeof(id), "run-%d", i);
        shell_init(&shell, id, "cat");
        shell.request.stdin_bytes = id;
        shell.request.stdin_length = strlen(id);
        harness_start(h, &shell.request);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "run-%d", i);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_EXITED);
        char *text = harness_output(h, id, 0, NULL, NULL);
        assert_string_equal(text, id);
        free(text);
    }
}

static void failures_to_start_are_told(void **state)
{
    struct harness *h = *state;
    char plain[256], long_argument[140000];
    harness_path(h, "plain", plain, sizeof(plain));
    int fd = open(plain, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, "x", 1) == 1);
    close(fd);
    char text_file[256];
    harness_path(h, "text", text_file, sizeof(text_file));
    fd = open(text_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_true(fd >= 0 && write(fd, "true\n", 5) == 5);
    close(fd);
    memset(long_argument, 'a', sizeof(long_argument) - 1);
    long_argument[sizeof(long_argument) - 1] = '\0';
    const struct {
        int line;
        const char *command, *argument, *cwd, *user;
        enum spawn_step step;
        int error;
    } cases[] = {
        {__LINE__, "/no/such/file", "", "", "", SPAWN_STEP_EXEC, ENOENT},
        {__LINE__, "no-such-command", "", "", "", SPAWN_STEP_EXEC, ENOENT},
        {__LINE__, "", "", "", "", SPAWN_STEP_EXEC, ENOENT},
        {__LINE__, plain, "", "", "", SPAWN_STEP_EXEC, EACCES},
        {__LINE__, "/etc", "", "", "", SPAWN_STEP_EXEC, EACCES},
        {__LINE__, text_file, "", "", "", SPAWN_STEP_EXEC, ENOEXEC},
        {__LINE__, "/bin/true", long_argument, "", "", SPAWN_STEP_EXEC, E2BIG},
        {__LINE__, "/bin/true", "", "/no/such/folder", "", SPAWN_STEP_CWD, ENOENT},
        {__LINE__, "/bin/true", "", "/etc/passwd", "", SPAWN_STEP_CWD, ENOTDIR},
        {__LINE__, "/bin/true", "", "", "no-such-user", SPAWN_STEP_USER, 0},
        {__LINE__, "/bin/true", "", "", "daemon", SPAWN_STEP_ALLOW, 0}, /* there is no list */
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32];
        struct shell shell;
        snprintf(id, sizeof(id), "fail-%zu", i);
        shell_init(&shell, id, "");
        char *argv[] = {(char *)cases[i].command, (char *)cases[i].argument, NULL};
        shell.request.argv = argv;
        shell.request.cwd = cases[i].cwd;
        if (*cases[i].user) {
            shell.request.user = cases[i].user;
            shell.request.is_default_user = false;
        }
        harness_start(h, &shell.request);
        const struct spawn_run *run = harness_ended(h, id);
        char why[128];
        if (run->reason != SPAWN_START_FAILED || run->step != cases[i].step ||
            run->error != cases[i].error)
            fail_msg("line %d: %s", cases[i].line, spawn_failure_text(run, why, sizeof(why)));
    }
    harness_sh(h, "after", "exit 0");
    assert_int_equal(harness_ended(h, "after")->reason, SPAWN_EXITED);
}

/* Hundreds on their way to the exec at the same time: each finds its own end. */
static void starts_do_not_mix(void **state)
{
    static const struct {
        const char *command;
        enum spawn_reason reason;
        int error;
    } cases[] = {
        {"true", SPAWN_EXITED, 0},
        {"no-such-command", SPAWN_START_FAILED, ENOENT},
        {"/etc", SPAWN_START_FAILED, EACCES},
        {"/etc/passwd/no", SPAWN_START_FAILED, ENOTDIR},
    };
    struct harness *h = *state;
    enum { COUNT = 400 };
    char id[32];
    for (size_t i = 0; i < COUNT; i++) {
        struct shell shell;
        snprintf(id, sizeof(id), "mixed-%zu", i);
        shell_init(&shell, id, "");
        char *argv[] = {(char *)cases[i % ROWS(cases)].command, NULL};
        shell.request.argv = argv;
        harness_start(h, &shell.request);
    }
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "mixed-%zu", i);
        const struct spawn_run *run = harness_ended(h, id);
        if (run->reason != cases[i % ROWS(cases)].reason ||
            run->error != cases[i % ROWS(cases)].error)
            fail_msg("%s: %s, error %d", id, spawn_reason_text((enum spawn_reason)run->reason),
                     run->error);
    }
}

static void environments_of_every_size_arrive(void **state)
{
    static const size_t sizes[] = {0, 100, 8000, 28000, 28600, 28700, 30000, 120000};
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(sizes); i++) { /* a launch holds some of them, others not */
        char id[32], *variable = malloc(sizes[i] + 3);
        assert_non_null(variable);
        memset(variable, 'x', sizes[i] + 2);
        memcpy(variable, "B=", 2);
        variable[sizes[i] + 2] = '\0';
        struct shell shell;
        snprintf(id, sizeof(id), "size-%zu", i);
        shell_init(&shell, id, "echo $A ${#B}");
        shell.env[2] = variable;
        harness_start(h, &shell.request);
        free(variable);
        harness_ended(h, id);
        char *text = harness_output(h, id, 0, NULL, NULL), want[32];
        snprintf(want, sizeof(want), "1 %zu\n", sizes[i]);
        if (strcmp(text, want) != 0)
            fail_msg("%zu bytes: got \"%s\"", sizes[i], text);
        free(text);
    }
}

static void limits_that_stop_a_start_are_told(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "limit", "exit 0");
    shell.request.limits_set = 1u << SPAWN_LIMIT_NOFILE;
    shell.request.limits[SPAWN_LIMIT_NOFILE] = (uint64_t)1 << 40; /* above what Linux knows */
    harness_start(h, &shell.request);
    const struct spawn_run *run = harness_ended(h, "limit");
    assert_int_equal(run->reason, SPAWN_START_FAILED);
    assert_int_equal(run->step, SPAWN_STEP_LIMITS);
}

static void running_out_of_descriptors_is_told(void **state)
{
    struct harness *h = *state;
    struct rlimit before, none = {20, 20};
    if (prlimit((pid_t)h->hello.pid, RLIMIT_NOFILE, NULL, &before) < 0) {
        print_message("the limits of another process can't be set here\n");
        skip();
    }
    none.rlim_max = before.rlim_max;
    assert_int_equal(prlimit((pid_t)h->hello.pid, RLIMIT_NOFILE, &none, NULL), 0);
    harness_sh(h, "no-room", "exit 0");
    const struct spawn_run *run = harness_ended(h, "no-room");
    assert_int_equal(run->reason, SPAWN_START_FAILED);
    assert_int_equal(run->step, SPAWN_STEP_PIPE);
    assert_int_equal(run->error, EMFILE);
    assert_int_equal(prlimit((pid_t)h->hello.pid, RLIMIT_NOFILE, &before, NULL), 0);
    harness_sh(h, "room", "exit 0");
    assert_int_equal(harness_ended(h, "room")->reason, SPAWN_EXITED);
}

static void an_expired_start_never_runs(void **state)
{
    struct harness *h = *state;
    char script[512], path[256];
    harness_path(h, "ran", path, sizeof(path));
    snprintf(script, sizeof(script), "touch %s", path);
    struct shell shell;
    shell_init(&shell, "late", script);
    shell.request.deadline_boot_ms = clock_now().boot.ms - 1;
    harness_start(h, &shell.request);
    assert_int_equal(harness_ended(h, "late")->reason, SPAWN_EXPIRED);
    shell.request.deadline_boot_ms = clock_now().boot.ms + 60000; /* the same id again */
    harness_start(h, &shell.request);
    harness_wait(h, harness_seen(h, "late")->known == 1);
    assert_int_equal(harness_seen(h, "late")->run.reason, SPAWN_EXPIRED);
    harness_sh(h, "barrier", "exit 0");
    harness_ended(h, "barrier");
    assert_int_equal(access(path, F_OK), -1);
    shell.request.id = "in-time";
    harness_start(h, &shell.request);
    assert_int_equal(harness_ended(h, "in-time")->reason, SPAWN_EXITED);
    assert_int_equal(access(path, F_OK), 0);
}

static void a_second_start_does_not_run_twice(void **state)
{
    struct harness *h = *state;
    char script[512], path[256], text[64];
    harness_path(h, "count", path, sizeof(path));
    snprintf(script, sizeof(script), "echo once >> %s; sleep 0.2", path);
    for (int i = 0; i < 3; i++)
        harness_sh(h, "twice", script);
    harness_ended(h, "twice");
    int known = harness_seen(h, "twice")->known;
    assert_in_range(known, 1, 2);
    harness_sh(h, "twice", script); /* also when it has ended */
    harness_wait(h, harness_seen(h, "twice")->known > known);
    assert_int_equal(harness_seen(h, "twice")->started, 1);
    assert_int_equal(harness_seen(h, "twice")->ended, 1);
    harness_file(h, "count", text, sizeof(text));
    assert_string_equal(text, "once\n");
}

/* Each of these is copied by every process that is made, and closed by it again: low_fds.h. */
static int low_descriptors(const struct harness *h)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", spawn_client_spawner(h->client)->pid);
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.' && atoi(entry->d_name) < LOW_FDS;
    closedir(folder);
    return count;
}

static void runs_that_go_on_leave_the_low_descriptors(void **state)
{
    enum { LASTING = 200, FEW = 24 };
    struct harness *h = *state;
    char id[32];
    for (int i = 0; i < LASTING; i++) {
        snprintf(id, sizeof(id), "lasts-%d", i);
        harness_sh(h, id, "echo on its way; exec sleep 60");
    }
    for (int i = 0; i < LASTING; i++) {
        snprintf(id, sizeof(id), "lasts-%d", i);
        harness_wait(h, harness_seen(h, id)->grew > 0); /* its output file is open */
    }
    int low = low_descriptors(h);
    if (low < 0) {
        print_message("the descriptors of the spawner can't be looked at\n");
        skip();
    }
    assert_in_range(low, 3, FEW);
}

static void bad_requests_are_refused_at_once(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    char *none[] = {NULL};
    char *big = malloc(SPAWN_MESSAGE_MAX + 1);
    assert_non_null(big);
    memset(big, 'x', SPAWN_MESSAGE_MAX);
    big[SPAWN_MESSAGE_MAX] = '\0';
    shell_init(&shell, "../escape", "exit 0");
    assert_int_equal(spawn_client_start(h->client, &shell.request), E_INVALID);
    shell.request.id = "";
    assert_int_equal(spawn_client_start(h->client, &shell.request), E_INVALID);
    shell.request.id = "ok";
    shell.request.argv = none;
    assert_int_equal(spawn_client_start(h->client, &shell.request), E_INVALID);
    shell_init(&shell, "ok", big);
    assert_int_equal(spawn_client_start(h->client, &shell.request), E_TOO_LARGE);
    free(big);
}

static int write_oom_score(const char *text)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    bool wrote = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return wrote ? 0 : -1;
}

static int setup_with_oom_score(void **state)
{
    return write_oom_score("200") < 0 || harness_setup(state) < 0 ? -1 : write_oom_score("0");
}

static void the_oom_score_is_reset_for_runs_only(void **state)
{
    struct harness *h = *state;
    char script[128];
    snprintf(script, sizeof(script), "cat /proc/self/oom_score_adj /proc/%u/oom_score_adj",
             h->hello.pid);
    harness_sh(h, "oom", script);
    harness_ended(h, "oom");
    char *text = harness_output(h, "oom", 0, NULL, NULL);
    assert_string_equal(text, "0\n200\n");
    free(text);
}

#define PIPES_KEPT 1024

/* Without those of the cgroups that it keeps, nor the pipes, of which there may be so many. */
static int count_fds(uint32_t pid)
{
    int pipes = 0;
    char path[64], target[512];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));) {
        ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
        target[length > 0 ? length : 0] = '\0';
        bool is_pipe = strncmp(target, "pipe:", 5) == 0;
        count += !is_pipe && !strstr(target, "/pool.");
        pipes += is_pipe;
    }
    closedir(dir);
    assert_in_range(pipes, 0, PIPES_KEPT);
    return count;
}

static void five_thousand_start_in_one_instant(void **state)
{
    struct harness *h = *state;
    enum { COUNT = 5000 };
    struct shell shell;
    char id[32];
    char *argv[] = {(char *)"/bin/true", NULL};
    int fds = count_fds(h->hello.pid);
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "many-%d", i);
        shell_init(&shell, id, "");
        shell.request.argv = argv;
        harness_start(h, &shell.request);
    }
    for (int done = 0; h->ended_count < COUNT; done = h->ended_count) {
        harness_begin_wait(h);
        harness_wait(h, h->ended_count >= done + 100 || h->ended_count == COUNT);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "many-%d", i);
        const struct seen *seen = harness_seen(h, id);
        assert_true(seen->started == 1 && seen->ended == 1 && seen->run.reason == SPAWN_EXITED);
        harness_ack(h, id);
    }
    harness_sh(h, "barrier", "exit 0"); /* behind all that was acknowledged */
    harness_ended(h, "barrier");
    assert_int_equal(count_fds(h->hello.pid), fds);
    harness_detach(h);
    harness_attach(h);
    assert_int_equal(h->hello.runs, 1);
}

static void write_list(struct harness *h, const char *text, mode_t mode)
{
    unlink(h->allow_file);
    int fd = open(h->allow_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* `id -un` as the user; "" if it was not allowed. */
static const char *user_that_ran(struct harness *h, struct shell *shell)
{
    static char name[64];
    harness_start(h, &shell->request);
    const struct spawn_run *run = harness_ended(h, shell->request.id);
    char *text = harness_output(h, shell->request.id, 0, NULL, NULL);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    if (run->reason == SPAWN_START_FAILED && run->step == SPAWN_STEP_ALLOW)
        return "";
    return run->reason == SPAWN_EXITED ? name : "?";
}

static void root_switches_to_allowed_users_only(void **state)
{
    static const struct {
        int line;
        const char *list;
        mode_t mode;
        const char *job, *user;
        const char *want; /* whom it ran as; "": nobody, it was refused */
    } cases[] = {
        {__LINE__, "nobody\n", 0644, "job", "nobody", "nobody"},
        {__LINE__, "# all\n  *  \n", 0600, "a/job", "nobody", "nobody"},
        {__LINE__, "daemon\nnobody # ours\n", 0600, "", "nobody", "nobody"},
        {__LINE__, "nobody\n", 0666, "job", "nobody", ""}, /* anyone could have written it */
        {__LINE__, "nobody\n", 0664, "job", "nobody", ""},
        {__LINE__, "nobody2\n# nobody\n", 0600, "job", "nobody", ""},
        {__LINE__, "", 0600, "job", "nobody", ""},
        {__LINE__, "a/ daemon nobody\n", 0600, "a/job", "nobody", "nobody"},
        {__LINE__, "a/ daemon nobody\n", 0600, "a/b/job", "daemon", "daemon"},
        {__LINE__, "a/ nobody\n", 0600, "b/job", "nobody", ""},
        {__LINE__, "a/ nobody\n", 0600, "ab/job", "nobody", ""},
        {__LINE__, "a/ nobody\n", 0600, "a", "nobody", ""},
        {__LINE__, "a/ nobody\n", 0600, "", "nobody", ""},
        {__LINE__, "a/\nnobody a/\n", 0600, "b/job", "nobody", "nobody"}, /* as it always was */
        {__LINE__, "a/ # nobody\n", 0600, "a/job", "nobody", ""},
        /* root is a user like others, and never one of all */
        {__LINE__, "daemon\n", 0600, "job", "root", ""},
        {__LINE__, "*\na/ *\n", 0600, "a/job", "root", ""},
        {__LINE__, "a/ root\n", 0600, "a/job", "root", "root"},
        {__LINE__, "a/ root\n", 0600, "b/job", "root", ""},
        {__LINE__, "*\nroot\n", 0600, "job", "", ""}, /* whom did it mean? */
    };
    struct harness *h = *state;
    if (geteuid() != 0) {
        print_message("only root can start runs as other users\n");
        skip();
    }
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32];
        struct shell shell;
        write_list(h, cases[i].list, cases[i].mode);
        snprintf(id, sizeof(id), "user-%zu", i);
        shell_init(&shell, id, "id -un");
        shell.request.job = cases[i].job;
        shell.request.user = cases[i].user;
        shell.request.is_default_user = false;
        const char *got = user_that_ran(h, &shell);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("line %d: ran as \"%s\"", cases[i].line, got);
    }
}

static void the_operators_user_needs_no_list(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    if (geteuid() != 0) {
        print_message("only root can start runs as other users\n");
        skip();
    }
    shell_init(&shell, "default", "id -un; id -Gn; echo wrote > /dev/stderr");
    shell.request.user = "nobody";
    harness_start(h, &shell.request);
    assert_int_equal(harness_ended(h, "default")->reason, SPAWN_EXITED);
    char *text = harness_output(h, "default", 0, NULL, NULL);
    assert_string_equal(text, "nobody\nnogroup\nwrote\n");
    free(text);
    shell_init(&shell, "none", "id -un");
    shell.request.user = ""; /* an operator who has set nobody has not set root */
    assert_string_equal(user_that_ran(h, &shell), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(ends_are_told),
        TEST(surroundings_are_as_asked_for),
        TEST(only_three_descriptors_are_inherited),
        TEST(stdin_is_given),
        cmocka_unit_test_setup_teardown(each_run_of_a_burst_has_its_own_stdin,
                                        harness_setup_without_cgroup, harness_teardown),
        TEST(failures_to_start_are_told),
        TEST(starts_do_not_mix),
        TEST(environments_of_every_size_arrive),
        TEST(limits_that_stop_a_start_are_told),
        TEST(running_out_of_descriptors_is_told),
        TEST(an_expired_start_never_runs),
        TEST(a_second_start_does_not_run_twice),
        TEST(runs_that_go_on_leave_the_low_descriptors),
        TEST(bad_requests_are_refused_at_once),
        cmocka_unit_test_setup_teardown(the_oom_score_is_reset_for_runs_only, setup_with_oom_score,
                                        harness_teardown),
        TEST(five_thousand_start_in_one_instant),
        TEST(root_switches_to_allowed_users_only),
        TEST(the_operators_user_needs_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
