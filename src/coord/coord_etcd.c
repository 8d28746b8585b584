#include "coord_etcd.h"

#include <stdio.h>
#include <stdlib.h>

#include "coord_etcd_internal.h"

enum { DEADLINE_MS = 5000 };

static void free_etcd(struct coord *coord)
{
    struct coord_etcd *etcd = (struct coord_etcd *)coord;
    coord_etcd_tasks_cancel(etcd);
    etcd_client_free(etcd->client);
    free(etcd->prefix);
    free(etcd);
}

static const struct coord_ops ops = {
    .claim = coord_etcd_claim,
    .release = coord_etcd_release,
    .claim_free = coord_etcd_claim_free,
    .held_until_boot_ms = coord_etcd_held_until,
    .look = coord_etcd_look,
    .watch = coord_etcd_watch,
    .watch_free = coord_etcd_watch_free,
    .select = coord_etcd_select,
    .free = free_etcd,
};

enum status coord_etcd_open(struct loop *loop, const struct etcd_client_config *config,
                            const char *prefix, struct coord **ret, struct parse_error *reterr)
{
    struct etcd_client_config own = *config;
    struct coord_etcd *etcd = calloc(1, sizeof(*etcd));
    if (!etcd)
        return E_NOMEM;
    etcd->base.ops = &ops;
    etcd->loop = loop;
    own.deadline_ms = own.deadline_ms ? own.deadline_ms : DEADLINE_MS;
    etcd->timeout_ms = own.deadline_ms;
    if (asprintf(&etcd->prefix, "%s/coord", prefix) < 0) {
        free(etcd);
        return E_NOMEM;
    }
    enum status st = etcd_client_new(loop, &own, &etcd->client, reterr);
    if (st != OK) {
        free(etcd->prefix);
        free(etcd);
        return st;
    }
    *ret = &etcd->base;
    return OK;
}
