#include "definition/job_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document/node.h"

struct job_places {
    struct tree tree;
    const struct node *documents;
};

enum status job_places_new(const char *text, size_t length, struct job_places **ret)
{
    struct parse_error err = {0};
    struct job_places *places = calloc(1, sizeof(*places));
    if (!places)
        return E_NOMEM;
    tree_init(&places->tree);
    enum status st = tree_from_yaml(&places->tree, text, length, &places->documents, &err);
    if (st == OK)
        *ret = places;
    else
        job_places_free(places);
    return st;
}

struct job_places *job_places_free(struct job_places *places)
{
    if (places)
        tree_release(&places->tree);
    free(places);
    return NULL;
}

static bool has_name(const struct node *job, const char *name)
{
    const struct node *value = job->kind == NODE_MAP ? node_get(job, "name") : NULL;
    return value && value->kind == NODE_SCALAR && strcmp(value->text, name) == 0;
}

/* A document is a job, or a list of jobs. */
static const struct node *find_job(const struct node *documents, const char *name)
{
    for (const struct entry *each = documents->entries; each; each = each->next) {
        if (has_name(each->value, name))
            return each->value;
        const struct entry *item = each->value->kind == NODE_LIST ? each->value->entries : NULL;
        for (; item; item = item->next) {
            if (has_name(item->value, name))
                return item->value;
        }
    }
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
    const struct node *map = find_job(places->documents, job);
    if (!map)
        return false;
    const struct node *node = field ? find_path(map, field) : NULL;
    const struct node *inner = node && value ? find_text(node, value) : NULL;
    if (!node)
        node = node_get(map, "name");
    *ret_line = inner ? inner->line : node->line;
    *ret_column = inner ? inner->column : node->column;
    return true;
}
