/* What the machine itself can do, with nothing of peal in the way. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "agent_bench.h"

enum { PER_SECOND = 100 };

void sleep_until(int timer_fd, double at_s)
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

int measure_timer(char **argv)
{
    size_t count = (size_t)atol(argv[0]) * PER_SECOND;
    double *late_ms = calloc(count, sizeof(*late_ms));
    int timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
    if (!late_ms || timer_fd < 0)
        die("timerfd");
    double start_s = (double)(time_t)wall_s() + 1;
    for (size_t i = 0; i < count; i++) {
        double at_s = start_s + (double)i / PER_SECOND;
        sleep_until(timer_fd, at_s);
        late_ms[i] = 1000 * (wall_s() - at_s);
    }
    close(timer_fd);
    print_lateness(late_ms, count);
    return 0;
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
