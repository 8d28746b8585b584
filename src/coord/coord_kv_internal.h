/* What the files of coord_kv share. */
#ifndef PEAL_COORD_KV_INTERNAL_H
#define PEAL_COORD_KV_INTERNAL_H

#include "coord_backend.h"
#include "coord_kv.h"

struct coord_kv_task; /* a look or a select that has yet to be told */

struct coord_kv {
    struct coord base;
    struct loop *loop;
    struct kv_client *client;
    char *prefix; /* PREFIX/coord */
    int64_t timeout_ms;
    struct coord_kv_task *tasks;
};

static inline struct kv_bytes coord_kv_bytes(const struct strbuf *text)
{
    return (struct kv_bytes){text->text, text->length};
}

/* ---- coord_kv_claim.c ---- */

enum status coord_kv_claim(struct coord *coord, const struct coord_want *want, coord_notify *notify,
                           void *context, struct coord_claim **ret);
void coord_kv_release(struct coord_claim *base);
void coord_kv_claim_free(struct coord_claim *base);
int64_t coord_kv_held_until(const struct coord_claim *base);

/* The fence after the last one, which is the text of the fence's key ("": none yet), in the cluster
 * with this id. The fences of an etcd that was restored from a backup begin above all that may have
 * been given out after the backup. E_CORRUPT. */
MUST_CHECK enum status coord_kv_next_fence(const char *last, uint64_t cluster_id, int64_t wall_ms,
                                           int64_t *ret);

/* ---- coord_kv_look.c ---- */

enum status coord_kv_look(struct coord *coord, enum coord_kind kind, const char *name,
                          coord_seen *seen, void *context);
enum status coord_kv_watch(struct coord *coord, enum coord_kind kind, const char *name,
                           coord_changed *changed, void *context, struct coord_watch **ret);
void coord_kv_watch_free(struct coord_watch *base);
enum status coord_kv_select(struct coord *coord, const char *service, const char *id,
                            int64_t hold_ms, coord_chosen *chosen, void *context);
void coord_kv_tasks_cancel(struct coord_kv *kv);

#endif
