#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent_bench.h"

static const struct {
    const char *name;
    int arguments;
    int (*run)(char **argv);
} parts[] = {
    {"jobs", 6, make_jobs},      {"timer", 1, measure_timer},
    {"read", 1, measure_read},   {"bare", 4, measure_bare},
    {"noted", 3, measure_noted}, {"noted_rate", 3, measure_noted_rate},
    {"pages", 3, measure_pages}, {"starts", 3, measure_starts},
    {"rate", 3, measure_rate},   {"creates", 3, measure_creates},
    {"puts", 3, measure_puts},   {"kept", 4, measure_kept},
};

_Noreturn void die(const char *what)
{
    fprintf(stderr, "agent_bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

char **split_words(char *text)
{
    char **words = calloc(strlen(text) / 2 + 2, sizeof(*words));
    size_t count = 0;
    if (!words)
        die("memory");
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    return words;
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double now_s(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double wall_s(void)
{
    return seconds_of(CLOCK_REALTIME);
}

static int by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

void sort_doubles(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), by_value);
}

double percentile(const double *sorted, size_t count, double percent)
{
    return count ? sorted[(size_t)((double)(count - 1) * percent / 100)] : 0;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(parts[i].name, argv[1]) == 0 && argc == parts[i].arguments + 2)
            return parts[i].run(argv + 2);
    }
    fprintf(stderr, "usage: agent_bench PART ARGUMENT...; see agent_bench.h\n");
    return 2;
}
