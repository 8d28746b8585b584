/* What the machine itself can do, with nothing of peal in the way. */
#include <fcntl.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent_bench.h"

enum { PER_SECOND = 100 };

static char *const command[] = {(char *)"/bin/true", NULL};
static char *const no_variables[] = {NULL};

/* With two pipes for the output, closed at once, as whoever keeps output would after the end. */
static void spawn_one(void)
{
    int out[2], err[2];
    pid_t pid;
    posix_spawn_file_actions_t files;
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        die("pipe2");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    if (posix_spawn(&pid, command[0], &files, NULL, command, no_variables) != 0)
        die("posix_spawn");
    posix_spawn_file_actions_destroy(&files);
    close(out[0]);
    close(out[1]);
    close(err[0]);
    close(err[1]);
}

int measure_spawns(char **argv)
{
    int count = atoi(argv[0]), ended = 0;
    double start = now_s();
    for (int i = 0; i < count; i++) {
        spawn_one();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ended++;
    }
    while (ended < count && wait(NULL) > 0)
        ended++;
    printf("%.3f\n", now_s() - start);
    return 0;
}

/* Sleeps until `at_s` of the wall clock, as the agent does. */
static void sleep_until(int timer_fd, double at_s)
{
    struct itimerspec when = {0};
    uint64_t times;
    when.it_value.tv_sec = (time_t)at_s;
    when.it_value.tv_nsec = (long)((at_s - (double)(time_t)at_s) * 1e9);
    if (timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ||
        read(timer_fd, &times, sizeof(times)) < 0)
        die("timerfd");
}

static void print_lateness(double *late_ms, size_t count)
{
    sort_doubles(late_ms, count);
    printf("%.2f %.2f\n", percentile(late_ms, count, 50), percentile(late_ms, count, 99));
    free(late_ms);
}

/* `spread`: evenly over each second, and nothing is done; else all at once, a spawn each. */
static int measure_lateness(int seconds, int spread)
{
    size_t count = (size_t)seconds * PER_SECOND;
    double *late_ms = calloc(count, sizeof(*late_ms));
    int timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
    if (!late_ms || timer_fd < 0)
        die("timerfd");
    double start_s = (double)(time_t)wall_s() + 1;
    for (size_t i = 0; i < count; i++) {
        double at_s = start_s + (spread ? (double)i / PER_SECOND : (double)(i / PER_SECOND));
        if (spread || i % PER_SECOND == 0)
            sleep_until(timer_fd, at_s);
        late_ms[i] = 1000 * (wall_s() - at_s);
        if (!spread)
            spawn_one();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    while (wait(NULL) > 0)
        ;
    close(timer_fd);
    print_lateness(late_ms, count);
    return 0;
}

int measure_timer(char **argv)
{
    return measure_lateness(atoi(argv[0]), 1);
}

int measure_burst(char **argv)
{
    return measure_lateness(atoi(argv[0]), 0);
}

int measure_read(char **argv)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    double start = now_s();
    long bytes = 0;
    if (sqlite3_open_v2(argv[0], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT * FROM jobs JOIN definitions USING (uid)", -1, &stmt,
                           NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            bytes += sqlite3_column_text(stmt, i) ? sqlite3_column_bytes(stmt, i) : 0;
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    if (!bytes)
        die("no jobs");
    printf("%.3f\n", now_s() - start);
    return 0;
}
