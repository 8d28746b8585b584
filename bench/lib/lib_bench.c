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
static const char *file;

static void on_end(int number)
{
    (void)number;
    noted_write(file); /* it interrupts this program alone, between two calls */
    _exit(0);
}

static _Noreturn void do_bare(const struct work *work)
{
    file = work->file;
    signal(SIGTERM, on_end);
    printf("ready 0 0\n");
    fflush(stdout);
    int64_t next_s = work->at_s > 0 ? work->at_s : now_ns() / 1000000000 + 1;
    for (;; next_s++) {
        struct timespec until = {.tv_sec = next_s};
        while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) != 0)
            ;
        for (int i = 0; i < work->count; i++)
            function();
        if (work->at_s > 0)
            pause();
    }
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
        do_bare(&work);
    }
    if (argc >= 5 && strcmp(argv[1], "figures") == 0)
        return noted_figures(argv[2], strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10),
                             argc > 5 ? strtoll(argv[5], NULL, 10) : 0);
    if (argc == 5 && strcmp(argv[1], "count") == 0)
        return noted_count(argv[2], strtoll(argv[3], NULL, 10), strtoll(argv[4], NULL, 10));
    fprintf(stderr, "usage: see the top of bench/lib/lib_bench.c\n");
    return 2;
}
