#include "hash.h"

#include <string.h>

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

uint64_t hash_text(uint64_t seed, const char *text)
{
    return hash_bytes(seed, text, strlen(text) + 1);
}

uint64_t hash_below(uint64_t hash, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)hash * limit) >> 64);
}
