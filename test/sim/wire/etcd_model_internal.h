/* What the files of the model share. Writes are part of the revision that is under way, until
 * model_commit. */
#ifndef PEAL_SIM_ETCD_MODEL_INTERNAL_H
#define PEAL_SIM_ETCD_MODEL_INTERNAL_H

#include "etcd_model.h"

extern const struct model_end model_ok, model_full, model_compacted, model_future;

/* Room for one more; what has no room left moves. */
void *model_grow(void *items, size_t count, size_t *room, size_t size);
void model_release_version(struct model_version *version);

int model_compare(const void *a, size_t a_length, const void *b, size_t b_length);
bool model_is_open_end(ProtobufCBinaryData end); /* all keys from the first on */
Etcdpb__Header *model_header(const struct etcd_model *model, struct arena *arena);

struct model_end model_check_range(const struct etcd_model *model,
                                   const Etcdpb__RangeRequest *request);
struct model_end model_check_put(struct etcd_model *model, const Etcdpb__PutRequest *request);

void model_read_range(const struct etcd_model *model, struct arena *arena,
                      const Etcdpb__RangeRequest *request, Etcdpb__RangeResponse *ret);
void model_write_put(struct etcd_model *model, struct arena *arena,
                     const Etcdpb__PutRequest *request, Etcdpb__PutResponse *ret);
void model_write_delete(struct etcd_model *model, struct arena *arena,
                        const Etcdpb__DeleteRequest *request, Etcdpb__DeleteResponse *ret);

/* What was added to the log since is a revision of its own. */
void model_commit(struct etcd_model *model, size_t log_before);

#endif
