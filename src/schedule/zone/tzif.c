#include "zone/tzif.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER_LENGTH = 44,
    VERSION_AT = 4,
    COUNTS_AT = 20,
    TYPE_LENGTH = 6,
    TIME_V1_LENGTH = 4,
    TIME_V2_LENGTH = 8,
    /* RFC 9636 keeps offsets strictly between -25 and +26 hours; so does all code above this. */
    OFFSET_MIN_S = -25 * 3600 + 1,
    OFFSET_MAX_S = 26 * 3600 - 1,
};

/* Some versions of zic begin with a transition at the Big Bang, 2^59 seconds before 1970: its
 * offset is the first. No calendar reaches as far into the future. */
#define BIG_BANG_S   (-(INT64_C(1) << 59))
#define FAR_FUTURE_S (INT64_C(1) << 59)

struct counts {
    uint32_t ut_flags, standard_flags, leaps, transitions, types, name_bytes;
};

/* The parts of the 64-bit block; each is known to lie inside the file. */
struct block {
    struct counts counts;
    const unsigned char *times, *type_indices, *types;
    const char *footer;
    size_t footer_length;
};

struct input {
    const unsigned char *at;
    size_t left;
    struct parse_error *error;
};

static enum status corrupt(struct parse_error *error, const char *why)
{
    parse_fail(error, 0, "%s", why);
    return E_CORRUPT;
}

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int32_t read_i32(const unsigned char *p)
{
    return (int32_t)read_u32(p);
}

static int64_t read_i64(const unsigned char *p)
{
    return (int64_t)((uint64_t)read_u32(p) << 32 | read_u32(p + 4));
}

/* The next `length` bytes, or NULL when the file ends before. */
static const unsigned char *take(struct input *in, uint64_t length)
{
    if (length > in->left)
        return NULL;
    const unsigned char *bytes = in->at;
    in->at += length;
    in->left -= (size_t)length;
    return bytes;
}

bool tzif_has_magic(const void *bytes, size_t length)
{
    return length >= TZIF_MAGIC_LENGTH && memcmp(bytes, "TZif", TZIF_MAGIC_LENGTH) == 0;
}

static enum status read_header(struct input *in, struct counts *ret)
{
    const unsigned char *header = take(in, HEADER_LENGTH);
    if (!header)
        return corrupt(in->error, "the file ends within a header");
    if (!tzif_has_magic(header, HEADER_LENGTH))
        return corrupt(in->error, "a header does not begin with \"TZif\"");
    if (header[VERSION_AT] == '\0')
        return corrupt(in->error, "version 1 of TZif has only 32-bit times; 2 or newer is needed");
    if (header[VERSION_AT] < '2')
        return corrupt(in->error, "the version of TZif is unknown");
    const unsigned char *counts = header + COUNTS_AT;
    *ret = (struct counts){
        .ut_flags = read_u32(counts),
        .standard_flags = read_u32(counts + 4),
        .leaps = read_u32(counts + 8),
        .transitions = read_u32(counts + 12),
        .types = read_u32(counts + 16),
        .name_bytes = read_u32(counts + 20),
    };
    return OK;
}

/* Sums of 32-bit counts times small numbers: 64 bits cannot overflow. */
static uint64_t block_length(const struct counts *counts, unsigned time_length)
{
    return (uint64_t)counts->transitions * (time_length + 1) +
           (uint64_t)counts->types * TYPE_LENGTH + counts->name_bytes +
           (uint64_t)counts->leaps * (time_length + 4) + counts->standard_flags + counts->ut_flags;
}

static enum status check_counts(const struct counts *counts, struct parse_error *error)
{
    if (counts->leaps)
        return corrupt(error, "it counts leap seconds, which Unix time does not");
    if (counts->types == 0 || counts->types > 256)
        return corrupt(error, "the number of local time types is not 1 to 256");
    if (counts->name_bytes == 0)
        return corrupt(error, "it has no abbreviations");
    if (counts->transitions > TZIF_TRANSITIONS_MAX)
        return corrupt(error, "it has too many transitions");
    if ((counts->standard_flags && counts->standard_flags != counts->types) ||
        (counts->ut_flags && counts->ut_flags != counts->types))
        return corrupt(error, "its indicators are not as many as its local time types");
    return OK;
}

/* A line feed, a text, a line feed. Whatever follows is for versions to come. */
static enum status read_footer(struct input *in, struct block *block)
{
    if (!in->left || in->at[0] != '\n')
        return corrupt(in->error, "the footer is missing");
    take(in, 1);
    const unsigned char *end = memchr(in->at, '\n', in->left);
    if (!end)
        return corrupt(in->error, "the file ends within the footer");
    block->footer = (const char *)in->at;
    block->footer_length = (size_t)(end - in->at);
    return OK;
}

/* Skips the 32-bit block and finds the parts of the 64-bit one. */
static enum status read_block(struct input *in, struct block *ret)
{
    struct block block = {0};
    struct counts old;
    enum status st = read_header(in, &old);
    if (st != OK)
        return st;
    if (!take(in, block_length(&old, TIME_V1_LENGTH)))
        return corrupt(in->error, "the file ends within its 32-bit data");
    st = read_header(in, &block.counts);
    if (st == OK)
        st = check_counts(&block.counts, in->error);
    if (st != OK)
        return st;
    const unsigned char *data = take(in, block_length(&block.counts, TIME_V2_LENGTH));
    if (!data)
        return corrupt(in->error, "the file ends within its 64-bit data");
    block.times = data;
    block.type_indices = block.times + (size_t)block.counts.transitions * TIME_V2_LENGTH;
    block.types = block.type_indices + block.counts.transitions;
    st = read_footer(in, &block);
    if (st == OK)
        *ret = block;
    return st;
}

static enum status check_types(const struct block *block, struct parse_error *error)
{
    for (uint32_t i = 0; i < block->counts.types; i++) {
        const unsigned char *type = block->types + (size_t)i * TYPE_LENGTH;
        int32_t offset_s = read_i32(type);
        if (offset_s < OFFSET_MIN_S || offset_s > OFFSET_MAX_S)
            return corrupt(error, "an offset from UTC is a day or more");
        if (type[4] > 1)
            return corrupt(error, "a daylight saving flag is neither 0 nor 1");
        if (type[5] >= block->counts.name_bytes)
            return corrupt(error, "an abbreviation lies outside of its table");
    }
    return OK;
}

static enum status check_transitions(const struct block *block, struct parse_error *error)
{
    for (uint32_t i = 0; i < block->counts.transitions; i++) {
        const unsigned char *time = block->times + (size_t)i * TIME_V2_LENGTH;
        if (i && read_i64(time) <= read_i64(time - TIME_V2_LENGTH))
            return corrupt(error, "its transitions are not in ascending order");
        if (read_i64(time) > FAR_FUTURE_S)
            return corrupt(error, "a transition is later than any calendar");
        if (block->type_indices[i] >= block->counts.types)
            return corrupt(error, "a transition names a local time type that is not there");
    }
    return OK;
}

static int32_t type_offset(const struct block *block, unsigned index)
{
    return read_i32(block->types + (size_t)index * TYPE_LENGTH);
}

/* The transitions that change the offset, into out->changes, which has room for all. */
static void read_changes(const struct block *block, struct tzif *out)
{
    int32_t offset_s = out->first_offset_s = type_offset(block, 0);
    for (uint32_t i = 0; i < block->counts.transitions; i++) {
        int64_t start_s = read_i64(block->times + (size_t)i * TIME_V2_LENGTH);
        int32_t next_s = type_offset(block, block->type_indices[i]);
        if (start_s <= BIG_BANG_S) {
            offset_s = out->first_offset_s = next_s;
            continue;
        }
        out->rule_from_s = start_s;
        if (next_s != offset_s)
            out->changes[out->count++] = (struct offset_change){start_s, next_s};
        offset_s = next_s;
    }
}

static enum status read_rule(const struct block *block, struct tzif *out, struct parse_error *error)
{
    struct parse_error why;
    if (!block->footer_length)
        return OK;
    if (posix_tz_parse(block->footer, block->footer_length, &out->rule, &why) != OK) {
        parse_fail(error, 0, "its footer, column %d: %s", why.column, why.message);
        return E_CORRUPT;
    }
    out->has_rule = true;
    return OK;
}

enum status tzif_parse(const void *bytes, size_t length, struct tzif *ret,
                       struct parse_error *reterr)
{
    struct input in = {.at = bytes, .left = length, .error = reterr};
    struct tzif tzif = {.rule_from_s = INT64_MIN};
    struct block block;
    enum status st = read_block(&in, &block);
    if (st == OK)
        st = check_types(&block, reterr);
    if (st == OK)
        st = check_transitions(&block, reterr);
    if (st == OK)
        st = read_rule(&block, &tzif, reterr);
    if (st != OK)
        return st;
    tzif.changes = calloc((size_t)block.counts.transitions + 1, sizeof(*tzif.changes));
    if (!tzif.changes)
        return E_NOMEM;
    read_changes(&block, &tzif);
    *ret = tzif;
    return OK;
}

void tzif_release(struct tzif *tzif)
{
    free(tzif->changes);
    *tzif = (struct tzif){0};
}
