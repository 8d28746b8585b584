#include "mirror/store_kv_mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mirror/store_kv_mirror_items.h"

/* ---- the tables' keys ---- */

static const struct table_type jobs_type = {.key_at = offsetof(struct mirror_job, row.uid),
                                            .key_size = sizeof(struct id)};
static const struct table_type runs_type = {.key_at = offsetof(struct mirror_run, row.run.id),
                                            .key_size = sizeof(struct id)};
static const struct table_type names_type = {.key_at = offsetof(struct mirror_name, text)};
static const struct table_type entries_type = {.key_at = offsetof(struct mirror_entry, entry.id),
                                               .key_size = sizeof(struct id)};

struct mirror_job *mirror_find_job(const struct mirror *mirror, const struct id *uid)
{
    return table_find(&mirror->jobs, uid);
}

struct mirror_run *mirror_find_run(const struct mirror *mirror, const struct id *id)
{
    return table_find(&mirror->runs, id);
}

struct mirror_name *mirror_find_name(const struct mirror *mirror, const char *name)
{
    return table_find(&mirror->names, name);
}

struct mirror_entry *mirror_find_entry(const struct mirror *mirror, const struct id *id)
{
    return table_find(&mirror->entries, id);
}

/* ---- what stands alone ---- */

static void put_meta(struct mirror *mirror, const char *rest, const struct kv_pair *kv)
{
    struct store_set_meta meta = {.key = ""};
    size_t node = strlen(mirror->node);
    if (strncmp(rest, mirror->node, node) != 0 || rest[node] != '/')
        return;
    size_t length = kv->value.length < sizeof(meta.value) ? kv->value.length : 0;
    snprintf(meta.key, sizeof(meta.key), "%s", rest + node + 1);
    memcpy(meta.value, kv->value.data, length);
    feed_add(&mirror->metas, &(struct store_change){.kind = STORE_CHANGE_META, .meta = &meta});
}

static enum status put_halt(struct mirror *mirror, const struct kv_pair *kv)
{
    char *halt = strndup(kv->value.data, kv->value.length);
    if (!halt)
        return E_NOMEM;
    free(mirror->halt);
    mirror->halt = halt;
    mirror->halt_revision = kv->mod_revision;
    return OK;
}

static void delete_halt(struct mirror *mirror)
{
    free(mirror->halt);
    mirror->halt = NULL;
    mirror->halt_revision = 0;
}

/* ---- keys ---- */

enum key_kind {
    KEY_JOB,
    KEY_CURSOR,
    KEY_NAME,
    KEY_RUN,
    KEY_ENTRY,
    KEY_META,
    KEY_PEER,
    KEY_DRAIN,
    KEY_DOC,
    KEY_EPOCH,
    KEY_HALT,
    KEY_OTHER,
};

struct mirror_key {
    enum key_kind kind;
    struct id id;   /* of a job, a cursor, a run, an entry */
    char rest[384]; /* the key after the kind */
};

static const char *const kinds[] = {
    [KEY_JOB] = "jobs/",   [KEY_CURSOR] = "cursors/", [KEY_NAME] = "names/",
    [KEY_RUN] = "runs/",   [KEY_ENTRY] = "entries/",  [KEY_META] = "metas/",
    [KEY_PEER] = "nodes/", [KEY_DRAIN] = "drains/",   [KEY_DOC] = "docs/",
    [KEY_EPOCH] = "epoch", [KEY_HALT] = "halt",
};

static void parse_key(const struct mirror *mirror, struct kv_bytes key, struct mirror_key *ret)
{
    size_t skip = strlen(mirror->prefix) + 1; /* and the slash */
    ret->kind = KEY_OTHER;
    if (key.length < skip)
        return;
    const char *text = (const char *)key.data + skip;
    size_t length = key.length - skip;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t head = strlen(kinds[i]);
        if (length < head || memcmp(text, kinds[i], head) != 0 ||
            length - head >= sizeof(ret->rest))
            continue;
        memcpy(ret->rest, text + head, length - head);
        ret->rest[length - head] = '\0';
        bool has_id = i == KEY_JOB || i == KEY_CURSOR || i == KEY_RUN || i == KEY_ENTRY;
        bool is_alone = i == KEY_EPOCH || i == KEY_HALT;
        if (is_alone ? !ret->rest[0] : !has_id || id_parse(ret->rest, &ret->id) == OK)
            ret->kind = (enum key_kind)i;
        return;
    }
}

static enum status read_value(struct mirror *mirror, const struct mirror_key *key,
                              const struct kv_pair *kv, struct feed *feed)
{
    switch (key->kind) {
    case KEY_JOB:
        return mirror_put_job(mirror, &key->id, kv, feed);
    case KEY_CURSOR:
        return mirror_put_cursor(mirror, &key->id, kv, feed);
    case KEY_NAME:
        return mirror_put_name(mirror, key->rest, kv);
    case KEY_RUN:
        return mirror_put_run(mirror, &key->id, kv, feed);
    case KEY_ENTRY:
        return mirror_put_entry(mirror, &key->id, kv, feed);
    case KEY_META:
        if (!feed) /* metas are fed only while loading */
            put_meta(mirror, key->rest, kv);
        return OK;
    case KEY_PEER:
        return mirror_put_peer(&mirror->nodes, key->rest, kv, feed);
    case KEY_DRAIN:
        return mirror_put_drain(&mirror->nodes, key->rest, kv, feed);
    case KEY_DOC:
        return mirror_put_doc(&mirror->docs, key->rest, kv, feed);
    case KEY_EPOCH:
        return value_read_epoch(kv, &mirror->epoch);
    case KEY_HALT:
        return put_halt(mirror, kv);
    case KEY_OTHER:
        break;
    }
    return OK;
}

/* Removes the key's old value; `feed` may be NULL. */
static void forget_value(struct mirror *mirror, const struct mirror_key *key, struct feed *feed)
{
    if (key->kind == KEY_JOB)
        mirror_delete_job(mirror, &key->id, feed);
    if (key->kind == KEY_CURSOR)
        mirror_delete_cursor(mirror, &key->id, feed);
    if (key->kind == KEY_NAME)
        mirror_delete_name(mirror, key->rest);
    if (key->kind == KEY_RUN)
        mirror_delete_run(mirror, &key->id);
    if (key->kind == KEY_ENTRY)
        mirror_delete_entry(mirror, &key->id);
    if (feed && (key->kind == KEY_RUN || key->kind == KEY_ENTRY))
        feed_add_gone(feed, &key->id);
    if (key->kind == KEY_DRAIN)
        mirror_delete_drain(&mirror->nodes, key->rest, feed);
    if (key->kind == KEY_DOC)
        mirror_delete_doc(&mirror->docs, key->rest, feed);
    if (key->kind == KEY_HALT)
        delete_halt(mirror);
}

static void print_key(const struct mirror_key *key, char *text, size_t size)
{
    snprintf(text, size, "%s%s", kinds[key->kind], key->rest);
}

/* A run or an entry that was never fed. */
static bool is_unheard_of(const struct mirror *mirror, const struct mirror_key *key)
{
    return (key->kind == KEY_RUN && !mirror_find_run(mirror, &key->id)) ||
           (key->kind == KEY_ENTRY && !mirror_find_entry(mirror, &key->id));
}

/* A node whose heartbeat can't be decoded stays as it was, until its next one. */
static enum status set_aside(struct mirror *mirror, const struct mirror_key *key, enum status why,
                             const struct kv_pair *kv, struct feed *feed)
{
    char text[sizeof(key->rest) + 16];
    enum status st = OK;
    print_key(key, text, sizeof(text));
    if (key->kind == KEY_JOB)
        st = mirror_set_job_aside(mirror, &key->id, feed);
    else if (key->kind == KEY_CURSOR)
        st = mirror_set_cursor_aside(mirror, &key->id, feed);
    else if (key->kind != KEY_PEER)
        forget_value(mirror, key, is_unheard_of(mirror, key) ? NULL : feed);
    return st == OK ? mirror_set_aside(&mirror->asides, text, why, kv->mod_revision, feed) : st;
}

static void unset_aside(struct mirror *mirror, const struct mirror_key *key, struct feed *feed)
{
    char text[sizeof(key->rest) + 16];
    if (!mirror->asides.count || key->kind == KEY_OTHER)
        return;
    print_key(key, text, sizeof(text));
    mirror_unset_aside(&mirror->asides, text, feed);
}

enum status mirror_put(struct mirror *mirror, const struct kv_pair *kv, struct feed *feed)
{
    struct mirror_key key;
    parse_key(mirror, kv->key, &key);
    enum status st = read_value(mirror, &key, kv, feed);
    if ((st == E_CORRUPT || st == E_VERSION) && key.kind != KEY_EPOCH)
        return set_aside(mirror, &key, st, kv, feed);
    if (st == OK)
        unset_aside(mirror, &key, feed);
    return st;
}

enum status mirror_delete(struct mirror *mirror, struct kv_bytes deleted, struct feed *feed)
{
    struct mirror_key key;
    parse_key(mirror, deleted, &key);
    unset_aside(mirror, &key, feed);
    forget_value(mirror, &key, feed);
    if (key.kind == KEY_PEER)
        mirror_delete_peer(&mirror->nodes, key.rest, feed);
    return OK;
}

/* ---- all of it ---- */

void mirror_init(struct mirror *mirror, const char *prefix, const char *node)
{
    *mirror = (struct mirror){.prefix = prefix, .node = node};
    table_init(&mirror->jobs, &jobs_type);
    table_init(&mirror->names, &names_type);
    table_init(&mirror->runs, &runs_type);
    table_init(&mirror->entries, &entries_type);
    mirror_nodes_init(&mirror->nodes);
    mirror_docs_init(&mirror->docs);
    mirror_asides_init(&mirror->asides);
}

void mirror_release(struct mirror *mirror)
{
    void *job;
    table_release_items(&mirror->runs);
    table_release_items(&mirror->names);
    table_release_items(&mirror->entries);
    for (size_t at = 0; (job = table_next(&mirror->jobs, &at));)
        mirror_release_job(job);
    table_release(&mirror->jobs);
    mirror_nodes_release(&mirror->nodes);
    mirror_docs_release(&mirror->docs);
    mirror_asides_release(&mirror->asides);
    feed_release(&mirror->metas);
    free(mirror->halt);
}
