/* The spans of a zone lie in one table. A zone with a yearly rule has a whole cycle of the calendar
 * in it, behind the changes that its file lists:
 *
 *   first span | listed changes | one cycle of the rule |  the cycle again, moved by CYCLE_S ...
 *              ^                ^                       ^
 *          entries[1]        cycle_s             cycle_s + CYCLE_S
 *
 * cycle_s is itself a change, so that nothing is cut or doubled where one cycle meets the next. A
 * zone that has nothing but a rule repeats into the past as well. */
#include "zone/zone.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "zone/tzif.h"

/* Buckets of 2^23 s (97 days) hold at most one change in nearly all cases; 2048 of them are 544
 * years: a cycle, and the 144 years before it. */
enum {
    BUCKET_BITS = 23,
    BUCKETS = 2048,
};
#define INDEX_S ((int64_t)BUCKETS << BUCKET_BITS)

struct entry {
    int64_t start_s;
    int32_t offset_s, previous_offset_s;
};

struct rules {
    const struct entry *entries; /* entries[count] is a sentinel: it ends the last one */
    size_t count;
    int64_t low_s, high_s; /* the table covers all of [low_s, high_s) */
    bool repeats;          /* the table ends with a cycle, which starts at cycle_s */
    int64_t cycle_s;
    int64_t index_from_s;
    uint16_t index[BUCKETS + 1]; /* the entry that holds each bucket's first second */
};

struct zone {
    const char *name;
    struct rules rules;
};

static const struct entry utc_entries[] = {{INT64_MIN, 0, 0}, {INT64_MAX, 0, 0}};

static const struct zone utc = {
    .name = "UTC",
    .rules = {.entries = utc_entries, .count = 1, .low_s = INT64_MIN, .high_s = INT64_MAX},
};

const struct zone *zone_utc(void)
{
    return &utc;
}

static struct zone_span span_of_entry(const struct entry *entry)
{
    return (struct zone_span){
        .start_s = entry[0].start_s,
        .end_s = entry[1].start_s,
        .offset_s = entry->offset_s,
        .previous_offset_s = entry->previous_offset_s,
    };
}

/* The last entry that starts at utc_s or before. */
static size_t search(const struct rules *rules, size_t low, size_t high, int64_t utc_s)
{
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (rules->entries[middle].start_s <= utc_s)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static struct zone_span span_in_table(const struct rules *rules, int64_t utc_s)
{
    size_t low = 0, high = rules->count - 1;
    uint64_t bucket = ((uint64_t)utc_s - (uint64_t)rules->index_from_s) >> BUCKET_BITS;
    if (bucket < BUCKETS) {
        low = rules->index[bucket];
        high = rules->index[bucket + 1];
    }
    /* One change or none: a sum instead of a branch that no processor can foretell. */
    if (high - low <= 1)
        low += rules->entries[low + 1].start_s <= utc_s;
    else
        low = search(rules, low, high, utc_s);
    return span_of_entry(&rules->entries[low]);
}

static int64_t saturate(__int128 seconds)
{
    if (seconds < INT64_MIN)
        return INT64_MIN;
    return seconds > INT64_MAX ? INT64_MAX : (int64_t)seconds;
}

/* An instant outside of the table: found in the table's cycle, moved by whole cycles. */
static struct zone_span span_beyond_table(const struct rules *rules, int64_t utc_s)
{
    /* The last second of the axis has no span of its own, not even when a change falls on it. */
    if (utc_s == INT64_MAX)
        utc_s--;
    if (!rules->repeats)
        return span_in_table(rules, utc_s);
    __int128 since = (__int128)utc_s - rules->cycle_s;
    __int128 cycles = since / CYCLE_S - (since % CYCLE_S < 0);
    __int128 moved = cycles * CYCLE_S;
    struct zone_span span = span_in_table(rules, (int64_t)(utc_s - moved));
    span.start_s = saturate(span.start_s + moved);
    span.end_s = saturate(span.end_s + moved);
    if (span.start_s == INT64_MIN)
        span.previous_offset_s = span.offset_s;
    return span;
}

struct zone_span zone_span_at(const struct zone *zone, int64_t utc_s)
{
    const struct rules *rules = &zone->rules;
    if (utc_s < rules->low_s || utc_s >= rules->high_s)
        return span_beyond_table(rules, utc_s);
    return span_in_table(rules, utc_s);
}

const char *zone_name(const struct zone *zone)
{
    return zone->name;
}

/* A table that is being filled. */
struct table {
    struct entry *entries;
    size_t count;
};

static void add_entry(struct table *table, int64_t start_s, int32_t offset_s)
{
    int32_t previous_s = table->count ? table->entries[table->count - 1].offset_s : offset_s;
    if (table->count && previous_s == offset_s)
        return;
    table->entries[table->count++] = (struct entry){start_s, offset_s, previous_s};
}

static void add_changes(struct table *table, const struct offset_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_entry(table, changes[i].start_s, changes[i].offset_s);
}

/* A file with transitions: the rule goes on after the last of them. */
static void add_rule_after_listed(struct table *table, const struct tzif *tzif, struct rules *rules)
{
    struct offset_change changes[POSIX_TZ_CHANGES_MAX];
    int32_t offset_s;
    size_t count = posix_tz_cycle(&tzif->rule, tzif->rule_from_s, &offset_s, changes);
    if (!count)
        return;
    /* Some versions of zic end with a transition that the rule contradicts. What the file lists
     * holds until the rule makes a change, and the cycle starts with the change after that. */
    if (offset_s != table->entries[table->count - 1].offset_s) {
        struct offset_change first = changes[0];
        add_changes(table, &first, 1);
        count = posix_tz_cycle(&tzif->rule, first.start_s, &offset_s, changes);
    }
    add_changes(table, changes, count);
    rules->repeats = true;
    rules->cycle_s = changes[0].start_s;
}

/* A file that is all rule: some cycle of it, which repeats in both directions. */
static void add_rule_alone(struct table *table, const struct tzif *tzif, struct rules *rules)
{
    struct offset_change changes[POSIX_TZ_CHANGES_MAX];
    int32_t offset_s;
    size_t count = posix_tz_cycle(&tzif->rule, 0, &offset_s, changes);
    if (!count) {
        add_entry(table, INT64_MIN, offset_s);
        return;
    }
    add_changes(table, changes, count);
    table->entries[0].previous_offset_s = offset_s;
    rules->repeats = true;
    rules->low_s = rules->cycle_s = changes[0].start_s;
}

static void fill_index(struct rules *rules)
{
    int64_t last_s = rules->entries[rules->count - 1].start_s;
    if (last_s == INT64_MIN)
        last_s = 0;
    rules->index_from_s = (rules->repeats ? rules->cycle_s : last_s) + CYCLE_S - INDEX_S;
    size_t entry = 0;
    for (int bucket = 0; bucket <= BUCKETS; bucket++) {
        int64_t start_s = rules->index_from_s + ((int64_t)bucket << BUCKET_BITS);
        while (entry + 1 < rules->count && rules->entries[entry + 1].start_s <= start_s)
            entry++;
        rules->index[bucket] = (uint16_t)entry;
    }
}

static enum status rules_init(struct rules *rules, const struct tzif *tzif)
{
    /* The first span, the change after a contradiction, and the sentinel come on top. */
    size_t room = tzif->count + (tzif->has_rule ? POSIX_TZ_CHANGES_MAX : 0) + 3;
    assert(room <= UINT16_MAX);
    struct table table = {.entries = calloc(room, sizeof(*table.entries))};
    if (!table.entries)
        return E_NOMEM;
    *rules = (struct rules){.low_s = INT64_MIN, .high_s = INT64_MAX};
    if (tzif->has_rule && tzif->rule_from_s == INT64_MIN) {
        add_rule_alone(&table, tzif, rules);
    } else {
        add_entry(&table, INT64_MIN, tzif->first_offset_s);
        add_changes(&table, tzif->changes, tzif->count);
        if (tzif->has_rule)
            add_rule_after_listed(&table, tzif, rules);
    }
    if (rules->repeats)
        rules->high_s = rules->cycle_s + CYCLE_S;
    table.entries[table.count].start_s = rules->high_s;
    rules->entries = table.entries;
    rules->count = table.count;
    fill_index(rules);
    return OK;
}

enum status zone_from_tzif(const char *name, const void *bytes, size_t length, struct zone **ret,
                           struct parse_error *reterr)
{
    struct tzif tzif;
    enum status st = tzif_parse(bytes, length, &tzif, reterr);
    if (st != OK)
        return st;
    struct zone *zone = calloc(1, sizeof(*zone));
    st = zone ? rules_init(&zone->rules, &tzif) : E_NOMEM;
    if (st != OK)
        goto out;
    zone->name = strdup(name);
    if (!zone->name) {
        st = E_NOMEM;
        goto out;
    }
    *ret = zone;
    zone = NULL;
out:
    zone_free(zone);
    tzif_release(&tzif);
    return st;
}

struct zone *zone_free(struct zone *zone)
{
    if (!zone)
        return NULL;
    assert(zone != &utc);
    free((void *)zone->rules.entries);
    free((void *)zone->name);
    free(zone);
    return NULL;
}

/* The instant from which the rules repeat, be it only their last offset. */
static int64_t repeats_from(const struct rules *rules)
{
    return rules->repeats ? rules->cycle_s : rules->entries[rules->count - 1].start_s;
}

static bool same_spans(const struct zone *a, const struct zone *b)
{
    bool a_endless = a->rules.low_s != INT64_MIN, b_endless = b->rules.low_s != INT64_MIN;
    if (a_endless != b_endless)
        return false;
    int64_t a_from_s = repeats_from(&a->rules), b_from_s = repeats_from(&b->rules);
    int64_t both_from_s = a_from_s > b_from_s ? a_from_s : b_from_s;
    int64_t end_s = saturate((__int128)both_from_s + CYCLE_S);
    /* Rules without a first span are equal if one cycle is. */
    int64_t at_s = a_endless ? both_from_s : INT64_MIN;
    while (at_s < end_s) {
        struct zone_span span = zone_span_at(a, at_s), other = zone_span_at(b, at_s);
        if (span.start_s != other.start_s || span.end_s != other.end_s ||
            span.offset_s != other.offset_s)
            return false;
        at_s = span.end_s;
    }
    return true;
}

bool zone_swap_rules(struct zone *zone, struct zone *other)
{
    if (same_spans(zone, other))
        return false;
    struct rules rules = zone->rules;
    zone->rules = other->rules;
    other->rules = rules;
    return true;
}
