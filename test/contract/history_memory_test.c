#include "history_contract.h"
#include "history_memory.h"

static void make_place(char place[128])
{
    place[0] = '\0';
}

static enum status open_memory(const char *place, struct history_wake wake, struct history **ret)
{
    (void)place;
    return history_memory_new(wake, ret);
}

static void remove_place(const char *place)
{
    (void)place;
}

static const struct history_backend backend = {
    .name = "history in memory",
    .make_place = make_place,
    .open = open_memory,
    .remove_place = remove_place,
};

int main(void)
{
    return history_contract_run(&backend);
}
