/* Rows of XXL-JOB's tables: which jobs are there, what starts them, and what they are called. */
#include "foreign/xxl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "foreign/rows.h"

enum { TABLE_JOBS, TABLE_GROUPS, TABLES };
static const char *const tables[] = {"xxl_job_info", "xxl_job_group", NULL};

struct listing {
    struct foreign_build build;
    struct xxl_job *jobs; /* by id */
    size_t count;
    const struct node *groups;
};

/* ---- the rows ---- */

/* The executor's name by the id of its row; "": its table is not there. */
static const char *find_app(const struct listing *listing, const char *id)
{
    for (const struct entry *entry = listing->groups->entries; entry && *id; entry = entry->next) {
        if (strcmp(row_text(entry->value, "id"), id) == 0)
            return row_text(entry->value, "app_name");
    }
    return "";
}

static bool is_job(const struct node *row)
{
    return row->kind == NODE_MAP && row_get(row, "id") && row_get(row, "job_desc");
}

static enum status refuse_row(const struct node *row, struct parse_error *reterr)
{
    enum status st = parse_fail(reterr, row->column ? row->column : 1,
                                "expected a row of xxl_job_info, with id and job_desc");
    if (reterr)
        reterr->line = row->line ? row->line : 1;
    return st;
}

static enum status read_job(struct listing *listing, const struct node *row)
{
    struct xxl_job job = {.who = {.node = row, .name = row_text(row, "job_desc")}};
    snprintf(job.who.id, sizeof(job.who.id), "%.20s", row_text(row, "id"));
    enum status st = xxl_number(&listing->build, &job, "id", 0, INT32_MAX, &job.id);
    job.app = find_app(listing, row_text(row, "job_group"));
    if (st == OK && !job.is_lost)
        st = array_grow(&listing->jobs, listing->count, sizeof(job));
    if (st == OK && !job.is_lost)
        listing->jobs[listing->count++] = job;
    return st;
}

static int compare_ids(const void *a, const void *b)
{
    const struct xxl_job *x = a, *y = b;
    if (x->id != y->id)
        return (x->id > y->id) - (x->id < y->id);
    return (x->who.node->line > y->who.node->line) - (x->who.node->line < y->who.node->line);
}

static struct xxl_job *find_job(const struct listing *listing, int64_t id)
{
    const struct xxl_job key = {.id = id};
    size_t low = 0, high = listing->count;
    while (low < high) { /* the first of that id */
        size_t middle = low + (high - low) / 2;
        if (listing->jobs[middle].id < key.id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < listing->count && listing->jobs[low].id == id ? &listing->jobs[low] : NULL;
}

static enum status read_jobs(struct listing *listing, const struct node *rows,
                             struct parse_error *reterr)
{
    enum status st = OK;
    for (const struct entry *entry = rows->entries; entry && st == OK; entry = entry->next)
        st = is_job(entry->value) ? read_job(listing, entry->value)
                                  : refuse_row(entry->value, reterr);
    if (listing->count)
        qsort(listing->jobs, listing->count, sizeof(*listing->jobs), compare_ids);
    for (size_t i = 1; i < listing->count && st == OK; i++) {
        struct xxl_job *job = &listing->jobs[i];
        if (job->id != job[-1].id)
            continue;
        job->is_lost = true;
        st = foreign_note(&listing->build, &job->who, NULL, FOREIGN_ERROR,
                          "is in the listing twice; this one is left out");
    }
    return st;
}

/* ---- children ---- */

static enum status link_child(struct listing *listing, const struct xxl_job *job, const char *word)
{
    char *end;
    long long id = strtoll(word, &end, 10);
    struct xxl_job *child = find_job(listing, id);
    if (end == word || *(end + strspn(end, " ")) || !child)
        return foreign_note(&listing->build, &job->who, row_get(job->who.node, "child_jobid"),
                            FOREIGN_WARNING, "its child task \"%.20s\" is not in this listing",
                            word);
    if (child == job)
        return foreign_note(&listing->build, &job->who, row_get(job->who.node, "child_jobid"),
                            FOREIGN_WARNING, "it is its own child, which is left out");
    for (size_t i = 0; i < child->parent_count; i++) {
        if (child->parents[i].job == job)
            return OK;
    }
    enum status st = array_grow(&child->parents, child->parent_count, sizeof(*child->parents));
    if (st == OK)
        child->parents[child->parent_count++] = (struct xxl_parent){job};
    return st;
}

static enum status link_children(struct listing *listing, const struct xxl_job *job)
{
    char *ids = strdup(row_text(job->who.node, "child_jobid")), *rest = ids;
    enum status st = ids ? OK : E_NOMEM;
    for (char *word; st == OK && !job->is_lost && (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        if (*word)
            st = link_child(listing, job, word);
    }
    free(ids);
    return st;
}

/* ---- the jobs ---- */

static enum status choose_names(struct listing *listing)
{
    const char *prefix = listing->build.options->prefix;
    enum status st = OK;
    for (size_t i = 0; i < listing->count && st == OK; i++) {
        struct xxl_job *job = &listing->jobs[i];
        if (job->is_lost)
            continue;
        st = foreign_name(&listing->build, job->who.name, job->who.id, &job->name);
        if (st == OK && strcmp(job->name + (prefix ? strlen(prefix) : 0), job->who.name) != 0)
            st = foreign_note(&listing->build, &job->who, row_get(job->who.node, "job_desc"),
                              FOREIGN_INFO, "the job is named \"%.128s\"", job->name);
    }
    return st;
}

/* `times` has what says when, or after what. */
static enum status add_job(struct listing *listing, struct xxl_job *job, const char *name,
                           const json_t *definition, json_t *times)
{
    json_t *whole = json_object();
    bool is_done = false;
    enum status st = OK;
    if (!whole || json_object_set_new(whole, "name", json_string(name)) != 0 ||
        json_object_update(whole, times) != 0 ||
        json_object_update(whole, (json_t *)definition) != 0)
        st = E_NOMEM;
    if (st == OK)
        st = foreign_add(&listing->build, &job->who, whole, &xxl_origin, &is_done);
    job->is_lost = job->is_lost || !is_done;
    json_decref(whole);
    return st;
}

/* Each parent of a child starts it, and so does its own schedule: a job for each of them, since one
 * `after` with several jobs would wait for all. */
static enum status add_after(struct listing *listing, struct xxl_job *job,
                             const struct xxl_job *parent, bool is_first, const json_t *definition)
{
    const char *name = job->name;
    struct strbuf wish;
    enum status st = OK;
    strbuf_init(&wish);
    strbuf_addf(&wish, "%s-after-%s", job->who.name, parent->who.id);
    if (!is_first)
        st = strbuf_status(&wish);
    if (st == OK && !is_first)
        st = foreign_name(&listing->build, wish.text, job->who.id, &name);
    strbuf_release(&wish);
    json_t *times = json_pack("{s:[s]}", "after", parent->name);
    if (st == OK)
        st = times ? add_job(listing, job, name, definition, times) : E_NOMEM;
    json_decref(times);
    return st;
}

static enum status add_parents(struct listing *listing, struct xxl_job *job, size_t added,
                               const json_t *definition)
{
    struct foreign_build *build = &listing->build;
    enum status st = OK;
    for (size_t i = 0; i < job->parent_count && st == OK && !job->is_lost; i++) {
        const struct xxl_job *parent = job->parents[i].job;
        if (parent->is_lost)
            st = foreign_note(build, &job->who, NULL, FOREIGN_WARNING,
                              "its parent, task %s, could not be imported", parent->who.id);
        else
            st = add_after(listing, job, parent, added++ == 0, definition);
        if (st == OK && !parent->is_lost && parent->parent_count + parent->is_scheduled > 1)
            st = foreign_note(
                build, &job->who, NULL, FOREIGN_WARNING,
                "its parent, task %s, has several jobs: it runs after \"%.128s\" alone",
                parent->who.id, parent->name);
    }
    if (st == OK && added > 1 && !job->is_lost)
        st = foreign_note(build, &job->who, NULL, FOREIGN_INFO,
                          "%zu things start it, its schedule or other tasks: there is a job for "
                          "each of them",
                          added);
    return st;
}

/* Reads the row, and checks its job, before any other one names it as its parent. */
static enum status prepare(struct listing *listing, struct xxl_job *job)
{
    struct foreign_build *build = &listing->build;
    struct job *decoded = NULL;
    struct job_error err = {0};
    job->times = json_object();
    enum status st =
        job->times ? xxl_schedule(build, job, job->times, &job->is_scheduled) : E_NOMEM;
    if (st == OK && !job->is_lost)
        st = xxl_definition(build, job, &job->definition);
    if (st != OK || job->is_lost)
        return st;
    json_t *whole = json_pack("{s:s, s:s}", "name", job->name, "schedule", "@manual");
    if (!whole || json_object_update(whole, job->times) != 0 ||
        json_object_update(whole, job->definition) != 0)
        st = E_NOMEM;
    if (st == OK)
        st =
            job_decode_json(whole, false, build->options->default_tz, build->zones, &decoded, &err);
    json_decref(whole);
    job_free(decoded);
    if (st == OK || st == E_NOMEM)
        return st;
    job->is_lost = true;
    return foreign_note(build, &job->who, xxl_origin.at(&job->who, err.path), FOREIGN_ERROR, "%s",
                        err.message);
}

static enum status add_row(struct listing *listing, struct xxl_job *job)
{
    bool is_manual = !job->is_scheduled && !job->parent_count;
    enum status st = OK;
    if (is_manual && json_object_set_new(job->times, "schedule", json_string("@manual")) != 0)
        return E_NOMEM;
    if (job->is_scheduled || is_manual)
        st = add_job(listing, job, job->name, job->definition, job->times);
    return st == OK ? add_parents(listing, job, job->is_scheduled || is_manual, job->definition)
                    : st;
}

static enum status add_rows(struct listing *listing)
{
    enum status st = choose_names(listing);
    for (size_t i = 0; i < listing->count && st == OK; i++) {
        if (!listing->jobs[i].is_lost)
            st = prepare(listing, &listing->jobs[i]);
    }
    for (size_t i = 0; i < listing->count && st == OK; i++)
        st = link_children(listing, &listing->jobs[i]);
    for (size_t i = 0; i < listing->count && st == OK; i++) {
        if (!listing->jobs[i].is_lost)
            st = add_row(listing, &listing->jobs[i]);
    }
    return st;
}

enum status xxl_import(const char *text, size_t length, const struct foreign_options *options,
                       struct zone_db *zones, struct foreign *ret, struct parse_error *reterr)
{
    struct listing listing = {.jobs = NULL};
    struct tree tree;
    const struct node *lists[TABLES] = {NULL};
    foreign_build_init(&listing.build, options, zones, ret);
    tree_init(&tree);
    enum status st = rows_read(&tree, text, length, tables, lists, reterr);
    if (st == OK && !lists[TABLE_JOBS]->count)
        st =
            parse_fail(reterr, 0,
                       "expected rows of xxl_job_info: INSERTs of mysqldump, CSV with a header, or "
                       "JSON");
    listing.groups = lists[TABLE_GROUPS];
    if (st == OK)
        st = read_jobs(&listing, lists[TABLE_JOBS], reterr);
    if (st == OK)
        st = add_rows(&listing);
    foreign_sort_notes(ret);
    for (size_t i = 0; i < listing.count; i++) {
        json_decref(listing.jobs[i].definition);
        json_decref(listing.jobs[i].times);
        free(listing.jobs[i].parents);
    }
    free(listing.jobs);
    tree_release(&tree);
    foreign_build_release(&listing.build);
    return st;
}
