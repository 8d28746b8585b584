#include "store_etcd_mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

/* ---- the tables' keys ---- */

static uint64_t id_hash(const struct id *id)
{
    return hash_bytes(0, id->bytes, sizeof(id->bytes));
}

static uint64_t job_hash(const void *item)
{
    return id_hash(&((const struct mirror_job *)item)->row.uid);
}

static bool job_has_uid(const void *item, const void *key)
{
    return id_compare(&((const struct mirror_job *)item)->row.uid, key) == 0;
}

static uint64_t run_hash(const void *item)
{
    return id_hash(&((const struct mirror_run *)item)->row.run.id);
}

static bool run_has_id(const void *item, const void *key)
{
    return id_compare(&((const struct mirror_run *)item)->row.run.id, key) == 0;
}

static uint64_t name_hash(const void *item)
{
    return hash_text(0, ((const struct mirror_name *)item)->text);
}

static bool name_is(const void *item, const void *key)
{
    return strcmp(((const struct mirror_name *)item)->text, key) == 0;
}

static uint64_t entry_hash(const void *item)
{
    return id_hash(&((const struct mirror_entry *)item)->entry.id);
}

static bool entry_has_id(const void *item, const void *key)
{
    return id_compare(&((const struct mirror_entry *)item)->entry.id, key) == 0;
}

static const struct table_type jobs_type = {job_hash, job_has_uid};
static const struct table_type runs_type = {run_hash, run_has_id};
static const struct table_type names_type = {name_hash, name_is};
static const struct table_type entries_type = {entry_hash, entry_has_id};

struct mirror_job *mirror_find_job(const struct mirror *mirror, const struct id *uid)
{
    return table_find(&mirror->jobs, id_hash(uid), uid);
}

struct mirror_run *mirror_find_run(const struct mirror *mirror, const struct id *id)
{
    return table_find(&mirror->runs, id_hash(id), id);
}

struct mirror_name *mirror_find_name(const struct mirror *mirror, const char *name)
{
    return table_find(&mirror->names, hash_text(0, name), name);
}

struct mirror_entry *mirror_find_entry(const struct mirror *mirror, const struct id *id)
{
    return table_find(&mirror->entries, id_hash(id), id);
}

/* A new item of the table, or none. */
static void *insert(struct table *table, void *item)
{
    if (item && table_insert(table, item) == OK)
        return item;
    free(item);
    return NULL;
}

/* ---- jobs and cursors ---- */

static void release_job(struct mirror_job *job)
{
    free(job->name);
    free(job->json);
    free(job);
}

static struct mirror_job *need_job(struct mirror *mirror, const struct id *uid)
{
    struct mirror_job *job = mirror_find_job(mirror, uid);
    if (job)
        return job;
    job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->row.uid = *uid;
    TAILQ_INIT(&job->runs);
    return insert(&mirror->jobs, job);
}

static void drop_unneeded_job(struct mirror *mirror, struct mirror_job *job)
{
    if (job->mod_revision || job->cursor_revision || !TAILQ_EMPTY(&job->runs))
        return;
    table_remove(&mirror->jobs, job);
    release_job(job);
}

static void feed_job(struct feed *feed, const struct mirror_job *job, enum store_change_kind kind)
{
    bool is_cursor = kind == STORE_CHANGE_CURSOR;
    feed_add(feed, &(struct store_change){.kind = kind,
                                          .job_uid = job->row.uid,
                                          .job_revision = job->row.revision,
                                          .cursor_ms = job->row.cursor_ms,
                                          .last = job->row.last,
                                          .job_name = is_cursor ? NULL : job->name,
                                          .job_json = is_cursor ? NULL : job->json,
                                          .job_deleted = job->row.deleted});
}

static enum status put_job(struct mirror *mirror, const struct id *uid, const struct etcd_kv *kv,
                           struct feed *feed)
{
    char *name, *json;
    struct mirror_job *job = need_job(mirror, uid);
    if (!job)
        return E_NOMEM;
    enum status st = value_read_job(kv, &job->row, &name, &json);
    if (st != OK)
        return st;
    free(job->name);
    free(job->json);
    job->name = name;
    job->json = json;
    job->mod_revision = kv->mod_revision;
    if (feed)
        feed_job(feed, job, job->row.deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB);
    return OK;
}

static enum status put_cursor(struct mirror *mirror, const struct id *uid, const struct etcd_kv *kv,
                              struct feed *feed)
{
    enum tell tell;
    struct mirror_job *job = need_job(mirror, uid);
    if (!job)
        return E_NOMEM;
    enum status st = value_read_cursor(kv, &job->row, &tell);
    if (st != OK)
        return st;
    job->cursor_revision = kv->mod_revision;
    if (feed && tell == TELL_CHANGE && job->mod_revision)
        feed_job(feed, job, STORE_CHANGE_CURSOR);
    return OK;
}

static void feed_purge(struct feed *feed, const struct mirror_job *job)
{
    feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DELETE,
                                          .job_uid = job->row.uid,
                                          .job_revision = job->row.revision,
                                          .cursor_ms = job->row.cursor_ms,
                                          .last = job->row.last,
                                          .job_deleted = true});
}

static void delete_job(struct mirror *mirror, const struct id *uid, struct feed *feed)
{
    struct mirror_job *job = mirror_find_job(mirror, uid);
    if (!job)
        return;
    if (feed && job->mod_revision)
        feed_purge(feed, job);
    job->mod_revision = 0;
    drop_unneeded_job(mirror, job);
}

/* The values stay, for whoever is told next that the job is gone. */
static void delete_cursor(struct mirror *mirror, const struct id *uid)
{
    struct mirror_job *job = mirror_find_job(mirror, uid);
    if (!job)
        return;
    job->cursor_revision = 0;
    drop_unneeded_job(mirror, job);
}

static enum status put_name(struct mirror *mirror, const char *text, const struct etcd_kv *kv)
{
    struct id uid;
    enum status st = value_read_name(kv, &uid);
    if (st != OK)
        return st;
    struct mirror_name *name = mirror_find_name(mirror, text);
    if (!name) {
        size_t size = strlen(text) + 1;
        name = malloc(sizeof(*name) + size);
        if (name)
            memcpy(name->text, text, size);
        name = insert(&mirror->names, name);
    }
    if (!name)
        return E_NOMEM;
    name->uid = uid;
    name->mod_revision = kv->mod_revision;
    return OK;
}

static void delete_name(struct mirror *mirror, const char *text)
{
    struct mirror_name *name = mirror_find_name(mirror, text);
    if (!name)
        return;
    table_remove(&mirror->names, name);
    free(name);
}

/* ---- runs and entries ---- */

static void feed_kill(struct feed *feed, const struct run_row *row)
{
    struct run_row kill = *row;
    run_row_to_kill(&kill);
    feed_add_run(feed, STORE_CHANGE_KILL, &kill.run);
}

/* They are told in the order of making, but read in the order of their ids. */
static void insert_in_order(struct mirror_job *job, struct mirror_run *run)
{
    struct mirror_run *before = TAILQ_LAST(&job->runs, mirror_runs);
    while (before && before->row.seq > run->row.seq)
        before = TAILQ_PREV(before, mirror_runs, of_job);
    if (before)
        TAILQ_INSERT_AFTER(&job->runs, before, run, of_job);
    else
        TAILQ_INSERT_HEAD(&job->runs, run, of_job);
}

struct mirror_run *mirror_add_run(struct mirror *mirror, const struct run_row *row)
{
    struct mirror_job *job = need_job(mirror, &row->run.job_uid);
    struct mirror_run *run = job ? calloc(1, sizeof(*run)) : NULL;
    if (!run)
        return NULL;
    run->row = *row;
    run->job = job;
    run = insert(&mirror->runs, run);
    if (run)
        insert_in_order(job, run);
    return run;
}

static enum status put_run(struct mirror *mirror, const struct id *id, const struct etcd_kv *kv,
                           struct feed *feed)
{
    struct run_row row;
    enum tell tell;
    enum status st = value_read_run(kv, &mirror->epoch, &row, &tell);
    if (st != OK)
        return st;
    row.run.id = *id;
    struct mirror_run *run = mirror_find_run(mirror, id);
    if (!run)
        run = mirror_add_run(mirror, &row);
    if (!run)
        return E_NOMEM;
    run->row = row;
    run->mod_revision = kv->mod_revision;
    if (feed && tell == TELL_CHANGE)
        feed_add_run(feed, STORE_CHANGE_RUN, &row.run);
    if (feed && tell == TELL_KILL)
        feed_kill(feed, &row);
    return OK;
}

void mirror_remove_run(struct mirror *mirror, struct mirror_run *run)
{
    table_remove(&mirror->runs, run);
    TAILQ_REMOVE(&run->job->runs, run, of_job);
    drop_unneeded_job(mirror, run->job);
    free(run);
}

static void delete_run(struct mirror *mirror, const struct id *id)
{
    struct mirror_run *run = mirror_find_run(mirror, id);
    if (run)
        mirror_remove_run(mirror, run);
}

static enum status put_entry(struct mirror *mirror, const struct id *id, const struct etcd_kv *kv,
                             struct feed *feed)
{
    struct ledger_entry read;
    enum status st = value_read_entry(kv, &read);
    if (st != OK)
        return st;
    read.id = *id;
    struct mirror_entry *entry = mirror_find_entry(mirror, id);
    if (!entry) {
        entry = malloc(sizeof(*entry));
        if (entry)
            entry->entry = read;
        entry = insert(&mirror->entries, entry);
    }
    if (!entry)
        return E_NOMEM;
    entry->entry = read;
    entry->mod_revision = kv->mod_revision;
    if (feed)
        feed_add_entry(feed, &read);
    return OK;
}

static void delete_entry(struct mirror *mirror, const struct id *id)
{
    struct mirror_entry *entry = mirror_find_entry(mirror, id);
    if (!entry)
        return;
    table_remove(&mirror->entries, entry);
    free(entry);
}

static void put_meta(struct mirror *mirror, const char *rest, const struct etcd_kv *kv)
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

static enum status put_halt(struct mirror *mirror, const struct etcd_kv *kv)
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
    char rest[384]; /* what follows the kind */
};

static const char *const kinds[] = {
    [KEY_JOB] = "jobs/",   [KEY_CURSOR] = "cursors/", [KEY_NAME] = "names/",
    [KEY_RUN] = "runs/",   [KEY_ENTRY] = "entries/",  [KEY_META] = "metas/",
    [KEY_PEER] = "nodes/", [KEY_DRAIN] = "drains/",   [KEY_DOC] = "docs/",
    [KEY_EPOCH] = "epoch", [KEY_HALT] = "halt",
};

static void parse_key(const struct mirror *mirror, struct etcd_bytes key, struct mirror_key *ret)
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

enum status mirror_put(struct mirror *mirror, const struct etcd_kv *kv, struct feed *feed)
{
    struct mirror_key key;
    parse_key(mirror, kv->key, &key);
    switch (key.kind) {
    case KEY_JOB:
        return put_job(mirror, &key.id, kv, feed);
    case KEY_CURSOR:
        return put_cursor(mirror, &key.id, kv, feed);
    case KEY_NAME:
        return put_name(mirror, key.rest, kv);
    case KEY_RUN:
        return put_run(mirror, &key.id, kv, feed);
    case KEY_ENTRY:
        return put_entry(mirror, &key.id, kv, feed);
    case KEY_META:
        if (!feed) /* they are told only while loading */
            put_meta(mirror, key.rest, kv);
        return OK;
    case KEY_PEER:
        return mirror_put_peer(&mirror->nodes, key.rest, kv, feed);
    case KEY_DRAIN:
        return mirror_put_drain(&mirror->nodes, key.rest, kv, feed);
    case KEY_DOC:
        return mirror_put_doc(&mirror->docs, key.rest, kv, feed);
    case KEY_EPOCH:
        return value_read_epoch(kv, &mirror->epoch);
    case KEY_HALT:
        return put_halt(mirror, kv);
    case KEY_OTHER:
        break;
    }
    return OK;
}

enum status mirror_delete(struct mirror *mirror, struct etcd_bytes deleted, struct feed *feed)
{
    struct mirror_key key;
    parse_key(mirror, deleted, &key);
    if (key.kind == KEY_JOB)
        delete_job(mirror, &key.id, feed);
    if (key.kind == KEY_CURSOR)
        delete_cursor(mirror, &key.id);
    if (key.kind == KEY_NAME)
        delete_name(mirror, key.rest);
    if (key.kind == KEY_RUN)
        delete_run(mirror, &key.id);
    if (key.kind == KEY_ENTRY)
        delete_entry(mirror, &key.id);
    if (key.kind == KEY_RUN || key.kind == KEY_ENTRY)
        feed_add_gone(feed, &key.id);
    if (key.kind == KEY_PEER)
        mirror_delete_peer(&mirror->nodes, key.rest, feed);
    if (key.kind == KEY_DRAIN)
        mirror_delete_drain(&mirror->nodes, key.rest, feed);
    if (key.kind == KEY_DOC)
        mirror_delete_doc(&mirror->docs, key.rest, feed);
    if (key.kind == KEY_HALT)
        delete_halt(mirror);
    return OK;
}

/* ---- all of it ---- */

static void feed_job_difference(const struct mirror *before, const struct mirror_job *job,
                                struct feed *feed)
{
    const struct mirror_job *old = before ? mirror_find_job(before, &job->row.uid) : NULL;
    if (!job->mod_revision)
        return;
    if (!before) /* while loading, also those that are kept to be brought back */
        feed_job(feed, job, STORE_CHANGE_JOB);
    else if (!old || old->mod_revision != job->mod_revision)
        feed_job(feed, job, job->row.deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB);
    else if (old->cursor_revision != job->cursor_revision)
        feed_job(feed, job, STORE_CHANGE_CURSOR);
}

static void feed_run_difference(const struct mirror *before, const struct mirror_job *job,
                                struct feed *feed)
{
    const struct mirror_run *run;
    TAILQ_FOREACH (run, &job->runs, of_job) {
        const struct mirror_run *old = before ? mirror_find_run(before, &run->row.run.id) : NULL;
        if (old && old->mod_revision == run->mod_revision)
            continue;
        feed_add_run(feed, STORE_CHANGE_RUN, &run->row.run);
        if (state_is_open(run->row.run.state) && run->row.kill_reason != REASON_NONE)
            feed_kill(feed, &run->row);
    }
}

static void feed_forgotten(const struct mirror *before, const struct mirror *now, struct feed *feed)
{
    const void *item;
    size_t at;
    for (at = 0; (item = table_next(&before->runs, &at));) {
        const struct id *id = &((const struct mirror_run *)item)->row.run.id;
        if (!mirror_find_run(now, id))
            feed_add_gone(feed, id);
    }
    for (at = 0; (item = table_next(&before->entries, &at));) {
        const struct id *id = &((const struct mirror_entry *)item)->entry.id;
        if (!mirror_find_entry(now, id))
            feed_add_gone(feed, id);
    }
}

static void feed_purged(const struct mirror *before, const struct mirror *now, struct feed *feed)
{
    const struct mirror_job *job;
    for (size_t at = 0; (job = table_next(&before->jobs, &at));) {
        const struct mirror_job *kept = mirror_find_job(now, &job->row.uid);
        if (job->mod_revision && (!kept || !kept->mod_revision))
            feed_purge(feed, job);
    }
}

void mirror_feed_difference(const struct mirror *before, const struct mirror *now,
                            struct feed *feed)
{
    const void *item;
    size_t at;
    mirror_nodes_feed_difference(before ? &before->nodes : NULL, &now->nodes, feed);
    mirror_docs_feed_difference(before ? &before->docs : NULL, &now->docs, feed);
    for (at = 0; (item = table_next(&now->jobs, &at));)
        feed_job_difference(before, item, feed);
    for (at = 0; (item = table_next(&now->jobs, &at));)
        feed_run_difference(before, item, feed);
    for (at = 0; (item = table_next(&now->entries, &at));) {
        const struct ledger_entry *entry = &((const struct mirror_entry *)item)->entry;
        if (!before || !mirror_find_entry(before, &entry->id))
            feed_add_entry(feed, entry);
    }
    if (before) {
        feed_purged(before, now, feed);
        feed_forgotten(before, now, feed);
    }
}

void mirror_init(struct mirror *mirror, const char *prefix, const char *node)
{
    *mirror = (struct mirror){.prefix = prefix, .node = node};
    table_init(&mirror->jobs, &jobs_type);
    table_init(&mirror->names, &names_type);
    table_init(&mirror->runs, &runs_type);
    table_init(&mirror->entries, &entries_type);
    mirror_nodes_init(&mirror->nodes);
    mirror_docs_init(&mirror->docs);
}

static void release_table(struct table *table)
{
    void *item;
    for (size_t at = 0; (item = table_next(table, &at));)
        free(item);
    table_release(table);
}

void mirror_release(struct mirror *mirror)
{
    void *job;
    release_table(&mirror->runs);
    release_table(&mirror->names);
    release_table(&mirror->entries);
    for (size_t at = 0; (job = table_next(&mirror->jobs, &at));)
        release_job(job);
    table_release(&mirror->jobs);
    mirror_nodes_release(&mirror->nodes);
    mirror_docs_release(&mirror->docs);
    feed_release(&mirror->metas);
    free(mirror->halt);
}
