#include "function/lacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"

enum { DIGITS = 8 };

uint32_t lacks_hash(const char *function)
{
    return (uint32_t)hash_text(0, function);
}

void lacks_add(uint32_t hash, struct strbuf *out)
{
    strbuf_addf(out, "%08" PRIx32, hash);
}

bool lacks_has(const char *lacks, const char *function)
{
    char digits[DIGITS + 1];
    if (!*lacks)
        return false;
    snprintf(digits, sizeof(digits), "%08" PRIx32, lacks_hash(function));
    for (size_t left = strlen(lacks); left >= DIGITS; left -= DIGITS, lacks += DIGITS)
        if (memcmp(lacks, digits, DIGITS) == 0)
            return true;
    return false;
}

bool lacks_more(const char *lacks)
{
    return strchr(lacks, '+') != NULL;
}
