#include <stdio.h>

#include "store_contract.h"
#include "store_memory.h"

static void make_place(char place[128])
{
    place[0] = '\0';
}

static enum status open_memory(const char *place, struct store_wake wake, struct store **ret)
{
    (void)place;
    return store_memory_new(wake, ret);
}

static enum status reopen_memory(const char *place, struct store_wake wake, struct store **store)
{
    (void)place;
    (void)wake;
    store_memory_reload(*store);
    return OK;
}

static enum status open_other(struct store *first, const char *place, struct store_wake wake,
                              struct store **ret)
{
    (void)place;
    return store_memory_attach(first, wake, ret);
}

static void remove_place(const char *place)
{
    (void)place;
}

int main(void)
{
    static const struct store_backend memory = {
        .name = "memory",
        .make_place = make_place,
        .open = open_memory,
        .reopen = reopen_memory,
        .open_other = open_other,
        .remove_place = remove_place,
    };
    return store_contract_run(&memory);
}
