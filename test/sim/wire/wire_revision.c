/* Stands in for store_kv_revision.c: what a node remembers on its disk. The path is the address
 * of where the world keeps it. */
#include <stdint.h>
#include <stdlib.h>

#include "wire_world.h"

static struct remembered *find(const char *path)
{
    return (struct remembered *)(uintptr_t)strtoull(path, NULL, 16);
}

bool revision_file_read(const char *path, struct revision_record *ret)
{
    const struct remembered *remembered = find(path);
    if (!remembered || !remembered->is_there)
        return false;
    *ret = remembered->record;
    return true;
}

/* A program that was killed writes nothing more. */
enum status revision_file_write(const char *path, const struct revision_record *record)
{
    struct remembered *remembered = find(path);
    if (!remembered || remembered->machine->is_ghost)
        return E_IO;
    remembered->record = *record;
    remembered->is_there = true;
    return OK;
}
