/* Times of calls: noted in memory, written at the end, and made figures of. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib_bench.h"

enum { ROOM = 1 << 26 };

static const int64_t second_ns = 1000000000;
static int64_t times[ROOM]; /* pages that are not used are not there */
static atomic_uint count;

int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return ts.tv_sec * second_ns + ts.tv_nsec;
}

void noted_add(void)
{
    unsigned i = atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    if (i < ROOM)
        times[i] = now_ns();
}

void noted_write(const char *file)
{
    FILE *out = fopen(file, "wb");
    size_t all = atomic_load(&count) < ROOM ? atomic_load(&count) : ROOM;
    if (!out || fwrite(times, sizeof(*times), all, out) != all || fclose(out) != 0) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        exit(1);
    }
}

/* ---- figures ---- */

static size_t read_times(const char *file)
{
    FILE *in = fopen(file, "rb");
    if (!in) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        exit(1);
    }
    size_t all = fread(times, sizeof(*times), ROOM, in);
    fclose(in);
    return all;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* From the second at which it was due; a little before one is early. */
static int64_t late_ns(int64_t at_ns, int64_t at_s)
{
    if (at_s)
        return at_ns - at_s * second_ns;
    int64_t late = at_ns % second_ns;
    return late > second_ns * 9 / 10 ? late - second_ns : late;
}

int noted_figures(const char *file, int64_t from_s, int64_t seconds, int64_t at_s)
{
    size_t all = read_times(file), kept = 0, early = 0;
    for (size_t i = 0; i < all; i++) {
        int64_t late = late_ns(times[i], at_s), due_ns = times[i] - late;
        if (due_ns < from_s * second_ns || due_ns >= (from_s + seconds) * second_ns)
            continue;
        early += late < 0;
        times[kept++] = late;
    }
    if (!kept) {
        fprintf(stderr, "%s: no calls in that time\n", file);
        return 1;
    }
    qsort(times, kept, sizeof(*times), by_value);
    size_t middle = kept / 2, high = kept * 99 / 100;
    printf("%zu %.3f %.3f %.3f %zu\n", kept, (double)times[middle] / 1e6, (double)times[high] / 1e6,
           (double)times[kept - 1] / 1e6, early);
    return 0;
}

int noted_count(const char *file, int64_t from_s, int64_t seconds)
{
    size_t all = read_times(file), kept = 0;
    for (size_t i = 0; i < all; i++)
        kept += times[i] >= from_s * second_ns && times[i] < (from_s + seconds) * second_ns;
    printf("%zu\n", kept);
    return 0;
}
