#include "state/name_order.h"

#include <stdlib.h>
#include <string.h>

#include "state/catalog.h"

enum { BLOCK_JOBS = 512 };

struct name_block {
    size_t count;
    struct catalog_job *jobs[BLOCK_JOBS];
};

void name_order_release(struct name_order *order)
{
    for (size_t i = 0; i < order->count; i++)
        free(order->blocks[i]);
    free(order->blocks);
    *order = (struct name_order){0};
}

/* ---- where ---- */

/* A search key; without a uid, it is after all jobs of its name. */
struct key {
    const char *name;
    const struct id *uid;
};

static bool is_before(const struct catalog_job *job, const struct key *key)
{
    int order = strcmp(job->name, key->name);
    return order < 0 || (order == 0 && (!key->uid || id_compare(&job->uid, key->uid) < 0));
}

/* The place of the first job that is not before the key, or where the key would be. */
static struct name_place find(const struct name_order *order, const struct key *key)
{
    size_t low = 0, high = order->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct name_block *block = order->blocks[middle];
        if (is_before(block->jobs[block->count - 1], key))
            low = middle + 1;
        else
            high = middle;
    }
    struct name_place place = {low, 0};
    high = low < order->count ? order->blocks[low]->count : 0;
    while (place.at < high) {
        size_t middle = place.at + (high - place.at) / 2;
        if (is_before(order->blocks[low]->jobs[middle], key))
            place.at = middle + 1;
        else
            high = middle;
    }
    return place;
}

/* ---- blocks ---- */

/* Inserts an empty block before block `number`; NULL: out of memory. */
static struct name_block *add_block(struct name_order *order, size_t number)
{
    if (order->count == order->room) {
        size_t room = order->room ? 2 * order->room : 16;
        struct name_block **grown = reallocarray(order->blocks, room, sizeof(struct name_block *));
        if (!grown)
            return NULL;
        order->blocks = grown;
        order->room = room;
    }
    struct name_block *block = malloc(sizeof(*block));
    if (!block)
        return NULL;
    block->count = 0;
    struct name_block **place = &order->blocks[number];
    memmove(place + 1, place, (order->count++ - number) * sizeof(struct name_block *));
    *place = block;
    return block;
}

static void drop_block(struct name_order *order, size_t number)
{
    struct name_block **place = &order->blocks[number];
    free(*place);
    memmove(place, place + 1, (--order->count - number) * sizeof(struct name_block *));
}

static void move_jobs(struct name_block *to, const struct name_block *from, size_t at)
{
    memcpy(to->jobs + to->count, from->jobs + at, (from->count - at) * sizeof(from->jobs[0]));
    to->count += from->count - at;
}

/* Names that are inserted in order fill their blocks; others leave them half full. */
static enum status split(struct name_order *order, struct name_place *place)
{
    struct name_block *full = order->blocks[place->block];
    size_t kept = place->at == BLOCK_JOBS ? BLOCK_JOBS : BLOCK_JOBS / 2;
    struct name_block *rest = add_block(order, place->block + 1);
    if (!rest)
        return E_NOMEM;
    move_jobs(rest, full, kept);
    full->count = kept;
    if (place->at > kept || kept == BLOCK_JOBS)
        *place = (struct name_place){place->block + 1, place->at - kept};
    return OK;
}

/* Merges neighbouring blocks that have become small. */
static void join(struct name_order *order, size_t number)
{
    if (number + 1 >= order->count)
        return;
    struct name_block *block = order->blocks[number], *next = order->blocks[number + 1];
    if (block->count + next->count > BLOCK_JOBS / 2)
        return;
    move_jobs(block, next, 0);
    drop_block(order, number + 1);
}

/* ---- in and out ---- */

enum status name_order_insert(struct name_order *order, struct catalog_job *job)
{
    struct name_place place = find(order, &(struct key){job->name, &job->uid});
    if (!order->count && !add_block(order, 0))
        return E_NOMEM;
    if (place.block == order->count) { /* after all blocks */
        place.block--;
        place.at = order->blocks[place.block]->count;
    }
    if (order->blocks[place.block]->count == BLOCK_JOBS && split(order, &place) != OK)
        return E_NOMEM;
    struct name_block *block = order->blocks[place.block];
    struct catalog_job **at = &block->jobs[place.at];
    memmove(at + 1, at, (block->count++ - place.at) * sizeof(block->jobs[0]));
    *at = job;
    return OK;
}

void name_order_remove(struct name_order *order, const struct catalog_job *job)
{
    struct name_place place = find(order, &(struct key){job->name, &job->uid});
    if (place.block == order->count || order->blocks[place.block]->jobs[place.at] != job)
        return;
    struct name_block *block = order->blocks[place.block];
    struct catalog_job **at = &block->jobs[place.at];
    memmove(at, at + 1, (--block->count - place.at) * sizeof(block->jobs[0]));
    if (!block->count) {
        drop_block(order, place.block);
        return;
    }
    join(order, place.block);
    if (place.block)
        join(order, place.block - 1);
}

/* ---- all at once ---- */

/* A job beside the eight bytes of its name after those that all names begin with: most comparisons
 * need not look at the name, which is somewhere else in memory. */
struct sort_key {
    uint64_t bytes; /* big endian, 0 after the end */
    struct catalog_job *job;
};

static int by_name_then_uid(const void *a, const void *b)
{
    const struct sort_key *one = a, *other = b;
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? -1 : 1;
    int order = strcmp(one->job->name, other->job->name);
    return order ? order : id_compare(&one->job->uid, &other->job->uid);
}

static size_t same_bytes(const char *one, const char *other, size_t limit)
{
    size_t same = 0;
    while (same < limit && one[same] && one[same] == other[same])
        same++;
    return same;
}

static uint64_t eight_bytes(const char *text)
{
    uint64_t bytes = 0;
    for (int i = 0; i < 8; i++) {
        bytes = bytes << 8 | (unsigned char)*text;
        text += *text != '\0';
    }
    return bytes;
}

static struct sort_key *sorted_keys(const struct table *jobs)
{
    struct sort_key *keys = calloc(jobs->count + 1, sizeof(*keys));
    size_t at = 0, count = 0, same = SIZE_MAX;
    if (!keys)
        return NULL;
    for (struct catalog_job *job; (job = table_next(jobs, &at));) {
        keys[count++].job = job;
        same = same_bytes(keys[0].job->name, job->name, same);
    }
    for (size_t i = 0; i < count; i++)
        keys[i].bytes = eight_bytes(keys[i].job->name + same);
    if (count)
        qsort(keys, count, sizeof(*keys), by_name_then_uid);
    return keys;
}

enum status name_order_make(const struct table *jobs, struct name_order *ret)
{
    const size_t each = BLOCK_JOBS / 4 * 3; /* with room for more */
    struct name_order order = {0};
    struct sort_key *keys = sorted_keys(jobs);
    enum status st = keys ? OK : E_NOMEM;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        struct name_block *block = i % each ? order.blocks[order.count - 1] : NULL;
        if (!block && !(block = add_block(&order, order.count)))
            st = E_NOMEM;
        else
            block->jobs[block->count++] = keys[i].job;
    }
    free(keys);
    if (st == OK)
        *ret = order;
    else
        name_order_release(&order);
    return st;
}

/* ---- looking ---- */

struct name_place name_order_after(const struct name_order *order, const char *name)
{
    return name ? find(order, &(struct key){name, NULL}) : (struct name_place){0, 0};
}

const struct catalog_job *name_order_next(const struct name_order *order, struct name_place *place)
{
    if (place->block == order->count)
        return NULL;
    const struct name_block *block = order->blocks[place->block];
    const struct catalog_job *job = block->jobs[place->at++];
    if (place->at == block->count)
        *place = (struct name_place){place->block + 1, 0};
    return job;
}
