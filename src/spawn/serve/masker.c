#include "serve/masker.h"

#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, BYTES = 256, RING_MIN = 256 };

/* A node stands for the bytes on the way to it. Its children are a list: but for the root, hardly
 * any has more than one. */
struct mask_node {
    uint32_t child, sibling; /* 0: none */
    uint32_t shorter;        /* the node of the longest proper end of its bytes */
    uint32_t depth;
    uint32_t covers; /* length of the longest form that its bytes end with; 0: none */
    uint8_t byte;
};

struct masks {
    struct mask_node *nodes;
    size_t count;
    size_t longest;
    uint32_t roots[BYTES]; /* the root's children by byte */
};

/* ---- the automaton ---- */

enum status masks_new(struct masks **ret)
{
    struct masks *masks = calloc(1, sizeof(*masks));
    if (!masks)
        return E_NOMEM;
    masks->nodes = calloc(1, sizeof(*masks->nodes));
    if (!masks->nodes) {
        free(masks);
        return E_NOMEM;
    }
    masks->count = 1;
    *ret = masks;
    return OK;
}

struct masks *masks_free(struct masks *masks)
{
    if (!masks)
        return NULL;
    explicit_bzero(masks->nodes, masks->count * sizeof(*masks->nodes));
    free(masks->nodes);
    explicit_bzero(masks, sizeof(*masks));
    free(masks);
    return NULL;
}

size_t masks_longest(const struct masks *masks)
{
    return masks->longest;
}

/* 0: none. */
static uint32_t child_of(const struct masks *masks, uint32_t node, uint8_t byte)
{
    if (node == ROOT)
        return masks->roots[byte];
    uint32_t child = masks->nodes[node].child;
    while (child && masks->nodes[child].byte != byte)
        child = masks->nodes[child].sibling;
    return child;
}

/* 0: out of memory. The old array is wiped, which realloc would not do. */
static uint32_t add_node(struct masks *masks, uint32_t parent, uint8_t byte)
{
    if ((masks->count & (masks->count - 1)) == 0) {
        struct mask_node *grown = calloc(masks->count * 2, sizeof(*grown));
        if (!grown || masks->count > UINT32_MAX / 2) {
            free(grown);
            return 0;
        }
        memcpy(grown, masks->nodes, masks->count * sizeof(*grown));
        explicit_bzero(masks->nodes, masks->count * sizeof(*grown));
        free(masks->nodes);
        masks->nodes = grown;
    }
    uint32_t at = (uint32_t)masks->count++;
    struct mask_node *up = &masks->nodes[parent];
    masks->nodes[at] =
        (struct mask_node){.byte = byte, .sibling = up->child, .depth = up->depth + 1};
    up->child = at;
    if (parent == ROOT)
        masks->roots[byte] = at;
    return at;
}

enum status masks_add(struct masks *masks, const char *bytes, size_t length)
{
    uint32_t node = ROOT;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)bytes[i];
        uint32_t next = child_of(masks, node, byte);
        if (!next)
            next = add_node(masks, node, byte);
        if (!next)
            return E_NOMEM;
        node = next;
    }
    if (length)
        masks->nodes[node].covers = (uint32_t)length;
    if (length > masks->longest)
        masks->longest = length;
    return OK;
}

/* From this node with one more byte. */
static uint32_t go_on(const struct masks *masks, uint32_t node, uint8_t byte)
{
    for (;;) {
        uint32_t next = child_of(masks, node, byte);
        if (next || node == ROOT)
            return next;
        node = masks->nodes[node].shorter;
    }
}

/* By depth, so that the shorter ends of a node are known before it. */
enum status masks_finish(struct masks *masks)
{
    uint32_t *queue = calloc(masks->count, sizeof(*queue));
    size_t first = 0, last = 0;
    if (!queue)
        return E_NOMEM;
    queue[last++] = ROOT;
    while (first < last) {
        uint32_t node = queue[first++];
        for (uint32_t child = masks->nodes[node].child; child;
             child = masks->nodes[child].sibling) {
            struct mask_node *at = &masks->nodes[child];
            at->shorter = node == ROOT ? ROOT : go_on(masks, masks->nodes[node].shorter, at->byte);
            if (!at->covers)
                at->covers = masks->nodes[at->shorter].covers;
            queue[last++] = child;
        }
    }
    free(queue);
    return OK;
}

/* ---- a stream ---- */

enum status masker_init(struct masker *masker, const struct masks *masks)
{
    *masker = (struct masker){.masks = masks, .held_size = RING_MIN};
    while (masker->held_size < masks->longest + 1)
        masker->held_size *= 2;
    /* Parts lie apart from each other in what is held; one may have begun before that. */
    masker->part_size = masker->held_size;
    masker->held = malloc(masker->held_size);
    masker->parts = calloc(masker->part_size, sizeof(*masker->parts));
    if (masker->held && masker->parts)
        return OK;
    masker_release(masker);
    return E_NOMEM;
}

void masker_release(struct masker *masker)
{
    if (masker->held)
        explicit_bzero(masker->held, masker->held_size);
    free(masker->held);
    free(masker->parts);
    *masker = (struct masker){0};
}

static struct masked_part *part_at(const struct masker *masker, size_t i)
{
    return &masker->parts[(masker->part_first + i) & (masker->part_size - 1)];
}

/* A form of this length ends at the position. Ends only grow: what it meets is at the end of the
 * queue. Only a part that was restored may end after it. */
static void cover(struct masker *masker, uint64_t length)
{
    struct masked_part part = {masker->position - length, masker->position};
    while (masker->part_count) {
        const struct masked_part *last = part_at(masker, masker->part_count - 1);
        if (last->to < part.from)
            break;
        if (last->from < part.from)
            part.from = last->from;
        if (last->to > part.to)
            part.to = last->to;
        masker->part_count--;
    }
    *part_at(masker, masker->part_count++) = part;
}

/* The bytes from `told` to before `to`, which are in the ring. */
static void hand_on(const struct masker *masker, uint64_t to, masker_sink *sink, void *context)
{
    size_t mask = masker->held_size - 1;
    for (uint64_t at = masker->told; at < to;) {
        size_t start = (size_t)at & mask, length = (size_t)(to - at);
        if (length > masker->held_size - start)
            length = masker->held_size - start;
        if (length > MASKER_PIECE)
            length = MASKER_PIECE;
        sink(context, masker->held + start, length);
        at += length;
    }
}

/* A mask for the part, unless that of the one before it stands for it, too. */
static void hand_on_mask(struct masker *masker, const struct masked_part *part, uint64_t to,
                         masker_sink *sink, void *context)
{
    if (!masker->masked_to || masker->masked_to < part->from)
        sink(context, SECRET_MASK, sizeof(SECRET_MASK) - 1);
    masker->masked_to = part->to;
    masker->told = part->to < to ? part->to : to;
}

/* All before `to` is decided, but for whether a part that reaches there goes on. */
static void decide(struct masker *masker, uint64_t to, masker_sink *sink, void *context)
{
    while (masker->told < to) {
        struct masked_part part = {to, to};
        if (masker->part_count)
            part = *part_at(masker, 0);
        uint64_t clear_to = part.from < to ? part.from : to;
        if (clear_to > masker->told) {
            hand_on(masker, clear_to, sink, context);
            masker->told = clear_to;
        }
        if (part.from >= to)
            return;
        hand_on_mask(masker, &part, to, sink, context);
        if (part.to > to)
            return; /* it stays, for its rest */
        masker->part_first++;
        masker->part_count--;
    }
}

void masker_feed(struct masker *masker, const char *bytes, size_t length, masker_sink *sink,
                 void *context)
{
    const struct masks *masks = masker->masks;
    for (size_t i = 0; i < length; i++) {
        masker->held[masker->position++ & (masker->held_size - 1)] = bytes[i];
        masker->node = go_on(masks, masker->node, (uint8_t)bytes[i]);
        const struct mask_node *node = &masks->nodes[masker->node];
        if (node->covers)
            cover(masker, node->covers);
        /* In whole rings: bytes one by one would be dear. */
        if (masker->position - masker->told == masker->held_size)
            decide(masker, masker->position - node->depth, sink, context);
    }
    decide(masker, masker->position - masks->nodes[masker->node].depth, sink, context);
}

void masker_end(struct masker *masker, masker_sink *sink, void *context)
{
    decide(masker, masker->position, sink, context);
    masker->node = ROOT;
}

void masker_cut(struct masker *masker, masker_sink *sink, void *context)
{
    if (masker->told < masker->position)
        cover(masker, masker->position - masker->told);
    masker_end(masker, sink, context);
}

/* ---- for another process ---- */

size_t masker_save(const struct masker *masker, char *ret, size_t *ret_masked)
{
    size_t length = (size_t)(masker->position - masker->told);
    for (size_t i = 0; i < length; i++)
        ret[i] = masker->held[(masker->told + i) & (masker->held_size - 1)];
    *ret_masked = masker->masked_to && masker->masked_to >= masker->told
                      ? 1 + (size_t)(masker->masked_to - masker->told)
                      : 0;
    return length;
}

static void no_sink(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)context += length;
}

enum status masker_restore(struct masker *masker, const char *held, size_t length, size_t masked)
{
    size_t lost = 0;
    if (length > masker->masks->longest || masked > length + 1 || masker->position)
        return E_CORRUPT;
    masker->position = masker->told = 1; /* 0 as masked_to says that nothing was masked */
    masker->masked_to = masked;
    if (masked > 1)
        *part_at(masker, masker->part_count++) = (struct masked_part){1, masked};
    masker_feed(masker, held, length, no_sink, &lost);
    return lost ? E_CORRUPT : OK;
}
