/* What the files of coord_etcd share. */
#ifndef PEAL_COORD_ETCD_INTERNAL_H
#define PEAL_COORD_ETCD_INTERNAL_H

#include "coord_backend.h"
#include "coord_etcd.h"

struct etcd_task; /* a look or a select that has yet to be told */

struct coord_etcd {
    struct coord base;
    struct loop *loop;
    struct etcd_client *client;
    char *prefix; /* PREFIX/coord */
    int64_t timeout_ms;
    struct etcd_task *tasks;
};

static inline struct etcd_bytes etcd_bytes_of(const struct strbuf *text)
{
    return (struct etcd_bytes){text->text, text->length};
}

/* ---- coord_etcd_claim.c ---- */

enum status coord_etcd_claim(struct coord *coord, const struct coord_want *want,
                             coord_notify *notify, void *context, struct coord_claim **ret);
void coord_etcd_release(struct coord_claim *base);
void coord_etcd_claim_free(struct coord_claim *base);
int64_t coord_etcd_held_until(const struct coord_claim *base);

/* The fence after the last one, which is the text of the fence's key ("": none yet), in the cluster
 * with this id. The fences of an etcd that was restored from a backup begin above all that may have
 * been given out after the backup. E_CORRUPT. */
MUST_CHECK enum status coord_etcd_next_fence(const char *last, uint64_t cluster_id, int64_t wall_ms,
                                             int64_t *ret);

/* ---- coord_etcd_look.c ---- */

enum status coord_etcd_look(struct coord *coord, enum coord_kind kind, const char *name,
                            coord_seen *seen, void *context);
enum status coord_etcd_watch(struct coord *coord, enum coord_kind kind, const char *name,
                             coord_changed *changed, void *context, struct coord_watch **ret);
void coord_etcd_watch_free(struct coord_watch *base);
enum status coord_etcd_select(struct coord *coord, const char *service, const char *id,
                              int64_t hold_ms, coord_chosen *chosen, void *context);
void coord_etcd_tasks_cancel(struct coord_etcd *etcd);

#endif
