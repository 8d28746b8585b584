#include "shared_place.h"

#include <stdio.h>

#include "sqlite_place.h"

static void make_place(char place[128])
{
    sqlite_backend.make_place(place);
}

static enum status open_as(const char *place, const char *node, struct store_wake wake,
                           struct store **ret)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_shared_open(place, node, wake, ret, &why);
    if (st != OK)
        printf("%s: %s\n", status_text(st), why.text);
    strbuf_release(&why);
    return st;
}

static enum status open_shared(const char *place, struct store_wake wake, struct store **ret)
{
    return open_as(place, "node-1", wake, ret);
}

static enum status reopen_shared(const char *place, struct store_wake wake, struct store **store)
{
    *store = store_free(*store);
    return open_shared(place, wake, store);
}

static enum status open_other(struct store *first, const char *place, struct store_wake wake,
                              struct store **ret)
{
    (void)first;
    return open_as(place, "node-2", wake, ret);
}

static void remove_place(const char *place)
{
    char folder[160];
    snprintf(folder, sizeof(folder), "%s/nodes", place);
    remove_folder(folder);
    remove_folder(place);
}

const struct store_backend shared_backend = {
    .name = "shared",
    .make_place = make_place,
    .open = open_shared,
    .reopen = reopen_shared,
    .open_other = open_other,
    .remove_place = remove_place,
    .durable = true,
};
