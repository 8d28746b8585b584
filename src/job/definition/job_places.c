#include "definition/job_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_codec.h"
#include "document/node.h"
#include "table.h"

struct placed_job {
    const char *name;
    const struct node *job;
};

struct job_places {
    struct tree tree;
    struct placed_job *jobs; /* in the order of the file */
    size_t count;
    struct table names; /* the first job of each name */
};

static const struct table_type names_type = {.key_at = offsetof(struct placed_job, name),
                                             .is_pointer = true};

static enum status add_job(struct job_places *places, const struct node *job)
{
    const struct node *name = job->kind == NODE_MAP ? node_get(job, "name") : NULL;
    if (!name || name->kind != NODE_SCALAR || job_file_is_document(job))
        return OK;
    enum status st = array_grow(&places->jobs, places->count, sizeof(*places->jobs));
    if (st == OK)
        places->jobs[places->count++] = (struct placed_job){name->text, job};
    return st;
}

/* A document is a job, or a list of jobs. */
static enum status add_jobs(struct job_places *places, const struct node *documents)
{
    enum status st = OK;
    for (const struct entry *each = documents->entries; each && st == OK; each = each->next) {
        const struct entry *item = each->value->kind == NODE_LIST ? each->value->entries : NULL;
        st = add_job(places, each->value);
        for (; item && st == OK; item = item->next)
            st = add_job(places, item->value);
    }
    for (size_t i = 0; i < places->count && st == OK; i++) {
        if (!table_find(&places->names, places->jobs[i].name))
            st = table_insert(&places->names, &places->jobs[i]);
    }
    return st;
}

enum status job_places_new(const char *text, size_t length, struct job_places **ret)
{
    struct parse_error err = {0};
    const struct node *documents;
    struct job_places *places = calloc(1, sizeof(*places));
    if (!places)
        return E_NOMEM;
    tree_init(&places->tree);
    table_init(&places->names, &names_type);
    enum status st = tree_from_yaml(&places->tree, text, length, &documents, &err);
    if (st == OK)
        st = add_jobs(places, documents);
    if (st == OK)
        *ret = places;
    else
        job_places_free(places);
    return st;
}

struct job_places *job_places_free(struct job_places *places)
{
    if (!places)
        return NULL;
    table_release(&places->names);
    free(places->jobs);
    tree_release(&places->tree);
    free(places);
    return NULL;
}

/* Trees have a limited depth. NOLINTNEXTLINE(misc-no-recursion) */
static const struct node *find_text(const struct node *node, const char *text)
{
    if (node->kind == NODE_SCALAR)
        return strcmp(node->text, text) == 0 ? node : NULL;
    for (const struct entry *entry = node->entries; entry; entry = entry->next) {
        const struct node *found = find_text(entry->value, text);
        if (found)
            return found;
    }
    return NULL;
}

/* The value at a path of names, and of numbers in lists; NULL: none. */
static const struct node *find_path(const struct node *node, const char *path)
{
    while (node && *path) {
        char name[64];
        size_t length = strcspn(path, "/"), index = 0;
        snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), path);
        path += length + (path[length] == '/');
        if (node->kind == NODE_MAP) {
            node = node_get(node, name);
            continue;
        }
        const struct entry *entry = node->kind == NODE_LIST ? node->entries : NULL;
        while (entry && index++ < (size_t)atoi(name))
            entry = entry->next;
        node = entry ? entry->value : NULL;
    }
    return node;
}

bool job_places_find(const struct job_places *places, const char *job, const char *field,
                     const char *value, int *ret_line, int *ret_column)
{
    const struct placed_job *placed = table_find(&places->names, job);
    if (!placed)
        return false;
    const struct node *map = placed->job;
    const struct node *node = field ? find_path(map, field) : NULL;
    const struct node *inner = node && value ? find_text(node, value) : NULL;
    if (!node)
        node = node_get(map, "name");
    *ret_line = inner ? inner->line : node->line;
    *ret_column = inner ? inner->column : node->column;
    return true;
}
