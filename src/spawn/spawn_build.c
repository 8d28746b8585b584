#include "spawn_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number at *at, which is moved behind it and the dot that follows it. */
static unsigned long take_number(const char **at)
{
    char *end;
    unsigned long number = strtoul(*at, &end, 10);
    *at = *end == '.' ? end + 1 : end;
    return number;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* By numbers, of which those that are missing are 0. */
static int compare_versions(const char *a, const char *b)
{
    while (is_digit(*a) || is_digit(*b)) {
        unsigned long x = is_digit(*a) ? take_number(&a) : 0;
        unsigned long y = is_digit(*b) ? take_number(&b) : 0;
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

enum build_order build_compare(const struct spawn_build *build, const struct spawn_build *own)
{
    if (!*build->version)
        return BUILD_OLDER;
    int order = compare_versions(build->version, own->version);
    if (order)
        return order < 0 ? BUILD_OLDER : BUILD_NEWER;
    bool is_same =
        strcmp(build->version, own->version) == 0 && strcmp(build->revision, own->revision) == 0;
    return is_same ? BUILD_SAME : BUILD_OTHER;
}

const char *build_text(const struct spawn_build *build, char *buf, size_t size)
{
    if (!*build->version)
        snprintf(buf, size, "an earlier version");
    else if (*build->revision)
        snprintf(buf, size, "%s (%s)", build->version, build->revision);
    else
        snprintf(buf, size, "%s", build->version);
    return buf;
}
