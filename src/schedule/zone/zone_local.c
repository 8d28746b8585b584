#include "zone/zone_local.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zone/zone_file.h"

static bool is_zone(const char *dir, const char *name)
{
    return zone_name_is_safe(name) && (strcmp(name, "UTC") == 0 || zone_file_exists(dir, name));
}

/* The part of a path behind the database's directory, wherever that is mounted or linked to:
 * "Europe/Berlin" of "../usr/share/zoneinfo/Europe/Berlin". NULL if it names no zone. */
static const char *zone_in_path(const char *dir, const char *path)
{
    const char *slash = strrchr(dir, '/');
    const char *base = slash ? slash + 1 : dir;
    size_t length = strlen(base);
    for (const char *at = path; (at = strstr(at, base)); at += length)
        if (at > path && at[-1] == '/' && at[length] == '/' && is_zone(dir, at + length + 1))
            return at + length + 1;
    return NULL;
}

/* ":Europe/Berlin", "Europe/Berlin" or a path. A rule such as "CET-1CEST" is no name. */
static bool add_from_tz(const char *dir, const char *tz, struct strbuf *out)
{
    if (*tz == ':')
        tz++;
    if (!*tz)
        tz = "UTC"; /* what an empty $TZ means to every program */
    const char *name = NULL;
    if (*tz == '/')
        name = zone_in_path(dir, tz);
    else if (is_zone(dir, tz))
        name = tz;
    if (name)
        strbuf_adds(out, name);
    return name;
}

/* The link itself says best what the administrator chose: the database has links in it too. */
static bool add_from_localtime(const char *dir, const char *etc_dir, struct strbuf *out)
{
    char path[PATH_MAX], target[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/localtime", etc_dir) >= (int)sizeof(path))
        return false;
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return false; /* not there, or a copy, which has no name */
    target[length] = '\0';
    const char *name = zone_in_path(dir, target);
    if (!name && realpath(path, target))
        name = zone_in_path(dir, target);
    if (name)
        strbuf_adds(out, name);
    return name;
}

static bool add_from_timezone(const char *dir, const char *etc_dir, struct strbuf *out)
{
    char path[PATH_MAX], line[256] = "";
    if (snprintf(path, sizeof(path), "%s/timezone", etc_dir) >= (int)sizeof(path))
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(line, sizeof(line), file);
    fclose(file);
    line[strcspn(line, " \t\r\n")] = '\0';
    if (!read || !is_zone(dir, line))
        return false;
    strbuf_adds(out, line);
    return true;
}

bool zone_local_name(const char *dir, const char *tz, const char *etc_dir, struct strbuf *out)
{
    if (tz && add_from_tz(dir, tz, out))
        return true;
    if (!add_from_localtime(dir, etc_dir, out) && !add_from_timezone(dir, etc_dir, out))
        strbuf_adds(out, "UTC");
    return !tz;
}
