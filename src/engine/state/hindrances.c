#include "state/hindrances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/eligible.h"
#include "peer.h"

void hindrances_release(struct hindrances *hindrances)
{
    for (size_t i = 0; i < hindrances->count; i++)
        free(hindrances->spans[i].others);
    *hindrances = (struct hindrances){0};
}

static void add(struct hindrances *hindrances, struct hindrance span)
{
    if (hindrances->count == HINDRANCES_MAX) {
        free(hindrances->spans[0].others);
        hindrances->count--;
        memmove(hindrances->spans, hindrances->spans + 1, hindrances->count * sizeof(span));
    }
    hindrances->spans[hindrances->count++] = span;
}

static bool are_same(const char *others, const char *these)
{
    return others && these ? strcmp(others, these) == 0 : others == these;
}

void hindrances_note(struct hindrances *hindrances, enum run_reason reason, const char *others,
                     int64_t from_ms, int64_t now_ms)
{
    struct hindrance *last = hindrances->count ? &hindrances->spans[hindrances->count - 1] : NULL;
    if (last && last->reason == reason && are_same(last->others, others) &&
        from_ms <= last->to_ms + HINDRANCE_MERGE_MS) {
        last->to_ms = now_ms;
        return;
    }
    char *copy = others ? strdup(others) : NULL;
    if (copy || !others)
        add(hindrances, (struct hindrance){reason, from_ms, now_ms, copy});
}

void hindrances_go_on(struct hindrances *hindrances, int64_t from_ms, int64_t now_ms)
{
    struct hindrance *last = hindrances->count ? &hindrances->spans[hindrances->count - 1] : NULL;
    if (last && from_ms <= last->to_ms + HINDRANCE_MERGE_MS)
        last->to_ms = now_ms;
}

void hindrances_set_back(struct hindrances *hindrances, int64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < hindrances->count; i++) {
        struct hindrance span = hindrances->spans[i];
        span.to_ms = span.to_ms < now_ms ? span.to_ms : now_ms;
        if (span.from_ms <= span.to_ms)
            hindrances->spans[kept++] = span;
        else
            free(span.others);
    }
    hindrances->count = kept;
}

bool hindrance_is_of(const struct hindrance *span, const char *where)
{
    char text[sizeof(((struct peer *)NULL)->program) + sizeof(((struct peer *)NULL)->labels)];
    if (!span->others)
        return true;
    for (const char *line = span->others, *end; (end = strchr(line, '\n')); line = end + 1) {
        snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
        char *labels = strchr(text, ' '); /* "billing disk=ssd,zone=eu" */
        *labels++ = '\0';
        if (eligible_matches(where, text, labels))
            return false;
    }
    return true;
}

static bool is_in(const struct hindrance *span, int64_t start_ms)
{
    return start_ms >= span->from_ms && start_ms <= span->to_ms;
}

enum run_reason hindrances_at(const struct hindrances *hindrances, const char *where,
                              int64_t start_ms)
{
    for (size_t i = hindrances->count; i; i--) {
        const struct hindrance *span = &hindrances->spans[i - 1];
        if (is_in(span, start_ms) && hindrance_is_of(span, where))
            return span->reason;
    }
    return REASON_NONE;
}

enum run_reason hindrances_here_at(const struct hindrances *hindrances, int64_t start_ms)
{
    for (size_t i = hindrances->count; i; i--) {
        const struct hindrance *span = &hindrances->spans[i - 1];
        if (is_in(span, start_ms))
            return span->reason;
    }
    return REASON_NONE;
}
