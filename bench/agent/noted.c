/* When the tiny jobs ran, by what they have noted themselves. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent_bench.h"

/* All times in the file, in seconds; the caller's. */
static double *read_times(const char *path, size_t *ret_count)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        die(path);
    size_t count = (size_t)st.st_size / sizeof(int64_t), got = 0;
    double *times = calloc(count + 1, sizeof(*times));
    if (!times)
        die("memory");
    for (int64_t ns; got < count && read(fd, &ns, sizeof(ns)) == (ssize_t)sizeof(ns);)
        times[got++] = (double)ns / 1e9;
    close(fd);
    *ret_count = got;
    return times;
}

int measure_noted(char **argv)
{
    double from_s = atof(argv[1]), latest_s = 0;
    long seconds = atol(argv[2]);
    size_t all, count = 0;
    double *times = read_times(argv[0], &all);
    for (size_t i = 0; i < all; i++) {
        double since_s = times[i] - from_s;
        long second = seconds > 1 ? (long)since_s : 0;
        if (since_s < 0 || second >= seconds)
            continue;
        latest_s = since_s > latest_s ? since_s : latest_s;
        times[count++] = 1000 * (since_s - (double)second);
    }
    sort_doubles(times, count);
    printf("%zu %.2f %.2f %.3f\n", count, percentile(times, count, 50),
           percentile(times, count, 99), latest_s);
    free(times);
    return 0;
}

int measure_noted_rate(char **argv)
{
    double from_s = atof(argv[1]), to_s = atof(argv[2]);
    size_t all, count = 0;
    double *times = read_times(argv[0], &all);
    for (size_t i = 0; i < all; i++)
        count += times[i] >= from_s && times[i] < to_s;
    printf("%.0f\n", (double)count / (to_s - from_s));
    free(times);
    return 0;
}
