/* What outlives whom: runs outlive the agent, the spawner's death and its upgrade. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "harness.h"
#include "proc.h"
#include "spawn_launch.h"

static void a_new_agent_gets_what_it_missed(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "short", "echo missed; exit 6");
    harness_sh(h, "long", "while [ ! -e go ]; do sleep 0.02; done; echo went; exit 5");
    harness_wait(h, harness_seen(h, "long")->started == 1);
    harness_detach(h);
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(harness_seen(h, "long")->known, 1);
    assert_int_equal(harness_seen(h, "long")->run.reason, SPAWN_NOT_ENDED);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "short")->wait_status), 6);
    char *text = harness_output(h, "short", 0, NULL, NULL);
    assert_string_equal(text, "missed\n");
    free(text);
    for (int i = 0; i < 3; i++) { /* told again and again until it is acknowledged */
        harness_detach(h);
        h->seen_count = 0;
        harness_attach(h);
        assert_int_equal(harness_ended(h, "short")->reason, SPAWN_EXITED);
    }
    harness_ack(h, "short");
    assert_int_equal(spawn_client_kill(h->client, "long", 0, -1), OK);
    harness_ended(h, "long");
    harness_ack(h, "long");
    harness_sh(h, "barrier", "exit 0");
    harness_ended(h, "barrier");
    harness_detach(h);
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(h->hello.runs, 1);
    assert_int_equal(harness_seen(h, "short")->known, 0);
}

static void the_newer_agent_wins(void **state)
{
    struct harness *h = *state;
    struct harness newer = *h;
    newer.client = NULL;
    newer.seen = NULL;
    newer.seen_count = 0;
    harness_attach(&newer);
    harness_wait(h, h->was_replaced);
    harness_sh(&newer, "mine", "exit 0");
    assert_int_equal(harness_ended(&newer, "mine")->reason, SPAWN_EXITED);
    assert_int_equal(harness_seen(h, "mine")->started, 0);
    harness_detach(&newer);
    free(newer.seen);
}

static void a_killed_spawner_is_answered_for(void **state)
{
    struct harness *h = *state;
    char path[256], script[512];
    harness_path(h, "go", path, sizeof(path));
    snprintf(script, sizeof(script),
             "echo one; while [ ! -e %s ]; do echo more; sleep 0.05; done; echo two; exit 5", path);
    harness_sh(h, "ended", "echo out; exit 7");
    harness_ended(h, "ended");
    harness_sh(h, "lives", script);
    harness_sh(h, "dies", "sleep 100");
    harness_wait(h, harness_seen(h, "lives")->run.output_bytes > 0);
    harness_wait(h, harness_seen(h, "dies")->started == 1);
    uint32_t old_pid = h->hello.pid;
    int victim = harness_seen(h, "dies")->run.pid;
    kill((pid_t)old_pid, SIGSTOP); /* so that it can't see the end of that run */
    kill(victim, SIGKILL);
    kill((pid_t)old_pid, SIGKILL);
    h->seen_count = 0;
    harness_wait(h, h->gone == 1);
    harness_wait(h, h->is_ready); /* the client has started another by itself */
    assert_true(h->hello.pid != old_pid);
    const struct spawn_run *run = harness_ended(h, "ended");
    assert_int_equal(WEXITSTATUS(run->wait_status), 7);
    run = harness_ended(h, "dies");
    assert_int_equal(run->reason, SPAWN_SIGNALED); /* the guard has seen it */
    assert_int_equal(WTERMSIG(run->wait_status), SIGKILL);
    assert_int_equal(harness_seen(h, "lives")->run.reason, SPAWN_NOT_ENDED);
    harness_sh(h, "lives", "exit 1"); /* its id is still taken */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    run = harness_ended(h, "lives");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(WEXITSTATUS(run->wait_status), 5);
    char *text = harness_output(h, "lives", 0, NULL, NULL);
    assert_memory_equal(text, "one\nmore\n", 9);
    assert_non_null(strstr(text, "more\ntwo\n")); /* not killed by SIGPIPE, and read to its end */
    free(text);
}

/* Runs that end while there is no spawner, and after several have been killed. */
static void ends_are_known_without_a_spawner(void **state)
{
    struct harness *h = *state;
    char script[512], go[256];
    harness_path(h, "go", go, sizeof(go));
    snprintf(script, sizeof(script), "echo one; until [ -e %s ]; do sleep 0.02; done; exit 6", go);
    harness_sh(h, "through", script);
    harness_sh(h, "meanwhile",
               "trap 'echo kept; trap - USR1; kill -USR1 $$' USR1; while :; do sleep 0.1; done");
    harness_wait(h, harness_seen(h, "through")->run.output_bytes > 0 &&
                        harness_seen(h, "meanwhile")->started == 1);
    int guard = process_parent((int)h->hello.pid);
    int victim = harness_seen(h, "meanwhile")->run.pid;
    kill(guard, SIGSTOP); /* no other spawner for a while */
    kill((pid_t)h->hello.pid, SIGKILL);
    harness_wait(h, h->gone == 1);
    kill(victim, SIGUSR1);
    harness_wait(h, !process_lives(victim));
    h->seen_count = 0;
    kill(guard, SIGCONT);
    harness_wait(h, h->is_ready);
    assert_int_equal(process_parent((int)h->hello.pid), guard);
    const struct spawn_run *run = harness_ended(h, "meanwhile");
    assert_int_equal(run->reason, SPAWN_SIGNALED);
    assert_int_equal(WTERMSIG(run->wait_status), SIGUSR1);
    char *text = harness_output(h, "meanwhile", SPAWN_STDOUT, NULL, NULL);
    assert_string_equal(text, "kept\n"); /* its pipes have outlived it and the spawner */
    free(text);
    for (int kills = 2; kills < 5; kills++) {
        kill((pid_t)h->hello.pid, SIGKILL);
        harness_wait(h, h->gone == kills);
        harness_wait(h, h->is_ready);
    }
    harness_touch(h, "go");
    run = harness_ended(h, "through");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(WEXITSTATUS(run->wait_status), 6);
    harness_ack(h, "through");
    harness_ack(h, "meanwhile");
    harness_sh(h, "barrier", "exit 0");
    harness_ended(h, "barrier");
    harness_path(h, "ends", go, sizeof(go));
    assert_int_equal(access(go, F_OK), -1); /* nobody waits for it any more */
}

/* The agent leaves, then its spawner is killed with its guard. */
static void kill_pair(struct harness *h)
{
    int spawner = (int)h->hello.pid, guard = process_parent((int)h->hello.pid);
    harness_detach(h);
    kill(guard, SIGKILL);
    kill(spawner, SIGKILL);
    while (waitpid(guard, NULL, 0) > 0 || waitpid(spawner, NULL, 0) > 0)
        ; /* if they are children of this process */
    harness_wait(h, !process_lives(spawner));
}

/* Without a guard it is said what is known. */
static void unseen_ends_say_what_is_known(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "ends", "exec sleep 100");
    harness_sh(h, "goes", "exec sleep 100");
    harness_wait(h, harness_seen(h, "ends")->started == 1 && harness_seen(h, "goes")->started == 1);
    int ends = harness_seen(h, "ends")->run.pid, goes = harness_seen(h, "goes")->run.pid;
    int64_t before = clock_now().wall.ms;
    kill_pair(h);
    kill(goes, SIGKILL);
    harness_wait(h, !process_lives(goes));
    h->seen_count = 0;
    harness_attach(h);
    const struct spawn_run *run = harness_ended(h, "goes");
    assert_int_equal(run->reason, SPAWN_UNKNOWN);
    assert_int_equal(run->error, SPAWN_UNSEEN_GONE);
    assert_int_equal(harness_seen(h, "ends")->run.reason, SPAWN_NOT_ENDED);
    kill(ends, SIGKILL);
    run = harness_ended(h, "ends");
    assert_int_equal(run->reason, SPAWN_UNKNOWN);
    assert_int_equal(run->error, SPAWN_UNSEEN_END);
    assert_true(run->ended_wall_ms >= before);
}

/* Its process has ended, but nobody has waited for it yet when the next spawner looks: the pipes
 * are gone with what was in them, and the output says so. One that has redirected its output itself
 * misses nothing. */
static void output_lost_with_a_zombie_is_told(void **state)
{
    struct harness *h = *state;
    siginfo_t info;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    kill_pair(h);
    harness_attach(h); /* to a spawner whose orphans become children of this process */
    harness_sh(h, "zombie", "echo one; exec sleep 100");
    harness_sh(h, "elsewhere", "echo one; exec sleep 100 >/dev/null 2>&1");
    harness_wait(h, harness_seen(h, "zombie")->run.output_bytes > 0 &&
                        harness_seen(h, "elsewhere")->run.output_bytes > 0);
    int zombie = harness_seen(h, "zombie")->run.pid;
    int elsewhere = harness_seen(h, "elsewhere")->run.pid;
    harness_wait(h, proc_has(elsewhere, "cmdline", "sleep"));
    kill_pair(h);
    harness_wait(h, process_parent(zombie) == getpid());
    kill(zombie, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), 0);
    h->seen_count = 0;
    harness_attach(h);
    const struct spawn_run *run = harness_ended(h, "zombie");
    assert_int_equal(run->reason, SPAWN_UNKNOWN);
    char *text = harness_output(h, "zombie", 0, NULL, NULL);
    assert_non_null(strstr(text, "one\npeal: the spawner was killed while this ran"));
    free(text);
    kill(elsewhere, SIGKILL);
    harness_ended(h, "elsewhere");
    text = harness_output(h, "elsewhere", 0, NULL, NULL);
    assert_string_equal(text, "one\n");
    free(text);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* Of the guard's children; 0: there is none. */
static int keeper_of(int guard)
{
    char path[64], list[256] = "";
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", guard, guard);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    if (!fgets(list, sizeof(list), file))
        list[0] = '\0';
    fclose(file);
    char *at = list;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;)
        if (process_lives((int)pid) && proc_has((int)pid, "comm", "peal-keeper"))
            return (int)pid;
    return 0;
}

/* One that is killed is replaced, so that output outlives the spawner all the same. */
static void a_killed_keeper_is_replaced(void **state)
{
    struct harness *h = *state;
    int guard = process_parent((int)h->hello.pid);
    harness_wait(h, keeper_of(guard) > 0);
    int first = keeper_of(guard);
    int64_t since = clock_now().boot.ms;
    harness_wait(h, clock_now().boot.ms - since > 1000); /* else it is taken for one that fails */
    kill(first, SIGKILL);
    harness_wait(h, keeper_of(guard) > 0 && keeper_of(guard) != first);
    int second = keeper_of(guard);
    harness_sh(h, "writes", "echo one; kill -STOP $PPID; echo two; kill -KILL $PPID");
    const struct spawn_run *run = harness_ended(h, "writes");
    assert_int_equal(run->reason, SPAWN_EXITED);
    char *text = harness_output(h, "writes", 0, NULL, NULL);
    assert_string_equal(text, "one\ntwo\n");
    free(text);
    assert_int_equal(h->hello.pid, second); /* it is the spawner now */
}

/* How often the line stands in the text. */
static int count_line(const char *text, const char *line)
{
    int count = 0;
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at += length)
        count += (at == text || at[-1] == '\n') && at[length] == '\n';
    return count;
}

static void nothing_runs_twice_however_often_it_is_killed(void **state)
{
    enum { KILLS = 4, EACH = 100, COUNT = KILLS * EACH };
    struct harness *h = *state;
    char path[256], script[512], id[32];
    harness_path(h, "ran", path, sizeof(path));
    snprintf(script, sizeof(script), "echo $PEAL_SPAWN_RUN >> %s", path);
    for (int kills = 1; kills <= KILLS; kills++) {
        int ended = h->ended_count;
        for (int i = (kills - 1) * EACH; i < kills * EACH; i++) {
            snprintf(id, sizeof(id), "once-%d", i);
            harness_sh(h, id, script);
        }
        harness_wait(h, h->ended_count > ended + 20);
        kill((pid_t)h->hello.pid, SIGKILL);
        harness_wait(h, h->gone == kills);
        harness_wait(h, h->is_ready);
    }
    for (int i = 0; i < COUNT; i++) { /* what was not answered has been sent again */
        snprintf(id, sizeof(id), "once-%d", i);
        harness_ended(h, id);
    }
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    harness_file(h, "ran", text, 1 << 16);
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "once-%d", i);
        const struct spawn_run *run = &harness_seen(h, id)->run;
        int count = count_line(text, id);
        /* Only one that was being started can be unknown. */
        bool may_be_unknown = run->error == SPAWN_UNSEEN_START;
        if (count > 1 || (count == 0 && run->reason != SPAWN_UNKNOWN) ||
            (run->reason == SPAWN_UNKNOWN && !may_be_unknown))
            fail_msg("%s ran %d times: %s", id, count,
                     spawn_reason_text((enum spawn_reason)run->reason));
    }
    free(text);
}

static void an_adopted_run_can_be_killed(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "timed", "sleep 100 & echo $!; wait");
    shell.request.timeout_ms = 1500;
    harness_start(h, &shell.request);
    harness_sh(h, "killed", "sleep 100 & echo $!; wait");
    harness_wait(h, harness_seen(h, "timed")->run.output_bytes > 0 &&
                        harness_seen(h, "killed")->run.output_bytes > 0);
    kill((pid_t)h->hello.pid, SIGKILL);
    harness_wait(h, h->gone == 1);
    harness_wait(h, h->is_ready);
    assert_int_equal(spawn_client_kill(h->client, "killed", 0, -1), OK);
    assert_int_equal(harness_ended(h, "killed")->reason, SPAWN_KILLED);
    assert_int_equal(harness_ended(h, "timed")->reason, SPAWN_TIMED_OUT);
    static const char *const ids[] = {"killed", "timed"};
    for (size_t i = 0; i < ROWS(ids); i++) {
        char *text = harness_output(h, ids[i], 0, NULL, NULL);
        assert_false(process_lives(atoi(text)));
        free(text);
    }
}

/* Found by its cgroup alone, also by a spawner that has not made it, and by the next image. */
static void who_left_everything_behind_is_killed_later(void **state)
{
    static const int signals[] = {SIGKILL, SIGHUP};
    struct harness *h = *state;
    if (!(h->hello.features & SPAWN_HAS_CGROUP))
        skip();
    for (size_t i = 0; i < ROWS(signals); i++) {
        char id[32], path[256], script[1024], text[32];
        snprintf(id, sizeof(id), "away-%zu", i);
        harness_path(h, id, path, sizeof(path));
        snprintf(script, sizeof(script),
                 "(setsid env -i /bin/sh -c 'echo $$ > %s; exec sleep 100' </dev/null >/dev/null "
                 "2>&1 &); exec sleep 100",
                 path);
        harness_sh(h, id, script);
        harness_file(h, id, text, sizeof(text));
        harness_wait(h, harness_seen(h, id)->started == 1);
        int gone = h->gone, known = harness_seen(h, id)->known;
        kill((pid_t)h->hello.pid, signals[i]);
        if (signals[i] == SIGKILL)
            harness_wait(h, h->gone > gone && h->is_ready && harness_seen(h, id)->known > known);
        /* Another run must not get into its cgroup either. */
        harness_sh(h, signals[i] == SIGKILL ? "next-0" : "next-1", "exit 0");
        harness_ended(h, signals[i] == SIGKILL ? "next-0" : "next-1");
        assert_true(process_lives(atoi(text)));
        assert_int_equal(spawn_client_kill(h->client, id, 0, 0), OK);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_KILLED);
        assert_false(process_lives(atoi(text)));
    }
}

static void an_upgrade_keeps_everything(void **state)
{
    struct harness *h = *state;
    char path[256], script[512];
    harness_path(h, "go", path, sizeof(path));
    snprintf(script, sizeof(script),
             "i=0; while [ ! -e %s ]; do i=$((i+1)); echo $i; echo e$i >&2; sleep 0.01; done; "
             "echo end; exit 5",
             path);
    uint32_t pid = h->hello.pid;
    struct shell shell;
    harness_sh(h, "before", "exit 7");
    harness_ended(h, "before");
    harness_sh(h, "through", script);
    shell_init(&shell, "timed", "sleep 100");
    shell.request.timeout_ms = 1500;
    harness_start(h, &shell.request);
    for (int i = 0; i < 20; i++) {
        uint64_t bytes = harness_seen(h, "through")->run.output_bytes;
        kill((pid_t)pid, SIGHUP);
        harness_wait(h, harness_seen(h, "through")->run.output_bytes > bytes);
    }
    assert_int_equal(h->gone, 0); /* not even the connection */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    const struct spawn_run *run = harness_ended(h, "through");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(WEXITSTATUS(run->wait_status), 5);
    char *text = harness_output(h, "through", SPAWN_STDOUT, NULL, NULL);
    int want = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strcmp(line, "end") != 0)
            assert_int_equal(atoi(line), ++want); /* none lost, none twice */
    assert_true(want > 20);
    free(text);
    assert_int_equal(harness_ended(h, "timed")->reason, SPAWN_TIMED_OUT);
    harness_sh(h, "after", "ls /proc/self/fd | wc -l; exit 3");
    assert_int_equal(WEXITSTATUS(harness_ended(h, "after")->wait_status), 3);
    text = harness_output(h, "after", 0, NULL, NULL);
    assert_int_equal(atoi(text), 4);
    free(text);
    harness_detach(h);
    harness_attach(h);
    assert_int_equal(h->hello.pid, pid);
}

/* A daemon, as earlier versions were: the leader of its session, and nobody above it. */
static void start_without_guard(struct harness *h)
{
    int fd, guard = process_parent((int)h->hello.pid);
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGTERM);
    harness_wait(h, !process_lives(guard)); /* it has the folder's lock, too */
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setsid();
        execl(h->program, h->program, "--dir", h->folder, "--allow", h->allow_file, (char *)NULL);
        _exit(99);
    }
    harness_wait(h, spawn_connect(h->folder, false, &fd) == OK);
    close(fd);
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(h->hello.pid, pid);
}

/* Its runs go on, and once there are none it makes room for one with a guard. */
static void an_upgraded_spawner_without_a_guard_is_replaced(void **state)
{
    struct harness *h = *state;
    char script[512], go[256];
    harness_path(h, "go", go, sizeof(go));
    snprintf(script, sizeof(script), "echo one; until [ -e %s ]; do sleep 0.02; done; exit 6", go);
    start_without_guard(h);
    int pid = (int)h->hello.pid;
    harness_sh(h, "through", script);
    harness_wait(h, harness_seen(h, "through")->run.output_bytes > 0);
    kill(pid, SIGHUP);
    harness_sh(h, "after", "exit 0");
    harness_ended(h, "after");
    harness_ack(h, "after");
    assert_int_equal(h->gone, 0);
    harness_touch(h, "go");
    assert_int_equal(WEXITSTATUS(harness_ended(h, "through")->wait_status), 6);
    harness_ack(h, "through");
    harness_wait(h, h->gone == 1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    harness_wait(h, h->is_ready);
    assert_true((int)h->hello.pid != pid);
    harness_sh(h, "next", "exit 3");
    assert_int_equal(WEXITSTATUS(harness_ended(h, "next")->wait_status), 3);
    assert_int_equal(getsid((pid_t)h->hello.pid), process_parent((int)h->hello.pid));
}

static void sigterm_ends_all_runs(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "one", "echo $$; sleep 100");
    harness_wait(h, harness_seen(h, "one")->run.output_bytes > 0);
    int pid = harness_seen(h, "one")->run.pid;
    uint32_t spawner = h->hello.pid;
    kill((pid_t)spawner, SIGTERM);
    assert_int_equal(harness_ended(h, "one")->reason, SPAWN_KILLED);
    assert_false(process_lives(pid));
    h->seen_count = 0;
    harness_wait(h, h->is_ready && h->hello.pid != spawner);
    assert_int_equal(harness_ended(h, "one")->reason, SPAWN_KILLED); /* from the journal */
}

static void it_ends_when_it_is_idle(void **state)
{
    struct harness *h = *state;
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGTERM);
    harness_wait(h, !process_lives((int)h->hello.pid));
    h->idle_ms = 200;
    harness_attach(h);
    harness_sh(h, "busy", "sleep 1; exit 0");
    harness_wait(h, harness_seen(h, "busy")->started == 1);
    int job = harness_seen(h, "busy")->run.pid;
    int spawner = (int)h->hello.pid, guard = process_parent((int)h->hello.pid);
    harness_detach(h);
    harness_wait(h, !process_lives(job));
    /* it was busy for five times its idle time */
    harness_wait(h, !process_lives(spawner));
    harness_wait(h, !process_lives(guard));
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(harness_ended(h, "busy")->reason, SPAWN_EXITED);
}

/* Else nobody could tell that it is a run's: see descent.h. */
static void it_stays_with_what_runs_left_behind(void **state)
{
    struct harness *h = *state;
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGTERM);
    harness_wait(h, !process_lives((int)h->hello.pid));
    h->idle_ms = 100;
    harness_attach(h);
    char script[512], go[256];
    harness_path(h, "go", go, sizeof(go));
    snprintf(script, sizeof(script),
             "setsid sh -c 'until [ -e %s ]; do sleep 0.02; done' >/dev/null 2>&1 & exit 0", go);
    harness_sh(h, "parent", script);
    assert_int_equal(harness_ended(h, "parent")->reason, SPAWN_EXITED);
    harness_ack(h, "parent");
    int spawner = (int)h->hello.pid;
    harness_detach(h);
    for (int64_t until_ms = clock_now().boot.ms + 10 * h->idle_ms; clock_now().boot.ms < until_ms;
         harness_turn(h, __FILE__, __LINE__, "nothing"))
        assert_true(process_lives(spawner));
    harness_touch(h, "go");
    harness_wait(h, !process_lives(spawner));
}

static int run_spawner(const struct harness *h)
{
    char command[5000];
    snprintf(command, sizeof(command), "%s --dir %s 2>/dev/null", h->program, h->folder);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_second_spawner_is_refused(void **state)
{
    struct harness *h = *state;
    assert_int_equal(run_spawner(h), 3);
    harness_sh(h, "still", "exit 0");
    assert_int_equal(harness_ended(h, "still")->reason, SPAWN_EXITED);
}

static void strangers_are_refused(void **state)
{
    struct harness *h = *state;
    const struct passwd *nobody = getpwnam("nobody");
    if (geteuid() != 0 || !nobody) {
        print_message("only root can ask as another user\n");
        skip();
    }
    char socket_path[256];
    struct stat st;
    harness_path(h, SPAWN_SOCKET, socket_path, sizeof(socket_path));
    assert_int_equal(stat(socket_path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* Even if the files were open to all. */
    assert_int_equal(chmod(h->folder, 0711), 0);
    assert_int_equal(chmod(socket_path, 0666), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int fd;
        char answer[16];
        if (setgid(nobody->pw_gid) < 0 || setuid(nobody->pw_uid) < 0 ||
            spawn_connect(h->folder, false, &fd) != OK)
            _exit(1);
        struct pollfd end = {.fd = fd, .events = POLLIN};
        bool closed = poll(&end, 1, 10000) == 1 && recv(fd, answer, sizeof(answer), 0) <= 0;
        _exit(closed ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 0);
    harness_sh(h, "still", "exit 0"); /* the agent was not disturbed */
    assert_int_equal(harness_ended(h, "still")->reason, SPAWN_EXITED);
    assert_int_equal(h->gone, 0);
}

static void garbage_ends_the_connection_only(void **state)
{
    struct harness *h = *state;
    static const struct {
        int line;
        const char *bytes;
        size_t length;
    } cases[] = {
        {__LINE__, "x", 1},
        {__LINE__, "GET / HTTP/1.1\r\n\r\n", 18},
        {__LINE__, "peal\1\0\2\0\x10\0\0\0\0\0\0\0", 16}, /* a start before hello, and empty */
        {__LINE__, "peal\2\0\1\0\x20\0\0\0\0\0\0\0________________", 32}, /* another version */
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int fd;
        char answer[16];
        assert_int_equal(spawn_connect(h->folder, false, &fd), OK);
        assert_int_equal(send(fd, cases[i].bytes, cases[i].length, 0), cases[i].length);
        struct pollfd end = {.fd = fd, .events = POLLIN};
        if (poll(&end, 1, 10000) != 1 || recv(fd, answer, sizeof(answer), 0) > 0)
            fail_msg("line %d: not closed", cases[i].line);
        close(fd);
    }
    harness_detach(h);
    harness_attach(h);
    harness_sh(h, "still", "exit 0");
    assert_int_equal(harness_ended(h, "still")->reason, SPAWN_EXITED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_new_agent_gets_what_it_missed),
        TEST(the_newer_agent_wins),
        TEST(a_killed_spawner_is_answered_for),
        TEST(ends_are_known_without_a_spawner),
        TEST(unseen_ends_say_what_is_known),
        TEST(output_lost_with_a_zombie_is_told),
        TEST(a_killed_keeper_is_replaced),
        TEST(an_adopted_run_can_be_killed),
        TEST(nothing_runs_twice_however_often_it_is_killed),
        TEST(who_left_everything_behind_is_killed_later),
        TEST(an_upgrade_keeps_everything),
        TEST(an_upgraded_spawner_without_a_guard_is_replaced),
        TEST(sigterm_ends_all_runs),
        TEST(it_ends_when_it_is_idle),
        TEST(it_stays_with_what_runs_left_behind),
        TEST(a_second_spawner_is_refused),
        TEST(strangers_are_refused),
        TEST(garbage_ends_the_connection_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
