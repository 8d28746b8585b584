/* A guest that leaves no trace: what the library does to a process that it is linked into, seen
 * from within it. hygiene NAME looks at one thing; hygiene without a name lists them.
 *
 * A node is open, and has called a function, when things are looked at: by then it has its threads,
 * its files and its timers. */
#include <peal.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 50000 }; /* valgrind is slow */

static int failures;
static FILE *report; /* not stderr: one of the tests closes that */

#define EXPECT(condition) expect(condition, #condition, __LINE__)

static void expect(bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(report, "hygiene.c:%d: expected %s (%s)\n", line, what, peal_why());
    failures++;
}

/* ---- calls, which are waited for ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static int count(peal_run *run, void *arg)
{
    (void)arg;
    peal_log(run, "called");
    pthread_mutex_lock(&lock);
    calls++;
    pthread_cond_broadcast(&called);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void wait_for_a_call(void)
{
    pthread_mutex_lock(&lock);
    int before = calls;
    while (calls == before)
        pthread_cond_wait(&called, &lock);
    pthread_mutex_unlock(&lock);
}

static peal_node *open_and_call_as(const char *program)
{
    peal_node *peal = peal_open(.program = program, .timeout_ms = PATIENCE_MS);
    EXPECT(peal);
    if (!peal)
        return NULL;
    EXPECT(peal_add(peal, program, "* * * * * *", count) == PEAL_OK);
    wait_for_a_call();
    return peal;
}

static peal_node *open_and_call(void)
{
    return open_and_call_as("hygiene");
}

/* ---- the state of a process ---- */

enum {
    FDS = 256,
    SIGNALS = 65,
    RESTORER = 0x04000000, /* SA_RESTORER, which the C library adds to what it is told */
};

struct state {
    struct sigaction actions[SIGNALS];
    sigset_t mask;
    char locale[256], cwd[4096];
    size_t environment; /* a hash */
    mode_t umask;
    bool is_open[FDS];
    int threads;
};

static size_t hash_environment(void)
{
    size_t hash = (size_t)environ;
    for (char **variable = environ; *variable; variable++)
        for (const char *c = *variable; *c; c++)
            hash = hash * 31 + (unsigned char)*c;
    return hash;
}

static int count_threads(void)
{
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));)
        threads += task->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return threads;
}

static void look(struct state *state)
{
    memset(state, 0, sizeof(*state));
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &state->actions[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
    snprintf(state->locale, sizeof(state->locale), "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(state->cwd, sizeof(state->cwd)))
        state->cwd[0] = '\0';
    state->environment = hash_environment();
    state->umask = umask(0);
    umask(state->umask);
    for (int fd = 0; fd < FDS; fd++)
        state->is_open[fd] = fcntl(fd, F_GETFD) >= 0;
    state->threads = count_threads();
}

/* All but threads and descriptors, which a node may have while it is open. */
static void expect_untouched(const struct state *before, const struct state *now)
{
    for (int i = 1; i < SIGNALS; i++) {
        EXPECT(before->actions[i].sa_handler == now->actions[i].sa_handler);
        EXPECT(((before->actions[i].sa_flags ^ now->actions[i].sa_flags) & ~RESTORER) == 0);
    }
    for (int i = 1; i < SIGNALS; i++)
        EXPECT(sigismember(&before->mask, i) == sigismember(&now->mask, i));
    EXPECT(strcmp(before->locale, now->locale) == 0);
    EXPECT(strcmp(before->cwd, now->cwd) == 0);
    EXPECT(before->environment == now->environment);
    EXPECT(before->umask == now->umask);
}

/* Threads that were told to end are gone from /proc a moment after they were joined. */
static void expect_no_more_threads(int before)
{
#ifdef __SANITIZE_THREAD__
    before++; /* its own, which begins with the first of the program */
#endif
    while (count_threads() > before)
        sched_yield();
}

/* ---- the tests ---- */

static void leaves_the_process_as_it_was(void)
{
    struct state before, open, after;
    setlocale(LC_ALL, "C");
    umask(027);
    signal(SIGUSR1, SIG_IGN);
    look(&before);
    peal_node *peal = open_and_call();
    look(&open);
    expect_untouched(&before, &open);
    for (int fd = 0; fd < FDS; fd++)
        EXPECT(before.is_open[fd] || !open.is_open[fd] || fcntl(fd, F_GETFD) & FD_CLOEXEC);
    EXPECT(open.threads > before.threads);
    EXPECT(!peal_close(peal));
    expect_no_more_threads(before.threads);
    look(&after);
    expect_untouched(&before, &after);
    for (int fd = 0; fd < FDS; fd++)
        EXPECT(before.is_open[fd] == after.is_open[fd]);
}

static void opens_and_closes_again_and_again(void)
{
    struct state before, after;
    peal_close(open_and_call()); /* what is done once per process is done */
    look(&before);
    for (int i = 0; i < 5; i++)
        peal_close(open_and_call());
    expect_no_more_threads(before.threads);
    look(&after);
    EXPECT(memcmp(before.is_open, after.is_open, sizeof(before.is_open)) == 0);
}

/* Else a word to stderr could go into the store. What SQLite has a habit of, too. */
static void keeps_closed_standard_descriptors_free_of_its_own(void)
{
    struct stat null, file;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    peal_node *peal = open_and_call();
    EXPECT(stat("/dev/null", &null) == 0);
    for (int fd = 0; fd < 3; fd++)
        EXPECT(fstat(fd, &file) != 0 || file.st_rdev == null.st_rdev);
    EXPECT(peal_add(peal, "wrong", "75 * * * *", count) == PEAL_E_INVALID); /* says so on stderr */
    peal_close(peal);
    for (int fd = 0; fd < 3; fd++)
        EXPECT(fstat(fd, &file) != 0 || file.st_rdev == null.st_rdev);
}

/* SigBlk of a thread, from /proc. */
static unsigned long long blocked_in(const char *task)
{
    char path[300], line[256];
    unsigned long long blocked = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof(line), status))
        sscanf(line, "SigBlk: %llx", &blocked);
    if (status)
        fclose(status);
    return blocked;
}

static void has_threads_that_take_no_signals(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGCHLD};
    char own[16];
    peal_node *peal = open_and_call();
    snprintf(own, sizeof(own), "%d", (int)getpid());
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.' || strcmp(task->d_name, own) == 0)
            continue;
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
            EXPECT(blocked_in(task->d_name) >> (numbers[i] - 1) & 1);
    }
    closedir(tasks);
    peal_close(peal);
}

static void own_handler(int number)
{
    (void)number;
}

static int stop(peal_run *run, void *arg)
{
    struct state *meanwhile = arg;
    (void)run;
    look(meanwhile);
    peal_stop(NULL);
    return 0;
}

static void takes_signals_while_it_runs_forever_only(void)
{
    struct state before, meanwhile = {0}, after;
    signal(SIGTERM, own_handler);
    look(&before);
    EXPECT(peal_every("stop", "* * * * * *", stop, .arg = &meanwhile) == PEAL_OK);
    EXPECT(peal_run_forever() == 0);
    look(&after);
    EXPECT(meanwhile.actions[SIGINT].sa_handler != SIG_DFL);      /* nobody else wanted it */
    EXPECT(meanwhile.actions[SIGTERM].sa_handler == own_handler); /* the program does */
    expect_untouched(&before, &after);
    expect_no_more_threads(before.threads);
}

/* What the child of a fork may do with a node of its parent: nothing, and it says so. */
static void try_in_child(peal_node *peal)
{
    EXPECT(peal_add(peal, "more", "* * * * *", count) == PEAL_E_FORKED);
    EXPECT(strstr(peal_why(), "fork before"));
    EXPECT(peal_remove(peal, "hygiene") == PEAL_E_FORKED);
    EXPECT(peal_delete(peal, "hygiene") == PEAL_E_FORKED);
    EXPECT(peal_trigger(peal, "hygiene", NULL, NULL) == PEAL_E_FORKED);
    EXPECT(peal_wait(peal) == PEAL_E_FORKED);
    EXPECT(peal_step(peal) == PEAL_E_FORKED);
    EXPECT(peal_fd(peal) == PEAL_E_FORKED);
    EXPECT(peal_timeout(peal) == PEAL_E_FORKED);
    peal_stop(peal);
    EXPECT(!peal_close(peal));
    EXPECT(!peal_open(.program = "child")); /* SQLite's locks of the parent would be in its way */
    EXPECT(peal_every("more", "* * * * *", count) == PEAL_E_FORKED);
    EXPECT(peal_run_forever() != 0);
}

/* As another program: at its own end a search for leaks would take what the parent's threads have
 * allocated for one, since the child does not have their stacks. */
static void end_child_of_threads(void)
{
    const char *program = failures ? "/bin/false" : "/bin/true";
    fflush(report);
    execl(program, program, (char *)NULL);
    _exit(2);
}

static void expect_success(pid_t child)
{
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void leaves_a_forked_child_alone(void)
{
    peal_node *peal = open_and_call();
    pid_t child = fork();
    if (child == 0) {
        try_in_child(peal);
        end_child_of_threads();
    }
    expect_success(child);
    wait_for_a_call(); /* the parent's goes on */
    peal_close(peal);
}

/* As daemons do: what was registered before is not lost, nor is a node that was closed in the way.
 */
static void runs_in_a_child_that_was_forked_before(void)
{
    struct state meanwhile = {0};
    peal_close(open_and_call());
    EXPECT(peal_every("stop", "* * * * * *", stop, .arg = &meanwhile) == PEAL_OK);
    pid_t child = fork();
    if (child == 0) {
        EXPECT(peal_run_forever() == 0);
        fflush(report);
        _exit(failures ? 1 : 0);
    }
    expect_success(child);
}

static peal_node *left_open;

static void lets_a_program_end_without_a_word(void)
{
    left_open = open_and_call(); /* and main() returns */
}

static void stays_when_it_is_unloaded(void)
{
    void *library = dlopen("libpeal.so.1", RTLD_NOW | RTLD_LOCAL);
    EXPECT(library);
    left_open = open_and_call();
    EXPECT(dlclose(library) == 0);
    wait_for_a_call();
    left_open = peal_close(left_open);
}

static const struct {
    const char *name;
    void (*test)(void);
} tests[] = {
    {"leaves_the_process_as_it_was", leaves_the_process_as_it_was},
    {"opens_and_closes_again_and_again", opens_and_closes_again_and_again},
    {"keeps_closed_standard_descriptors_free_of_its_own",
     keeps_closed_standard_descriptors_free_of_its_own},
    {"has_threads_that_take_no_signals", has_threads_that_take_no_signals},
    {"takes_signals_while_it_runs_forever_only", takes_signals_while_it_runs_forever_only},
    {"leaves_a_forked_child_alone", leaves_a_forked_child_alone},
    {"runs_in_a_child_that_was_forked_before", runs_in_a_child_that_was_forked_before},
    {"lets_a_program_end_without_a_word", lets_a_program_end_without_a_word},
    {"stays_when_it_is_unloaded", stays_when_it_is_unloaded},
};

int main(int argc, char **argv)
{
    report = argc > 2 ? fopen(argv[2], "we") : stderr;
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (argc < 2)
            puts(tests[i].name);
        else if (strcmp(argv[1], tests[i].name) == 0)
            tests[i].test();
    }
    if (report != stderr)
        fflush(report);
    return failures ? 1 : 0;
}
