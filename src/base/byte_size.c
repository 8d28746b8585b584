#include "byte_size.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int64_t bytes;
} units[] = {
    {"", 1},
    {"B", 1},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
};

enum status byte_size_parse(const char *text, int64_t min, int64_t max, int64_t *ret,
                            struct parse_error *reterr)
{
    char *unit;
    if (!isdigit((unsigned char)text[0]))
        return parse_fail(reterr, 1, "\"%.40s\" is not " BYTE_SIZE_LIKE, text);
    errno = 0;
    int64_t count = strtoll(text, &unit, 10);
    if (errno)
        return parse_fail(reterr, 1, "%.40s is too large", text);
    if (*unit == '.')
        return parse_fail(reterr, 1, "a size has no fractions; write 1536KiB for 1.5MiB");
    unit += *unit == ' ';
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) != 0)
            continue;
        if (count > max / units[i].bytes || count * units[i].bytes < min)
            return parse_fail(reterr, 1, "%.40s is out of range %lld to %lld bytes", text,
                              (long long)min, (long long)max);
        *ret = count * units[i].bytes;
        return OK;
    }
    return parse_fail(reterr, 1, "unknown unit \"%.20s\"; use KiB, MiB, GiB, KB, MB or GB", unit);
}
