#include "tzif_build.h"

#include <assert.h>
#include <string.h>

struct output {
    unsigned char *bytes;
    size_t length;
};

static void put(struct output *out, const void *bytes, size_t length)
{
    assert(out->length + length <= TZIF_BUILD_SIZE);
    if (length)
        memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

static void put_number(struct output *out, uint64_t value, int length)
{
    for (int i = length - 1; i >= 0; i--) {
        unsigned char byte = (unsigned char)(value >> (8 * i));
        put(out, &byte, 1);
    }
}

static void put_header(struct output *out, char version, uint32_t leaps, uint32_t transitions,
                       uint32_t types, uint32_t name_bytes)
{
    static const char reserved[15];
    put(out, "TZif", 4);
    put(out, &version, 1);
    put(out, reserved, sizeof(reserved));
    uint32_t counts[] = {0, 0, leaps, transitions, types, name_bytes};
    for (int i = 0; i < 6; i++)
        put_number(out, counts[i], 4);
}

size_t tzif_build(const struct tzif_build *build, unsigned char bytes[static TZIF_BUILD_SIZE])
{
    static const int32_t offset_0;
    struct output out = {.bytes = bytes};
    char version = build->version ? build->version : '2';
    uint32_t types = build->offsets ? build->types : 1;
    const int32_t *offsets = build->offsets ? build->offsets : &offset_0;
    if (version == 1)
        version = '\0';
    put_header(&out, version, 0, 0, 0, 0);
    put_header(&out, version, build->leaps, build->transitions, types, 4);
    for (uint32_t i = 0; i < build->transitions; i++)
        put_number(&out, (uint64_t)build->times[i], 8);
    put(&out, build->type_indices, build->transitions);
    for (uint32_t i = 0; i < types; i++) {
        put_number(&out, (uint32_t)offsets[i], 4);
        put(&out, "\0\0", 2);
    }
    put(&out, "ABC", 4);
    for (uint32_t i = 0; i < build->leaps; i++) {
        put_number(&out, 78796800 + i, 8);
        put_number(&out, i + 1, 4);
    }
    const char *footer = build->footer ? build->footer : "";
    put(&out, "\n", 1);
    put(&out, footer, strlen(footer));
    put(&out, "\n", 1);
    return out.length;
}

void tzif_build_poke(unsigned char *bytes, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[at + (size_t)i] = (unsigned char)(value >> (24 - 8 * i));
}
