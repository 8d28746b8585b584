#include "auth/throttle.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct limit_entry {
    char key[LIMIT_KEY_SIZE];
    int64_t tokens; /* of the bucket, in thousandths of a request */
    int64_t filled_ms;
    int mistakes;
    int64_t pause_until_ms;
    int64_t touched_ms;
    TAILQ_ENTRY(limit_entry) link;
};

static const struct table_type entries_type = {.key_at = offsetof(struct limit_entry, key)};

void limits_init(struct limits *limits, size_t keys_max, int64_t keep_ms)
{
    limits->keys_max = keys_max;
    limits->keep_ms = keep_ms;
    table_init(&limits->by_key, &entries_type);
    TAILQ_INIT(&limits->by_age);
}

static void forget(struct limits *limits, struct limit_entry *entry)
{
    TAILQ_REMOVE(&limits->by_age, entry, link);
    table_remove(&limits->by_key, entry);
    free(entry);
}

void limits_release(struct limits *limits)
{
    for (struct limit_entry *entry; (entry = TAILQ_FIRST(&limits->by_age));)
        forget(limits, entry);
    table_release(&limits->by_key);
}

static struct limit_entry *find(const struct limits *limits, const char *key)
{
    return table_find(&limits->by_key, key);
}

static void forget_old(struct limits *limits, int64_t boot_ms)
{
    for (struct limit_entry *entry; (entry = TAILQ_FIRST(&limits->by_age));) {
        if (boot_ms - entry->touched_ms < limits->keep_ms &&
            limits->by_key.count < limits->keys_max)
            return;
        forget(limits, entry);
    }
}

/* NULL: out of memory. */
static struct limit_entry *touch(struct limits *limits, const char *key, int64_t tokens,
                                 int64_t boot_ms)
{
    struct limit_entry *entry = find(limits, key);
    if (entry) {
        TAILQ_REMOVE(&limits->by_age, entry, link);
    } else {
        forget_old(limits, boot_ms);
        struct limit_entry fresh = {.tokens = tokens, .filled_ms = boot_ms};
        snprintf(fresh.key, sizeof(fresh.key), "%s", key);
        entry = table_add(&limits->by_key, &fresh, sizeof(fresh));
        if (!entry)
            return NULL;
    }
    entry->touched_ms = boot_ms;
    TAILQ_INSERT_TAIL(&limits->by_age, entry, link);
    return entry;
}

int64_t limits_ask(struct limits *limits, const char *key, struct rate rate, int64_t boot_ms)
{
    struct limit_entry *entry = touch(limits, key, rate.burst * 1000, boot_ms);
    if (!entry)
        return 0;
    int64_t tokens = entry->tokens + (boot_ms - entry->filled_ms) * rate.per_s;
    entry->tokens = tokens < rate.burst * 1000 ? tokens : rate.burst * 1000;
    entry->filled_ms = boot_ms;
    if (entry->tokens < 1000)
        return (1000 - entry->tokens + rate.per_s - 1) / rate.per_s;
    entry->tokens -= 1000;
    return 0;
}

int64_t limits_pause(const struct limits *limits, const char *key, int64_t boot_ms)
{
    const struct limit_entry *entry = find(limits, key);
    return entry && entry->pause_until_ms > boot_ms ? entry->pause_until_ms - boot_ms : 0;
}

int limits_count(struct limits *limits, const char *key, int64_t boot_ms)
{
    struct limit_entry *entry = touch(limits, key, 0, boot_ms);
    if (entry && entry->mistakes < INT_MAX)
        entry->mistakes++;
    return entry ? entry->mistakes : 0;
}

void limits_wrong(struct limits *limits, const char *key, struct patience patience, int64_t boot_ms)
{
    limits_count(limits, key, boot_ms);
    limits_pause_anew(limits, key, patience, boot_ms);
}

void limits_pause_anew(struct limits *limits, const char *key, struct patience patience,
                       int64_t boot_ms)
{
    struct limit_entry *entry = find(limits, key);
    if (!entry || entry->mistakes <= patience.free)
        return;
    int doublings = entry->mistakes - patience.free - 1;
    int64_t pause_s = doublings < 20 ? INT64_C(1) << doublings : patience.pause_max_s;
    if (pause_s > patience.pause_max_s)
        pause_s = patience.pause_max_s;
    entry->pause_until_ms = boot_ms + pause_s * 1000;
}

void limits_forgive(struct limits *limits, const char *key)
{
    struct limit_entry *entry = find(limits, key);
    if (entry)
        forget(limits, entry);
}

/* Its pause is removed, too, unless other mistakes cause one. */
void limits_take_back(struct limits *limits, const char *key, struct patience patience)
{
    struct limit_entry *entry = find(limits, key);
    if (!entry || !entry->mistakes)
        return;
    entry->mistakes--;
    if (entry->mistakes <= patience.free)
        entry->pause_until_ms = 0;
}

bool limits_knows(const struct limits *limits, const char *key)
{
    return find(limits, key) != NULL;
}
