/* usage: lib_bench peal|local|bare COUNT each|spread|UNIX_S FILE
 *                  figures FILE FROM SECONDS [AT]
 *                  count FILE FROM SECONDS */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib_bench.h"

static struct work read_work(char **words)
{
    int64_t at_s = strcmp(words[1], "each") == 0     ? 0
                   : strcmp(words[1], "spread") == 0 ? -1
                                                     : strtoll(words[1], NULL, 10);
    return (struct work){.count = (int)strtol(words[0], NULL, 10), .at_s = at_s, .file = words[2]};
}

/* ---- the machine's own limit: a thread that sleeps, and calls ---- */

static void (*volatile function)(void) = noted_add;
static volatile sig_atomic_t is_over;

static void on_end(int number)
{
    (void)number;
    is_over = 1;
}

static int do_bare(const struct work *work)
{
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_end}, NULL); /* interrupts the sleep */
    printf("ready 0 0\n");
    fflush(stdout);
    for (int64_t next_s = work->at_s > 0 ? work->at_s : now_ns() / 1000000000 + 1; !is_over;) {
        struct timespec until = {.tv_sec = next_s};
        if (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) != 0)
            continue;
        for (int i = 0; i < work->count; i++)
            function();
        next_s += work->at_s > 0 ? 3600 : 1; /* once */
    }
    noted_write(work->file);
    return 0;
}

int main(int argc, char **argv)
{
    bool is_local = argc == 5 && strcmp(argv[1], "local") == 0;
    if (argc == 5 && (is_local || strcmp(argv[1], "peal") == 0)) {
        struct work work = read_work(argv + 2);
        work.is_local = is_local;
        return do_with_peal(&work);
    }
    if (argc == 5 && strcmp(argv[1], "bare") == 0) {
        struct work work = read_work(argv + 2);
        return do_bare(&work);
    }
    if (argc >= 5 && strcmp(argv[1], "figures") == 0)
        return noted_figures(argv[2], strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10),
                             argc > 5 ? strtoll(argv[5], NULL, 10) : 0);
    if (argc == 5 && strcmp(argv[1], "count") == 0)
        return noted_count(argv[2], strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10));
    fprintf(stderr, "usage: see the top of bench/lib/lib_bench.c\n");
    return 2;
}
