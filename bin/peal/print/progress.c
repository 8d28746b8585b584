#include "print/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/terminal.h"
#include "cli/text_width.h"
#include "text/tr.h"

enum {
    FIRST_MS = 500, /* shorter work shows no line */
    DRAW_MS = 100,
    BAR_MIN = 10,
    BAR_MAX = 40,
};

static int64_t steady_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(struct progress *progress, const char *what, size_t total)
{
    *progress = (struct progress){.what = what, .total = total};
    progress->is_on = terminal_of(stderr).columns > 0;
    progress->next_ms = steady_ms() + FIRST_MS;
}

void progress_format(const struct progress *progress, int columns, char text[256])
{
    char count[64], bar[BAR_MAX + 1];
    if (progress->total)
        snprintf(count, sizeof(count), tr("%zu of %zu %s"), progress->done, progress->total,
                 progress->what);
    else
        snprintf(count, sizeof(count), tr("%zu %s"), progress->done, progress->what);
    int width = columns - text_width(count) - 4; /* brackets, a blank, and the cursor's place */
    if (!progress->total || width < BAR_MIN) {
        snprintf(text, 256, "%s", count);
        return;
    }
    width = width < BAR_MAX ? width : BAR_MAX;
    size_t done = progress->done < progress->total ? progress->done : progress->total;
    size_t full = (size_t)width * done / progress->total;
    memset(bar, '.', (size_t)width);
    memset(bar, '#', full);
    bar[width] = '\0';
    snprintf(text, 256, "[%s] %s", bar, count);
}

void progress_step(struct progress *progress, size_t count)
{
    char text[256];
    progress->done += count;
    if (!progress->is_on || steady_ms() < progress->next_ms)
        return;
    progress_format(progress, terminal_of(stderr).columns, text);
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    progress->is_drawn = true;
    progress->next_ms = steady_ms() + DRAW_MS;
}

void progress_end(struct progress *progress)
{
    if (progress->is_drawn)
        fputs("\r\033[K", stderr);
    *progress = (struct progress){0};
}
