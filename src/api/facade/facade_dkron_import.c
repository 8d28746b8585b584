/* A listing of dkron's jobs: which are there, what they are called, and what they run after. */
#include "facade/facade_dkron_import.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "facade/facade_dkron_job.h"
#include "foreign/foreign_build.h"
#include "table.h"

struct entry_job {
    struct foreign_task who;
    json_t *definition; /* NULL: it could not be converted */
    const char *name;   /* of the job; NULL: another of the listing has the same name there */
    const char *parent; /* as dkron has it; "": none */
    bool is_added;
};

struct listing {
    struct foreign_build build;
    struct entry_job *jobs;
    size_t count;
    struct table by_name; /* as dkron calls them; the first of each name */
};

static const struct table_type by_name_type = {.key_at = offsetof(struct entry_job, who.name),
                                               .is_pointer = true};

/* ---- the document ---- */

static enum status fail_at(const struct node *node, struct parse_error *reterr)
{
    enum status st = parse_fail(reterr, node->column ? node->column : 1,
                                "expected dkron's list of jobs, the answer of GET /v1/jobs, found "
                                "%s",
                                node_describe(node));
    if (reterr)
        reterr->line = node->line ? node->line : 1;
    return st;
}

static const char *text_of(const struct node *node, const char *field)
{
    const struct node *value = node_get(node, field);
    return value && value->kind == NODE_SCALAR ? value->text : "";
}

static bool is_job(const struct node *node)
{
    return node->kind == NODE_MAP && node_get(node, "name") && node_get(node, "executor");
}

static enum status read_job(struct listing *listing, const struct node *node,
                            struct parse_error *reterr)
{
    if (!is_job(node)) {
        parse_error_set(reterr, node->column,
                        "expected a job of dkron: a map with name, schedule and executor");
        if (reterr)
            reterr->line = node->line;
        return E_INVALID;
    }
    enum status st = array_grow(&listing->jobs, listing->count, sizeof(*listing->jobs));
    if (st != OK)
        return st;
    struct entry_job *job = &listing->jobs[listing->count++];
    *job = (struct entry_job){.who = {.node = node, .name = text_of(node, "name")},
                              .parent = text_of(node, "parent_job")};
    return OK;
}

static enum status read_jobs(struct listing *listing, const struct node *documents,
                             struct parse_error *reterr)
{
    const struct node *root = documents->count == 1 ? documents->entries->value : documents;
    enum status st = OK;
    if (!documents->count) {
        parse_error_set(reterr, 1, "the file is empty");
        if (reterr)
            reterr->line = 1;
        return E_INVALID;
    }
    if (documents->count != 1 || root->kind != NODE_LIST)
        return fail_at(root, reterr);
    for (const struct entry *entry = root->entries; entry && st == OK; entry = entry->next)
        st = read_job(listing, entry->value, reterr);
    for (size_t i = 0; i < listing->count && st == OK; i++) {
        struct entry_job *job = &listing->jobs[i];
        if (!table_find(&listing->by_name, job->who.name))
            st = table_insert(&listing->by_name, job);
    }
    return st;
}

/* ---- one job ---- */

/* The value that a pointer names, or the innermost that is there. */
static const struct node *find_node(const struct node *node, const char *pointer)
{
    while (*pointer == '/') {
        size_t length = strcspn(++pointer, "/");
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)length, pointer);
        const struct node *next = node->kind == NODE_MAP ? node_get(node, name) : NULL;
        if (!next)
            break;
        node = next;
        pointer += length;
    }
    return node;
}

/* Where a field of the definition came from. */
static const struct node *at_field(const struct foreign_task *task, const char *path)
{
    static const struct {
        const char *ours, *theirs;
    } origins[] = {{"/schedule", "/schedule"},
                   {"/timezone", "/timezone"},
                   {"/where", "/tags"},
                   {"/labels", "/metadata"},
                   {"/start", "/starts_at"},
                   {"/end", "/expires_at"},
                   {"/retries", "/retries"},
                   {"/owner", "/owner"},
                   {"/shell", "/executor_config"},
                   {"/command", "/executor_config"},
                   {"/http", "/executor_config"},
                   {"/cwd", "/executor_config/cwd"},
                   {"/env", "/executor_config/env"},
                   {"/timeout", "/executor_config/timeout"}};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        if (strncmp(path, origins[i].ours, strlen(origins[i].ours)) == 0)
            return find_node(task->node, origins[i].theirs);
    }
    return NULL;
}

static enum status convert(struct listing *listing, struct entry_job *job)
{
    struct dkron_refusal refusal;
    json_t *theirs = node_to_json(job->who.node);
    if (!theirs)
        return E_NOMEM;
    job->definition = dkron_convert_job(theirs, &refusal);
    json_decref(theirs);
    if (job->definition)
        return OK;
    if (!refusal.why)
        return E_NOMEM;
    return foreign_refuse(&listing->build, &job->who, find_node(job->who.node, refusal.pointer),
                          refusal.pointer + 1, refusal.why);
}

static struct entry_job *find_job(const struct listing *listing, const char *theirs)
{
    return table_find(&listing->by_name, theirs);
}

static enum status choose_name(struct listing *listing, struct entry_job *job)
{
    const char *prefix = listing->build.options->prefix;
    if (find_job(listing, job->who.name) != job) {
        json_decref(job->definition);
        job->definition = NULL;
        return foreign_note(&listing->build, &job->who, NULL, FOREIGN_ERROR,
                            "is in the listing twice; this one is left out");
    }
    enum status st = foreign_name(&listing->build, job->who.name, "", &job->name);
    if (st == OK && strcmp(job->name + (prefix ? strlen(prefix) : 0), job->who.name) != 0)
        st = foreign_note(&listing->build, &job->who, node_get(job->who.node, "name"), FOREIGN_INFO,
                          "the job is named \"%.128s\"", job->name);
    return st;
}

/* ---- parents ---- */

static enum status add_job(struct listing *listing, struct entry_job *job)
{
    static const struct foreign_origin origin = {at_field};
    const struct entry_job *parent = *job->parent ? find_job(listing, job->parent) : NULL;
    enum status st = OK;
    json_t *whole = json_object(); /* in the order in which people write it */
    if (!whole || json_object_set_new(whole, "name", json_string(job->name)) != 0 ||
        json_object_update(whole, job->definition) != 0 ||
        json_object_set_new(whole, "name", json_string(job->name)) != 0)
        st = E_NOMEM;
    if (st == OK && parent && parent->is_added)
        st =
            json_object_set_new(whole, "after", json_pack("[s]", parent->name)) == 0 ? OK : E_NOMEM;
    if (st == OK && *job->parent && !(parent && parent->is_added)) {
        json_object_del(whole, "after");
        st = json_object_set_new(whole, "schedule", json_string("@manual")) == 0 ? OK : E_NOMEM;
        if (st == OK)
            st = foreign_note(&listing->build, &job->who, node_get(job->who.node, "parent_job"),
                              FOREIGN_WARNING,
                              "its parent \"%.100s\" is not among the imported jobs: this job runs "
                              "on request alone (@manual)",
                              job->parent);
    }
    if (st == OK)
        st = foreign_add(&listing->build, &job->who, whole, &origin, &job->is_added);
    json_decref(job->definition);
    job->definition = NULL;
    json_decref(whole);
    return st;
}

/* Does its parent wait to be added itself? */
static bool has_to_wait(const struct listing *listing, const struct entry_job *job)
{
    const struct entry_job *parent = *job->parent ? find_job(listing, job->parent) : NULL;
    return parent && parent->definition;
}

/* Parents before their children; of a circle, which dkron refuses, each loses its parent. */
static enum status add_jobs(struct listing *listing)
{
    enum status st = OK;
    for (bool is_any = true, is_forced = false; st == OK && (is_any || !is_forced);) {
        is_forced = !is_any;
        is_any = false;
        for (size_t i = 0; i < listing->count && st == OK; i++) {
            struct entry_job *job = &listing->jobs[i];
            if (!job->definition || (has_to_wait(listing, job) && !is_forced))
                continue;
            st = add_job(listing, job);
            is_any = true;
        }
    }
    return st;
}

enum status dkron_import(const char *text, size_t length, const struct foreign_options *options,
                         struct zone_db *zones, struct foreign *ret, struct parse_error *reterr)
{
    struct listing listing = {.jobs = NULL};
    struct tree tree;
    const struct node *documents = NULL;
    foreign_build_init(&listing.build, options, zones, ret);
    tree_init(&tree);
    table_init(&listing.by_name, &by_name_type);
    enum status st = tree_from_yaml(&tree, text, length, &documents, reterr);
    if (st == OK)
        st = read_jobs(&listing, documents, reterr);
    for (size_t i = 0; i < listing.count && st == OK; i++)
        st = convert(&listing, &listing.jobs[i]);
    for (size_t i = 0; i < listing.count && st == OK; i++) {
        if (listing.jobs[i].definition)
            st = choose_name(&listing, &listing.jobs[i]);
    }
    if (st == OK)
        st = add_jobs(&listing);
    foreign_sort_notes(ret);
    for (size_t i = 0; i < listing.count; i++)
        json_decref(listing.jobs[i].definition);
    free(listing.jobs);
    table_release(&listing.by_name);
    tree_release(&tree);
    foreign_build_release(&listing.build);
    return st;
}
