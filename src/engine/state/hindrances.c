#include "state/hindrances.h"

#include <string.h>

static void add(struct hindrances *hindrances, struct hindrance span)
{
    if (hindrances->count == HINDRANCES_MAX) {
        hindrances->count--;
        memmove(hindrances->spans, hindrances->spans + 1, hindrances->count * sizeof(span));
    }
    hindrances->spans[hindrances->count++] = span;
}

void hindrances_note(struct hindrances *hindrances, enum run_reason reason, int64_t from_ms,
                     int64_t now_ms)
{
    struct hindrance *last = hindrances->count ? &hindrances->spans[hindrances->count - 1] : NULL;
    if (last && last->reason == reason && from_ms <= last->to_ms + HINDRANCE_MERGE_MS)
        last->to_ms = now_ms;
    else
        add(hindrances, (struct hindrance){reason, from_ms, now_ms});
}

void hindrances_set_back(struct hindrances *hindrances, int64_t now_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < hindrances->count; i++) {
        struct hindrance span = hindrances->spans[i];
        span.to_ms = span.to_ms < now_ms ? span.to_ms : now_ms;
        if (span.from_ms <= span.to_ms)
            hindrances->spans[kept++] = span;
    }
    hindrances->count = kept;
}

enum run_reason hindrances_at(const struct hindrances *hindrances, int64_t start_ms)
{
    for (size_t i = hindrances->count; i; i--) {
        const struct hindrance *span = &hindrances->spans[i - 1];
        if (start_ms >= span->from_ms && start_ms <= span->to_ms)
            return span->reason;
    }
    return REASON_NONE;
}
