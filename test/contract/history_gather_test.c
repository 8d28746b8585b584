/* The history that gathers, with nobody to gather from. */
#include "history_contract.h"
#include "history_gather.h"
#include "history_memory.h"

static struct loop *loop;
static struct gather_net *net;

static void make_place(char place[128])
{
    place[0] = '\0';
}

static enum status open_gather(const char *place, struct history_wake wake, struct history **ret)
{
    struct history *own;
    (void)place;
    enum status st = history_memory_new(wake, &own);
    return st == OK ? history_gather_new(net, own, false, wake, ret) : st;
}

static void remove_place(const char *place)
{
    (void)place;
}

static const struct history_backend backend = {
    .name = "history that gathers",
    .make_place = make_place,
    .open = open_gather,
    .remove_place = remove_place,
};

int main(void)
{
    if (loop_new(&loop) != OK || gather_net_new(loop, &net) != OK)
        return 1;
    int failed = history_contract_run(&backend);
    gather_net_free(net);
    loop_free(loop);
    return failed;
}
