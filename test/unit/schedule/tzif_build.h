/* Makes TZif files for tests, good ones and, by bending its fields, bad ones. */
#ifndef PEAL_TEST_TZIF_BUILD_H
#define PEAL_TEST_TZIF_BUILD_H

#include <stddef.h>
#include <stdint.h>

struct tzif_build {
    char version;       /* '2' when 0; use 1 for a version 1 file */
    const char *footer; /* without its line feeds; NULL: "" */
    const int64_t *times;
    const unsigned char *type_indices;
    uint32_t transitions;
    const int32_t *offsets; /* one per type; NULL: a single type of offset 0 */
    uint32_t types;
    uint32_t leaps;
};

enum {
    TZIF_BUILD_SIZE = 4096,
    TZIF_BUILD_HEADER_2 = 44, /* the second header: the 32-bit block is empty */
    TZIF_BUILD_DATA = 88,     /* the 64-bit times */
};

/* Returns the length. */
size_t tzif_build(const struct tzif_build *build, unsigned char bytes[static TZIF_BUILD_SIZE]);

/* Overwrites a big-endian 32-bit number. */
void tzif_build_poke(unsigned char *bytes, size_t at, uint32_t value);

#endif
