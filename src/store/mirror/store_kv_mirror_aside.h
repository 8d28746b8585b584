/* The part of the mirror for values that can't be decoded: damaged, foreign, or of a newer version.
 * They are left unchanged; the rest goes on. */
#ifndef PEAL_STORE_ETCD_MIRROR_ASIDE_H
#define PEAL_STORE_ETCD_MIRROR_ASIDE_H

#include <stdint.h>

#include "feed.h"
#include "table.h"

struct mirror_aside {
    enum status why; /* E_CORRUPT, E_VERSION */
    int64_t mod_revision;
    char key[]; /* without the prefix: "runs/01J..." */
};

void mirror_asides_init(struct table *asides);
void mirror_asides_release(struct table *asides);

/* Feeds the change unless `feed` is NULL. E_NOMEM. */
MUST_CHECK enum status mirror_set_aside(struct table *asides, const char *key, enum status why,
                                        int64_t mod_revision, struct feed *feed);
/* The value can be decoded again, or was removed. A key that was not set aside is no error. */
void mirror_unset_aside(struct table *asides, const char *key, struct feed *feed);

/* As mirror_feed_difference. */
void mirror_asides_feed_difference(const struct table *before, const struct table *now,
                                   struct feed *feed);

/* `kind` as in the key: "runs/". */
bool mirror_is_aside(const struct table *asides, const char *kind, const char *rest);

/* The mod revision of the value that was set aside; 0: it is not. */
int64_t mirror_aside_revision(const struct table *asides, const char *kind, const char *rest);

#endif
