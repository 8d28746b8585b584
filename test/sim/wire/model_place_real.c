#include <signal.h>
#include <stdio.h>

#include "etcd_server.h"
#include "model_place.h"

static struct etcd_cluster servers = {.count = 1};

struct loop *model_place_open(const char **ret_endpoint)
{
    struct loop *loop;
    if (!etcd_cluster_available()) {
        puts("there is no etcd");
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    etcd_cluster_start(&servers);
    *ret_endpoint = servers.endpoints[0];
    return loop_new(&loop) == OK ? loop : NULL;
}

void model_place_close(struct loop *loop)
{
    loop_free(loop);
    etcd_cluster_remove(&servers);
}
