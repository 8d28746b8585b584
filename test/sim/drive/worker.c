#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(bool is_well, const char *what)
{
    if (is_well)
        return;
    perror(what);
    exit(2);
}

static void set_number(const char *name, unsigned long long number)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", number);
    need(setenv(name, text, 1) == 0, name);
}

/* In the new process. What would make it another life than that of the seed does not get there. */
static _Noreturn void become(const char *program, const char *log)
{
    unsetenv("PEAL_SIM_LOG");
    unsetenv("PEAL_SIM_ONLY");
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    need(out >= 0, log);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(out);
    execl(program, program, (char *)NULL);
    need(false, program);
    abort();
}

static pid_t fork_or_exit(void)
{
    fflush(stdout);
    pid_t pid = fork();
    need(pid >= 0, "fork");
    return pid;
}

void worker_start(struct worker *worker, const char *program, const char *log, double now_s)
{
    int seeds[2], reports[2];
    *worker = (struct worker){.since_s = now_s};
    snprintf(worker->log, sizeof(worker->log), "%s", log);
    need(pipe2(seeds, O_CLOEXEC) == 0 && pipe2(reports, O_CLOEXEC) == 0, "pipe");
    worker->pid = fork_or_exit();
    if (worker->pid == 0) {
        dup2(seeds[0], STDIN_FILENO);
        fcntl(reports[1], F_SETFD, 0);
        set_number("PEAL_SIM_REPORTS", (unsigned long long)reports[1]);
        set_number("PEAL_SIM_SHRINK_S", 0);
        become(program, log);
    }
    close(seeds[0]);
    close(reports[1]);
    worker->seeds = seeds[1];
    worker->reports = reports[0];
}

void worker_hand(struct worker *worker, uint64_t seed, double now_s)
{
    worker->life = (struct life_report){.seed = seed};
    worker->is_busy = true;
    worker->since_s = now_s;
    dprintf(worker->seeds, "%llu\n", (unsigned long long)seed); /* if it is dead: worker_hear */
}

bool worker_hear(struct worker *worker)
{
    struct life_report report; /* shorter than PIPE_BUF: it comes whole */
    if (read(worker->reports, &report, sizeof(report)) != (ssize_t)sizeof(report))
        return false;
    worker->life = report;
    worker->is_busy = !report.is_over;
    return true;
}

int worker_end(struct worker *worker, bool by_force)
{
    int status = 0;
    close(worker->seeds);
    if (by_force)
        kill(worker->pid, SIGKILL);
    waitpid(worker->pid, &status, 0);
    close(worker->reports);
    worker->pid = 0;
    worker->is_busy = false;
    return status;
}

pid_t worker_explain(const char *program, uint64_t seed, double shrink_s, const char *log)
{
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        set_number("PEAL_SIM_FIRST_SEED", seed);
        set_number("PEAL_SIM_SEEDS", 1);
        set_number("PEAL_SIM_SHRINK_S", (unsigned long long)shrink_s);
        become(program, log);
    }
    return pid;
}
