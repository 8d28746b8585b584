/* A loop that only starts a program: the least that any scheduler costs. And one that keeps what
 * peal keeps, in the plainest way: the least that those cost who promise as much. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent_bench.h"

enum { AHEAD_S = 2, RECORD_BYTES = 64, READ_BYTES = 65536 };

static char *const no_variables[] = {NULL};

static int wall_timer(void)
{
    int timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
    if (timer_fd < 0)
        die("timerfd");
    return timer_fd;
}

/* One process of the bare starter: its share of the runs at each second. */
static void start_share(double start_s, int seconds, long count, char **command)
{
    int timer_fd = wall_timer();
    pid_t pid;
    for (int second = 0; second < seconds; second++) {
        sleep_until(timer_fd, start_s + second);
        for (long i = 0; i < count; i++) {
            if (posix_spawn(&pid, command[0], NULL, NULL, command, no_variables) != 0)
                die("posix_spawn");
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
        }
    }
    while (wait(NULL) > 0)
        ;
    close(timer_fd);
}

struct kept_run {
    pid_t pid;
    int output_fd[2];
};

/* One record for each run, on disk before anything else happens. */
static void keep_records(int records_fd, char *records, long count)
{
    size_t size = (size_t)count * RECORD_BYTES;
    if (write(records_fd, records, size) != (ssize_t)size || fdatasync(records_fd) < 0)
        die("records");
}

static void start_kept(struct kept_run *run, char **command)
{
    posix_spawn_file_actions_t actions;
    int ends[2][2];
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 2; i++) {
        if (pipe2(ends[i], O_CLOEXEC) < 0)
            die("pipe");
        posix_spawn_file_actions_adddup2(&actions, ends[i][1], 1 + i);
        run->output_fd[i] = ends[i][0];
    }
    if (posix_spawn(&run->pid, command[0], &actions, NULL, command, no_variables) != 0)
        die("posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 2; i++)
        close(ends[i][1]);
}

static void end_kept(struct kept_run *run)
{
    static char bytes[READ_BYTES];
    for (int i = 0; i < 2; i++) {
        while (read(run->output_fd[i], bytes, sizeof(bytes)) > 0)
            ;
        close(run->output_fd[i]);
    }
    waitpid(run->pid, NULL, 0);
}

/* Claims on disk, starts, both outputs read to their ends, ends on disk. */
static void keep_all(double start_s, int seconds, long count, char **command, const char *path)
{
    struct kept_run *runs = calloc((size_t)count, sizeof(*runs));
    char *records = calloc((size_t)count, RECORD_BYTES);
    int timer_fd = wall_timer();
    int records_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (!runs || !records || records_fd < 0)
        die(path);
    for (int second = 0; second < seconds; second++) {
        sleep_until(timer_fd, start_s + second);
        keep_records(records_fd, records, count);
        for (long i = 0; i < count; i++)
            start_kept(&runs[i], command);
        for (long i = 0; i < count; i++)
            end_kept(&runs[i]);
        keep_records(records_fd, records, count);
    }
    close(records_fd);
    close(timer_fd);
    free(records);
    free(runs);
}

static double seconds_in(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int measure(long processes, long count, int seconds, char *words, const char *records)
{
    char **command = split_words(words);
    double start_s = (double)(time_t)wall_s() + AHEAD_S;
    struct rusage usage;
    if (processes <= 0 || count <= 0 || seconds <= 0)
        die("bare");
    for (long i = 0; i < processes; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("fork");
        if (pid == 0) {
            if (records)
                keep_all(start_s, seconds, count, command, records);
            else
                start_share(start_s, seconds, count / processes, command);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%.0f %.1f\n", start_s,
           (seconds_in(usage.ru_utime) + seconds_in(usage.ru_stime)) * 1e6 /
               (double)(count * seconds));
    free(command);
    return 0;
}

int measure_bare(char **argv)
{
    return measure(atol(argv[0]), atol(argv[1]), atoi(argv[2]), argv[3], NULL);
}

int measure_kept(char **argv)
{
    return measure(1, atol(argv[0]), atoi(argv[1]), argv[2], argv[3]);
}
