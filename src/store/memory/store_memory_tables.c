#include "store_memory_tables.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "doc_key.h"
#include "group/group.h"

/* ---- the tables' keys ---- */

static const struct table_type jobs_type = {.key_at = offsetof(struct memory_job, row.uid),
                                            .key_size = sizeof(struct id)};
static const struct table_type names_type = {.key_at = offsetof(struct memory_job, name),
                                             .is_pointer = true};
static const struct table_type runs_type = {.key_at = offsetof(struct memory_run, row.run.id),
                                            .key_size = sizeof(struct id)};
static const struct table_type entries_type = {.key_at = offsetof(struct ledger_entry, id),
                                               .key_size = sizeof(struct id)};
static const struct table_type docs_type = {
    .key_at = offsetof(struct memory_doc, doc), .hash = doc_hash, .is_same = doc_is};

static struct memory_data *of_tables(struct tables *tables)
{
    return (struct memory_data *)((char *)tables - offsetof(struct memory_data, tables));
}

static struct memory_job *find_job(struct tables *tables, const struct id *uid)
{
    return table_find(&of_tables(tables)->jobs, uid);
}

static struct memory_run *find_run_by_id(struct tables *tables, const struct id *id)
{
    return table_find(&of_tables(tables)->runs, id);
}

/* ---- jobs ---- */

static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    const struct memory_job *job = find_job(tables, uid);
    if (!job || job->purged)
        return E_NOT_FOUND;
    *ret = job->row;
    return OK;
}

static enum status find_name(struct tables *tables, const char *name, struct id *ret)
{
    const struct memory_job *job = table_find(&of_tables(tables)->names, name);
    if (!job)
        return E_NOT_FOUND;
    *ret = job->row.uid;
    return OK;
}

static struct memory_job *add_job(struct memory_data *data, const struct id *uid)
{
    struct memory_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->row.uid = *uid;
    job->row.deleted = true; /* not in the table of names yet */
    TAILQ_INIT(&job->runs);
    if (table_insert(&data->jobs, job) != OK) {
        free(job);
        return NULL;
    }
    return job;
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct memory_data *data = of_tables(tables);
    struct memory_job *job = find_job(tables, &row->uid);
    char *new_name = strdup(name), *new_json = strdup(json);
    if (!job)
        job = add_job(data, &row->uid);
    if (!job || !new_name || !new_json) {
        free(new_name);
        free(new_json);
        return E_NOMEM;
    }
    if (!job->row.deleted)
        table_remove(&data->names, job);
    free(job->name);
    free(job->json);
    job->name = new_name;
    job->json = new_json;
    job->row = *row;
    job->purged = false;
    return row->deleted ? OK : table_insert(&data->names, job);
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    struct memory_job *job = find_job(tables, &row->uid);
    job->row.cursor_ms = row->cursor_ms;
    job->row.rewinds = row->rewinds;
    job->row.last = row->last;
    job->row.last_node = row->last_node;
    return OK;
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct memory_job *job = find_job(tables, uid);
    if (!job->row.deleted)
        table_remove(&of_tables(tables)->names, job);
    job->row = (struct job_row){.uid = *uid, .deleted = true};
    job->purged = true;
    return OK;
}

/* ---- runs ---- */

static enum status get_run(struct tables *tables, const struct id *id, struct run_row *ret)
{
    const struct memory_run *run = find_run_by_id(tables, id);
    if (!run)
        return E_NOT_FOUND;
    *ret = run->row;
    return OK;
}

static enum status find_run(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, int part, struct id *ret)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        if (run_row_is(&run->row, tick_ms, attempt, part)) {
            *ret = run->row.run.id;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status count_open(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued)
{
    const struct memory_run *run;
    *ret_open = *ret_queued = 0;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        *ret_open += state_is_open(run->row.run.state);
        *ret_queued += run_row_is_queued(&run->row);
    }
    return OK;
}

static enum status next_open(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             int after_part, struct run_row *ret)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        if (run_row_is_after(&run->row, after_seq, after_part) &&
            state_is_open(run->row.run.state)) {
            *ret = run->row;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status oldest_queued(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        if (run_row_is_queued(&run->row)) {
            *ret = run->row;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status each_grouped(struct tables *tables,
                                bool (*visit)(void *context, const struct run_row *row),
                                void *context)
{
    const struct table *runs = &of_tables(tables)->runs;
    const struct memory_run *run;
    for (int holds = 1; holds >= 0; holds--)
        for (size_t at = 0; (run = table_next(runs, &at));)
            if (run->row.run.groups[0] && state_is_open(run->row.run.state) &&
                run_holds_slots(&run->row.run) == (holds != 0) && !visit(context, &run->row))
                return OK;
    return OK;
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct memory_data *data = of_tables(tables);
    if (find_run_by_id(tables, &run->id))
        return E_INVALID;
    struct memory_run *new = calloc(1, sizeof(*new));
    if (!new)
        return E_NOMEM;
    new->row.run = *run;
    new->row.seq = ++data->last_seq;
    if (table_insert(&data->runs, new) != OK) {
        free(new);
        return E_NOMEM;
    }
    TAILQ_INSERT_TAIL(&find_job(tables, &run->job_uid)->runs, new, of_job);
    return OK;
}

static enum status set_run(struct tables *tables, const struct run_row *row)
{
    find_run_by_id(tables, &row->run.id)->row = *row;
    return OK;
}

static enum status remove_ended_run(struct tables *tables, const struct id *id)
{
    struct memory_run *run = find_run_by_id(tables, id);
    if (!run || state_is_open(run->row.run.state))
        return E_NOT_FOUND;
    table_remove(&of_tables(tables)->runs, run);
    TAILQ_REMOVE(&find_job(tables, &run->row.run.job_uid)->runs, run, of_job);
    free(run);
    return OK;
}

/* ---- the rest ---- */

static enum status add_entry(struct tables *tables, const struct ledger_entry *entry)
{
    struct memory_data *data = of_tables(tables);
    if (table_find(&data->entries, &entry->id))
        return OK;
    struct ledger_entry *new = malloc(sizeof(*new));
    if (!new)
        return E_NOMEM;
    *new = *entry;
    if (table_insert(&data->entries, new) != OK) {
        free(new);
        return E_NOMEM;
    }
    return OK;
}

static enum status remove_entry(struct tables *tables, const struct id *id)
{
    struct memory_data *data = of_tables(tables);
    struct ledger_entry *entry = table_find(&data->entries, id);
    if (!entry)
        return E_NOT_FOUND;
    table_remove(&data->entries, entry);
    free(entry);
    return OK;
}

static enum status next_fence(struct tables *tables, int64_t *ret)
{
    *ret = ++of_tables(tables)->last_fence;
    return OK;
}

static enum status set_meta(struct tables *tables, const struct store_set_meta *meta)
{
    struct store_memory *view = of_tables(tables)->asking;
    size_t i = 0;
    while (i < view->meta_count && strcmp(view->metas[i].key, meta->key) != 0)
        i++;
    if (i == MEMORY_METAS)
        return E_TOO_LARGE;
    if (i == view->meta_count)
        view->meta_count++;
    view->metas[i] = *meta;
    return OK;
}

static enum status set_drain(struct tables *tables, const struct store_drain *drain)
{
    struct memory_data *data = of_tables(tables);
    size_t i = 0;
    while (i < data->drain_count && strcmp(data->drains[i].node, drain->node) != 0)
        i++;
    if (!drain->drained) {
        if (i < data->drain_count)
            data->drains[i] = data->drains[--data->drain_count];
        return OK;
    }
    if (i == MEMORY_DRAINS)
        return E_TOO_LARGE;
    if (i == data->drain_count)
        data->drain_count++;
    data->drains[i] = *drain;
    return OK;
}

static struct memory_doc *find_doc(struct tables *tables, const char *kind, const char *name)
{
    struct store_doc key;
    doc_key(kind, name, &key);
    return table_find(&of_tables(tables)->docs, &key);
}

static enum status get_doc(struct tables *tables, const char *kind, const char *name,
                           int64_t *ret_revision)
{
    const struct memory_doc *known = find_doc(tables, kind, name);
    if (known)
        *ret_revision = known->doc.revision;
    return known ? OK : E_NOT_FOUND;
}

static void free_doc(struct memory_doc *doc)
{
    free(doc->json);
    free(doc);
}

static enum status add_doc(struct memory_data *data, const struct store_doc *doc)
{
    struct memory_doc *fresh = calloc(1, sizeof(*fresh));
    char *json = strdup(doc->json);
    if (fresh && json) {
        *fresh = (struct memory_doc){*doc, json};
        fresh->doc.json = json;
        if (table_insert(&data->docs, fresh) == OK)
            return OK;
    }
    free(json);
    free(fresh);
    return E_NOMEM;
}

static enum status put_doc(struct tables *tables, const struct store_doc *doc)
{
    struct memory_data *data = of_tables(tables);
    struct memory_doc *old = find_doc(tables, doc->kind, doc->name);
    if (old) {
        table_remove(&data->docs, old);
        free_doc(old);
    }
    return doc->json ? add_doc(data, doc) : OK;
}

static const struct tables_ops tables_ops = TABLES_OPS(get_job, NULL, NULL, NULL, NULL);

struct memory_data *memory_data_new(void)
{
    struct memory_data *data = calloc(1, sizeof(*data));
    if (!data)
        return NULL;
    data->tables.ops = &tables_ops;
    TAILQ_INIT(&data->views);
    table_init(&data->jobs, &jobs_type);
    table_init(&data->names, &names_type);
    table_init(&data->runs, &runs_type);
    table_init(&data->entries, &entries_type);
    table_init(&data->docs, &docs_type);
    return data;
}

void memory_data_free(struct memory_data *data)
{
    size_t at;
    void *item;
    for (at = 0; (item = table_next(&data->jobs, &at));) {
        free(((struct memory_job *)item)->name);
        free(((struct memory_job *)item)->json);
        free(item);
    }
    for (at = 0; (item = table_next(&data->runs, &at));)
        free(item);
    for (at = 0; (item = table_next(&data->entries, &at));)
        free(item);
    for (at = 0; (item = table_next(&data->docs, &at));)
        free_doc(item);
    table_release(&data->jobs);
    table_release(&data->names);
    table_release(&data->runs);
    table_release(&data->entries);
    table_release(&data->docs);
    free(data);
}
