#include <stdio.h>
#include <stdlib.h>

#include "etcd_serve.h"
#include "model_place.h"

struct place {
    struct loop machine; /* first */
    struct stage stage;
    struct net net;
    struct etcd_serve serve;
};

static void failed(void *context, const char *what)
{
    (void)context;
    (void)what;
}

struct loop *model_place_open(const char **ret_endpoint)
{
    struct place *place = calloc(1, sizeof(*place));
    if (!place)
        abort();
    stage_init(&place->stage, 1);
    place->stage.failed = failed;
    net_init(&place->net, &place->stage);
    etcd_serve_init(&place->serve, &place->stage, &place->net);
    machine_init(&place->machine, &place->stage, 0, 1000000);
    place->machine.net = &place->net;
    machine_enter(&place->machine);
    *ret_endpoint = "http://127.0.0.1:2370";
    return &place->machine;
}

void model_place_close(struct loop *loop)
{
    struct place *place = (struct place *)loop;
    machine_leave(NULL);
    etcd_serve_release(&place->serve);
    net_release(&place->net);
    stage_release(&place->stage);
    free(place);
}
