#include "coord_kv.h"

#include <stdio.h>
#include <stdlib.h>

#include "coord_kv_internal.h"

static void free_kv(struct coord *coord)
{
    struct coord_kv *kv = (struct coord_kv *)coord;
    coord_kv_tasks_cancel(kv);
    kv_client_free(kv->client);
    free(kv->prefix);
    free(kv);
}

static const struct coord_ops ops = {
    .claim = coord_kv_claim,
    .release = coord_kv_release,
    .claim_free = coord_kv_claim_free,
    .held_until_boot_ms = coord_kv_held_until,
    .look = coord_kv_look,
    .watch = coord_kv_watch,
    .watch_free = coord_kv_watch_free,
    .select = coord_kv_select,
    .free = free_kv,
};

enum status coord_kv_open(struct loop *loop, struct kv_client *client, const char *prefix,
                          int64_t timeout_ms, struct coord **ret)
{
    struct coord_kv *kv = calloc(1, sizeof(*kv));
    if (kv && asprintf(&kv->prefix, "%s/coord", prefix) < 0)
        kv->prefix = NULL;
    if (!kv || !kv->prefix) {
        kv_client_free(client);
        free(kv);
        return E_NOMEM;
    }
    kv->base.ops = &ops;
    kv->loop = loop;
    kv->client = client;
    kv->timeout_ms = timeout_ms;
    *ret = &kv->base;
    return OK;
}
