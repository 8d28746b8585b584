#include "cluster/load_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After so many nothing is known of what was before. */
enum { ALL_LOOKS = (LOAD_SAMPLES + 2) * LOAD_LOOKS_MAX };

static const struct table_type by_name = {.key_at = offsetof(struct load_node, name)};

void load_record_init(struct load_record *record)
{
    *record = (struct load_record){.looks = 1};
    table_init(&record->nodes, &by_name);
}

void load_record_release(struct load_record *record)
{
    table_release_items(&record->nodes);
}

const struct load_node *load_record_find(const struct load_record *record, const char *node)
{
    return table_find(&record->nodes, node);
}

/* ---- one node ---- */

static struct load_node *add_node(struct load_record *record, const char *name)
{
    if (record->nodes.count >= LOAD_NODES_MAX ||
        strlen(name) >= sizeof((struct load_node *)0)->name)
        return NULL;
    struct load_node *node = calloc(1, sizeof(*node));
    if (!node)
        return NULL;
    snprintf(node->name, sizeof(node->name), "%s", name);
    memset(node->samples, 0xFF, sizeof(node->samples)); /* -1 */
    if (table_insert(&record->nodes, node) == OK)
        return node;
    free(node);
    return NULL;
}

void load_record_note(struct load_record *record, const char *name, const int values[LOAD_KINDS])
{
    struct load_node *node = table_find(&record->nodes, name);
    if (!node)
        node = add_node(record, name);
    for (int kind = 0; node && kind < LOAD_KINDS; kind++) {
        int value = values[kind] < INT16_MAX ? values[kind] : INT16_MAX;
        if (value < 0)
            continue;
        if (kind != LOAD_RUNNING)
            node->sums[kind] += value;
        else if (value > node->sums[kind])
            node->sums[kind] = value;
        node->counts[kind]++;
    }
}

int load_node_value(const struct load_node *node, enum load_kind kind, size_t from, size_t to)
{
    int sum = 0, count = 0, most = -1;
    for (; from < to; from++) {
        int value = node->samples[from][kind];
        if (value < 0)
            continue;
        sum += value;
        count++;
        most = value > most ? value : most;
    }
    if (!count)
        return -1;
    return kind == LOAD_RUNNING ? most : (sum + count / 2) / count;
}

/* The sample that was under way becomes the next one. */
static void close_sample(struct load_node *node, size_t at)
{
    for (int kind = 0; kind < LOAD_KINDS; kind++) {
        int count = node->counts[kind], sum = node->sums[kind];
        int value = kind == LOAD_RUNNING || !count ? sum : (sum + count / 2) / count;
        node->samples[at][kind] = (int16_t)(count ? value : -1);
        node->sums[kind] = 0;
        node->counts[kind] = 0;
    }
}

static void pair_samples(struct load_node *node)
{
    for (size_t i = 0; i < LOAD_SAMPLES / 2; i++) {
        for (int kind = 0; kind < LOAD_KINDS; kind++)
            node->samples[i][kind] =
                (int16_t)load_node_value(node, (enum load_kind)kind, 2 * i, 2 * i + 2);
    }
    memset(node->samples[LOAD_SAMPLES / 2], 0xFF, sizeof(node->samples) / 2);
}

static void drop_oldest(struct load_node *node)
{
    memmove(node->samples[0], node->samples[1], sizeof(node->samples) - sizeof(node->samples[0]));
}

static bool is_known(const struct load_record *record, const struct load_node *node)
{
    for (size_t i = 0; i < record->count; i++) {
        for (int kind = 0; kind < LOAD_KINDS; kind++) {
            if (node->samples[i][kind] >= 0)
                return true;
        }
    }
    return false;
}

/* ---- all ---- */

static void each(const struct load_record *record, void (*change)(struct load_node *node))
{
    size_t at = 0;
    struct load_node *node;
    while ((node = table_next(&record->nodes, &at)))
        change(node);
}

static void make_room(struct load_record *record)
{
    if (record->count < LOAD_SAMPLES)
        return;
    if (record->looks < LOAD_LOOKS_MAX) {
        each(record, pair_samples);
        record->count = LOAD_SAMPLES / 2;
        record->looks *= 2;
    } else {
        each(record, drop_oldest);
        record->count--;
    }
}

/* One of them at a time: a table must not change while it is walked. */
static void forget_unknown(struct load_record *record)
{
    size_t at = 0;
    struct load_node *node;
    while ((node = table_next(&record->nodes, &at))) {
        if (is_known(record, node))
            continue;
        table_remove(&record->nodes, node);
        free(node);
        return;
    }
}

void load_record_end(struct load_record *record)
{
    size_t at = 0;
    struct load_node *node;
    if (++record->looks_done < record->looks)
        return;
    make_room(record);
    if (record->looks_done < record->looks)
        return; /* the samples have just become longer */
    while ((node = table_next(&record->nodes, &at)))
        close_sample(node, record->count);
    record->count++;
    record->looks_done = 0;
    forget_unknown(record);
}

void load_record_begin(struct load_record *record, struct boot_ms now)
{
    int64_t late_ms = record->looked.ms ? now.ms - record->looked.ms - LOAD_LOOK_S * 1000 : 0;
    int64_t missed = late_ms / (LOAD_LOOK_S * 1000);
    if (missed > ALL_LOOKS)
        missed = ALL_LOOKS;
    for (; missed > 0; missed--)
        load_record_end(record);
    record->looked = now;
}
