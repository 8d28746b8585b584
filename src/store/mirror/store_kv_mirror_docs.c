#include "mirror/store_kv_mirror_docs.h"

#include <stdlib.h>
#include <string.h>

#include "doc_key.h"
#include "kv/store_kv_value.h"

static const struct table_type docs_type = {
    .key_at = offsetof(struct mirror_doc, doc), .hash = doc_hash, .is_same = doc_is};

struct mirror_doc *mirror_find_doc(const struct table *docs, const char *kind, const char *name)
{
    struct store_doc key;
    doc_key(kind, name, &key);
    return table_find(docs, &key);
}

static struct mirror_doc *find_same(const struct table *docs, const struct store_doc *doc)
{
    return mirror_find_doc(docs, doc->kind, doc->name);
}

static void free_doc(struct mirror_doc *doc)
{
    free((char *)doc->doc.json);
    free(doc);
}

static void feed_doc(struct feed *feed, const struct store_doc *doc)
{
    if (feed)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DOC, .doc = doc});
}

static void feed_gone_doc(struct feed *feed, const struct store_doc *doc)
{
    struct store_doc gone = *doc;
    gone.json = NULL;
    gone.revision++;
    feed_doc(feed, &gone);
}

/* ---- single keys ---- */

static bool parse_rest(const char *rest, struct store_doc *ret)
{
    const char *slash = strchr(rest, '/');
    size_t kind = slash ? (size_t)(slash - rest) : 0;
    if (!slash || kind >= sizeof(ret->kind) || strlen(slash + 1) >= sizeof(ret->name))
        return false;
    *ret = (struct store_doc){.revision = 0};
    memcpy(ret->kind, rest, kind);
    memcpy(ret->name, slash + 1, strlen(slash + 1));
    return true;
}

enum status mirror_put_doc(struct table *docs, const char *rest, const struct kv_pair *kv,
                           struct feed *feed)
{
    struct store_doc read;
    char *json;
    if (!parse_rest(rest, &read))
        return OK;
    enum status st = value_read_doc(kv, &read.revision, &json);
    if (st != OK)
        return st;
    read.json = json;
    struct mirror_doc fresh = {read, kv->mod_revision}, *doc = find_same(docs, &read);
    if (doc) {
        free((char *)doc->doc.json);
        *doc = fresh;
    } else if (!table_add(docs, &fresh, sizeof(fresh))) {
        free(json);
        return E_NOMEM;
    }
    feed_doc(feed, &read);
    return OK;
}

void mirror_delete_doc(struct table *docs, const char *rest, struct feed *feed)
{
    struct store_doc key;
    struct mirror_doc *doc = parse_rest(rest, &key) ? find_same(docs, &key) : NULL;
    if (!doc)
        return;
    feed_gone_doc(feed, &doc->doc);
    table_remove(docs, doc);
    free_doc(doc);
}

/* ---- all of them ---- */

void mirror_docs_feed_difference(const struct table *before, const struct table *now,
                                 bool by_content, struct feed *feed)
{
    const struct mirror_doc *doc, *old;
    for (size_t at = 0; (doc = table_next(now, &at));) {
        old = before ? find_same(before, &doc->doc) : NULL;
        bool is_other =
            old && by_content &&
            (old->doc.revision != doc->doc.revision || strcmp(old->doc.json, doc->doc.json) != 0);
        if (!old || old->mod_revision != doc->mod_revision || is_other)
            feed_doc(feed, &doc->doc);
    }
    for (size_t at = 0; before && (doc = table_next(before, &at));)
        if (!find_same(now, &doc->doc))
            feed_gone_doc(feed, &doc->doc);
}

void mirror_docs_init(struct table *docs)
{
    table_init(docs, &docs_type);
}

void mirror_docs_release(struct table *docs)
{
    struct mirror_doc *doc;
    for (size_t at = 0; (doc = table_next(docs, &at));)
        free_doc(doc);
    table_release(docs);
}
