/* The part of the mirror that holds documents. */
#ifndef PEAL_STORE_ETCD_MIRROR_DOCS_H
#define PEAL_STORE_ETCD_MIRROR_DOCS_H

#include "feed.h"
#include "kv.h"
#include "table.h"

struct mirror_doc {
    struct store_doc doc; /* its json is the mirror's */
    int64_t mod_revision;
};

void mirror_docs_init(struct table *docs);
void mirror_docs_release(struct table *docs);

/* `rest` is KIND/NAME; anything else is ignored. Feeds the change unless `feed` is NULL. E_VERSION,
 * E_CORRUPT, E_NOMEM. */
MUST_CHECK enum status mirror_put_doc(struct table *docs, const char *rest,
                                      const struct kv_pair *kv, struct feed *feed);
void mirror_delete_doc(struct table *docs, const char *rest, struct feed *feed);

/* As mirror_feed_difference. `by_content`: of those with the same revision as well. */
void mirror_docs_feed_difference(const struct table *before, const struct table *now,
                                 bool by_content, struct feed *feed);

struct mirror_doc *mirror_find_doc(const struct table *docs, const char *kind, const char *name);

#endif
