/* The work, done by the library: PEAL_DATA says where it keeps what. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <peal.h>

#include "lib_bench.h"

static int note(peal_run *run, void *arg)
{
    (void)run;
    (void)arg;
    noted_add();
    return 0;
}

/* When the function of this number is due, in UTC. */
static void print_schedule(const struct work *work, int i, char *ret, size_t size)
{
    struct tm at;
    time_t at_s = (time_t)work->at_s;
    if (!work->at_s) {
        snprintf(ret, size, "* * * * * *");
    } else if (work->at_s < 0) {
        snprintf(ret, size, "%d * * * * *", i % 60);
    } else {
        gmtime_r(&at_s, &at);
        snprintf(ret, size, "%d %d %d %d %d *", at.tm_sec, at.tm_min, at.tm_hour, at.tm_mday,
                 at.tm_mon + 1);
    }
}

static void must(int error)
{
    if (error == PEAL_OK)
        return;
    fprintf(stderr, "lib_bench: %s\n", peal_why());
    exit(1);
}

static void wait_for_end(void)
{
    sigset_t end;
    int number;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigwait(&end, &number);
}

int do_with_peal(const struct work *work)
{
    char name[32], schedule[64];
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    int64_t began_ns = now_ns();
    peal_node *peal = peal_open(.program = "lib-bench", .timeout_ms = 60000);
    if (!peal)
        must(PEAL_E_IO);
    int64_t opened_ns = now_ns();
    for (int i = 0; i < work->count; i++) {
        snprintf(name, sizeof(name), "f/%06d", i);
        print_schedule(work, i, schedule, sizeof(schedule));
        must(peal_add(peal, name, schedule, note, .tz = "UTC", .overlap = PEAL_ALLOW,
                      .local = work->is_local));
    }
    printf("ready %.3f %.3f\n", (double)(opened_ns - began_ns) / 1e6,
           (double)(now_ns() - opened_ns) / 1e6);
    fflush(stdout);
    wait_for_end();
    noted_write(work->file);
    _exit(0); /* whatever still waits for its call, as the others do */
}
