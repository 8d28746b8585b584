#include "etcd_model_internal.h"

#include <stdlib.h>
#include <string.h>

const struct model_end model_ok = {GRPC_OK, ""};
static const struct model_end no_lease = {GRPC_NOT_FOUND, "etcdserver: requested lease not found"};
const struct model_end model_compacted = {GRPC_OUT_OF_RANGE,
                                          "etcdserver: mvcc: required revision has been compacted"};
const struct model_end model_future = {GRPC_OUT_OF_RANGE,
                                       "etcdserver: mvcc: required revision is a future revision"};
const struct model_end model_full = {GRPC_RESOURCE_EXHAUSTED,
                                     "etcdserver: mvcc: database space exceeded"};

void *model_grow(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 64;
    items = realloc(items, *room * size);
    if (!items)
        abort();
    return items;
}

/* ---- keys ---- */

int model_compare(const void *a, size_t a_length, const void *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

/* The place of the first key that is not less. */
static size_t lower_bound(const struct etcd_model *model, const void *bytes, size_t length)
{
    size_t low = 0, high = model->key_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct model_key *key = model->keys[middle];
        if (model_compare(key->bytes, key->length, bytes, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool model_is_open_end(ProtobufCBinaryData end)
{
    return end.len == 1 && end.data[0] == '\0';
}

static struct model_key *find_key(const struct etcd_model *model, const void *bytes, size_t length)
{
    size_t at = lower_bound(model, bytes, length);
    if (at == model->key_count)
        return NULL;
    struct model_key *key = model->keys[at];
    return key->length == length && memcmp(key->bytes, bytes, length) == 0 ? key : NULL;
}

void etcd_model_span(const struct etcd_model *model, ProtobufCBinaryData key,
                     ProtobufCBinaryData end, size_t *ret_first, size_t *ret_after)
{
    *ret_first = lower_bound(model, key.data, key.len);
    if (end.len == 0)
        *ret_after = *ret_first + (find_key(model, key.data, key.len) != NULL);
    else
        *ret_after =
            model_is_open_end(end) ? model->key_count : lower_bound(model, end.data, end.len);
}

bool etcd_model_in_span(const struct model_key *key, ProtobufCBinaryData from,
                        ProtobufCBinaryData end)
{
    int order = model_compare(key->bytes, key->length, from.data, from.len);
    if (end.len == 0)
        return order == 0;
    return order >= 0 && (model_is_open_end(end) ||
                          model_compare(key->bytes, key->length, end.data, end.len) < 0);
}

static struct model_key *need_key(struct etcd_model *model, ProtobufCBinaryData bytes)
{
    struct model_key *key = find_key(model, bytes.data, bytes.len);
    if (key)
        return key;
    size_t at = lower_bound(model, bytes.data, bytes.len);
    key = calloc(1, sizeof(*key) + bytes.len);
    if (!key)
        abort();
    key->length = bytes.len;
    memcpy(key->bytes, bytes.data, bytes.len);
    model->keys =
        model_grow(model->keys, model->key_count, &model->key_room, sizeof(struct model_key *));
    memmove(model->keys + at + 1, model->keys + at,
            (model->key_count - at) * sizeof(struct model_key *));
    model->keys[at] = key;
    model->key_count++;
    return key;
}

/* ---- versions ---- */

void model_release_version(struct model_version *version)
{
    if (--version->holders == 0)
        free(version);
}

/* As of that revision; NULL: the key was not there. */
static const struct model_version *version_at(const struct model_key *key, int64_t revision)
{
    for (size_t i = key->count; i-- > 0;) {
        const struct model_version *version = key->versions[i];
        if (version->mod_revision <= revision)
            return version->version ? version : NULL;
    }
    return NULL;
}

const struct model_version *etcd_model_get(const struct etcd_model *model, const void *key,
                                           size_t length)
{
    const struct model_key *found = find_key(model, key, length);
    return found ? version_at(found, INT64_MAX) : NULL;
}

static void add_version(struct etcd_model *model, struct model_key *key, int64_t revision,
                        const ProtobufCBinaryData *value, int64_t lease)
{
    const struct model_version *before = version_at(key, INT64_MAX);
    size_t length = value ? value->len : 0;
    struct model_version *version = calloc(1, sizeof(*version) + length);
    if (!version)
        abort();
    version->key = key;
    version->mod_revision = revision;
    version->holders = 2;
    if (value) {
        version->create_revision = before ? before->create_revision : revision;
        version->version = before ? before->version + 1 : 1;
        version->lease = lease;
        version->length = length;
        if (length)
            memcpy(version->value, value->data, length);
    }
    key->versions =
        model_grow(key->versions, key->count, &key->room, sizeof(struct model_version *));
    key->versions[key->count++] = version;
    model->log = model_grow(model->log, model->log_count, &model->log_room, sizeof(*model->log));
    model->log[model->log_count++] = version;
}

Etcdpb__KeyValue *etcd_model_kv(struct arena *arena, const struct model_version *version,
                                bool with_value)
{
    Etcdpb__KeyValue *kv = arena_alloc(arena, sizeof(*kv));
    etcdpb__key_value__init(kv);
    kv->key = (ProtobufCBinaryData){version->key->length, version->key->bytes};
    kv->mod_revision = version->mod_revision;
    if (!version->version)
        return kv;
    kv->create_revision = version->create_revision;
    kv->version = version->version;
    kv->lease = version->lease;
    if (with_value)
        kv->value = (ProtobufCBinaryData){version->length, (uint8_t *)version->value};
    return kv;
}

size_t etcd_model_log_from(const struct etcd_model *model, int64_t revision)
{
    size_t low = 0, high = model->log_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (model->log[middle]->mod_revision < revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What was added to the log is a revision of its own. */
void model_commit(struct etcd_model *model, size_t log_before)
{
    if (model->log_count == log_before)
        return;
    model->revision++;
    if (model->changed)
        model->changed(model->context, model->log + log_before, model->log_count - log_before);
}

Etcdpb__Header *model_header(const struct etcd_model *model, struct arena *arena)
{
    Etcdpb__Header *header = arena_alloc(arena, sizeof(*header));
    etcdpb__header__init(header);
    header->revision = model->revision;
    header->member_id = MODEL_MEMBER_ID;
    header->cluster_id = model->cluster_id;
    header->raft_term = model->term;
    return header;
}

/* ---- ranges ---- */

enum { SORT_NONE, SORT_ASCENDING, SORT_DESCENDING };
enum { BY_KEY, BY_VERSION, BY_CREATED, BY_CHANGED, BY_VALUE };

static int64_t sort_number(const struct model_version *version, int target)
{
    return target == BY_VERSION   ? version->version
           : target == BY_CREATED ? version->create_revision
                                  : version->mod_revision;
}

static int sort_order(const struct model_version *a, const struct model_version *b, int target)
{
    if (target == BY_KEY)
        return model_compare(a->key->bytes, a->key->length, b->key->bytes, b->key->length);
    if (target == BY_VALUE)
        return model_compare(a->value, a->length, b->value, b->length);
    int64_t one = sort_number(a, target), other = sort_number(b, target);
    return one < other ? -1 : one > other;
}

/* Few, and mostly in order already. */
static void sort(const struct model_version **found, size_t count, int order, int target)
{
    for (size_t i = 1; i < count; i++) {
        const struct model_version *moved = found[i];
        size_t at = i;
        for (; at > 0; at--) {
            int is = sort_order(found[at - 1], moved, target);
            if (order == SORT_DESCENDING ? is >= 0 : is <= 0)
                break;
            found[at] = found[at - 1];
        }
        found[at] = moved;
    }
}

static bool is_wanted(const struct model_version *version, const Etcdpb__RangeRequest *request)
{
    return (!request->max_mod_revision || version->mod_revision <= request->max_mod_revision) &&
           (!request->min_mod_revision || version->mod_revision >= request->min_mod_revision) &&
           (!request->max_create_revision ||
            version->create_revision <= request->max_create_revision) &&
           (!request->min_create_revision ||
            version->create_revision >= request->min_create_revision);
}

void model_read_range(const struct etcd_model *model, struct arena *arena,
                      const Etcdpb__RangeRequest *request, Etcdpb__RangeResponse *ret)
{
    size_t first, after, count = 0;
    int64_t revision = request->revision ? request->revision : INT64_MAX;
    etcd_model_span(model, request->key, request->range_end, &first, &after);
    const struct model_version **found = arena_array(arena, after - first, sizeof(*found));
    ret->count = 0;
    for (size_t i = first; i < after; i++) {
        const struct model_version *version = version_at(model->keys[i], revision);
        ret->count += version != NULL;
        if (version && is_wanted(version, request))
            found[count++] = version;
    }
    if (request->count_only)
        return;
    bool is_sorted = request->sort_order == SORT_NONE && request->sort_target == BY_KEY;
    if (!is_sorted)
        sort(found, count, request->sort_order, request->sort_target);
    ret->more = request->limit > 0 && count > (size_t)request->limit;
    ret->n_kvs = ret->more ? (size_t)request->limit : count;
    ret->kvs = arena_array(arena, ret->n_kvs, sizeof(*ret->kvs));
    for (size_t i = 0; i < ret->n_kvs; i++)
        ret->kvs[i] = etcd_model_kv(arena, found[i], !request->keys_only);
}

struct model_end model_check_range(const struct etcd_model *model,
                                   const Etcdpb__RangeRequest *request)
{
    if (request->revision > model->revision)
        return model_future;
    return request->revision && request->revision < model->compacted ? model_compacted : model_ok;
}

struct model_end etcd_model_range(struct etcd_model *model, struct arena *arena,
                                  const Etcdpb__RangeRequest *request, Etcdpb__RangeResponse *ret)
{
    struct model_end end = model_check_range(model, request);
    if (end.code != GRPC_OK)
        return end;
    etcdpb__range_response__init(ret);
    ret->header = model_header(model, arena);
    model_read_range(model, arena, request, ret);
    return model_ok;
}

/* ---- writes; the revision is that of the write under way ---- */

void model_write_put(struct etcd_model *model, struct arena *arena,
                     const Etcdpb__PutRequest *request, Etcdpb__PutResponse *ret)
{
    const struct model_version *before = etcd_model_get(model, request->key.data, request->key.len);
    if (request->prev_kv && before)
        ret->prev_kv = etcd_model_kv(arena, before, true);
    add_version(model, need_key(model, request->key), model->revision + 1, &request->value,
                request->lease);
}

void model_write_delete(struct etcd_model *model, struct arena *arena,
                        const Etcdpb__DeleteRequest *request, Etcdpb__DeleteResponse *ret)
{
    size_t first, after;
    etcd_model_span(model, request->key, request->range_end, &first, &after);
    ret->prev_kvs = arena_array(arena, after - first, sizeof(*ret->prev_kvs));
    for (size_t i = first; i < after; i++) {
        const struct model_version *version = version_at(model->keys[i], INT64_MAX);
        if (!version)
            continue;
        if (request->prev_kv)
            ret->prev_kvs[ret->n_prev_kvs++] = etcd_model_kv(arena, version, true);
        ret->deleted++;
        add_version(model, model->keys[i], model->revision + 1, NULL, 0);
    }
}

struct model_end model_check_put(struct etcd_model *model, const Etcdpb__PutRequest *request)
{
    if (request->lease && !etcd_model_lease(model, request->lease))
        return no_lease;
    return model_ok;
}

struct model_end etcd_model_put(struct etcd_model *model, struct arena *arena,
                                const Etcdpb__PutRequest *request, Etcdpb__PutResponse *ret)
{
    struct model_end end = model->is_full ? model_full : model_check_put(model, request);
    if (end.code != GRPC_OK)
        return end;
    size_t before = model->log_count;
    etcdpb__put_response__init(ret);
    model_write_put(model, arena, request, ret);
    model_commit(model, before);
    ret->header = model_header(model, arena);
    return model_ok;
}

struct model_end etcd_model_delete(struct etcd_model *model, struct arena *arena,
                                   const Etcdpb__DeleteRequest *request,
                                   Etcdpb__DeleteResponse *ret)
{
    size_t before = model->log_count;
    etcdpb__delete_response__init(ret);
    model_write_delete(model, arena, request, ret);
    model_commit(model, before);
    ret->header = model_header(model, arena);
    return model_ok;
}

/* ---- leases and compaction ---- */

struct model_lease *etcd_model_lease(struct etcd_model *model, int64_t id)
{
    for (size_t i = 0; i < model->lease_count; i++)
        if (model->leases[i].id == id)
            return &model->leases[i];
    return NULL;
}

struct model_end etcd_model_grant(struct etcd_model *model, int64_t id, int64_t ttl_s)
{
    if (model->is_full)
        return model_full;
    if (etcd_model_lease(model, id))
        return (struct model_end){GRPC_FAILED_PRECONDITION, "etcdserver: lease already exists"};
    model->leases =
        model_grow(model->leases, model->lease_count, &model->lease_room, sizeof(*model->leases));
    model->leases[model->lease_count++] = (struct model_lease){.id = id, .ttl_s = ttl_s};
    return model_ok;
}

struct model_end etcd_model_revoke(struct etcd_model *model, int64_t id)
{
    struct model_lease *lease = etcd_model_lease(model, id);
    if (!lease)
        return no_lease;
    *lease = model->leases[--model->lease_count];
    size_t before = model->log_count;
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_version *version = version_at(model->keys[i], INT64_MAX);
        if (version && version->lease == id)
            add_version(model, model->keys[i], model->revision + 1, NULL, 0);
    }
    model_commit(model, before);
    return model_ok;
}

/* ---- all of it ---- */

void etcd_model_init(struct etcd_model *model)
{
    *model = (struct etcd_model){.revision = 1, .term = 2, .cluster_id = 7};
}

static void release_keys(struct model_key **keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < keys[i]->count; k++)
            model_release_version(keys[i]->versions[k]);
        free(keys[i]->versions);
        free(keys[i]);
    }
    free(keys);
}

void etcd_model_release(struct etcd_model *model)
{
    for (size_t i = 0; i < model->log_count; i++)
        model_release_version(model->log[i]);
    release_keys(model->keys, model->key_count);
    release_keys(model->dropped, model->dropped_count);
    free(model->log);
    free(model->leases);
}
