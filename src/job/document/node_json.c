/* A JSON value to a tree, and back. */
#include <stdlib.h>
#include <string.h>

#include "document/node.h"

static enum status read_value(struct tree *tree, const json_t *value, int depth,
                              const struct node **ret, struct parse_error *err);

static enum status add(struct tree *tree, struct node *parent, struct entry ***tail,
                       const struct node *key, const struct node *value, struct parse_error *err)
{
    struct entry *entry = tree_entry(tree, key, value);
    return entry ? node_append(parent, tail, entry, err) : E_NOMEM;
}

static enum status read_array(struct tree *tree, const json_t *array, int depth, struct node *list,
                              struct parse_error *err)
{
    struct entry **tail = &list->entries;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const struct node *value;
        enum status st = read_value(tree, json_array_get(array, i), depth, &value, err);
        if (st == OK)
            st = add(tree, list, &tail, NULL, value, err);
        if (st != OK)
            return st;
    }
    return OK;
}

static enum status read_object(struct tree *tree, const json_t *object, int depth, struct node *map,
                               struct parse_error *err)
{
    struct entry **tail = &map->entries;
    const char *name;
    json_t *member;
    if (json_object_size(object) > TREE_ENTRIES_MAX)
        return parse_fail(err, 0, "more than %d fields in one map", TREE_ENTRIES_MAX);
    json_object_foreach ((json_t *)object, name, member) {
        const struct node *value;
        const struct node *key = tree_scalar(tree, name, strlen(name), false);
        if (!key)
            return E_NOMEM;
        enum status st = read_value(tree, member, depth, &value, err);
        if (st == OK)
            st = add(tree, map, &tail, key, value, err);
        if (st != OK)
            return st;
    }
    return OK;
}

static struct node *read_scalar(struct tree *tree, const json_t *value)
{
    char number[64];
    if (json_is_string(value))
        return tree_scalar(tree, json_string_value(value), json_string_length(value), false);
    if (json_is_boolean(value)) {
        const char *word = json_is_true(value) ? "true" : "false";
        return tree_scalar(tree, word, strlen(word), true);
    }
    if (json_is_integer(value))
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else /* always with a decimal point: 1.0 is not an integer */
        snprintf(number, sizeof(number), "%#.17g", json_real_value(value));
    return tree_scalar(tree, number, strlen(number), true);
}

static enum status read_value(struct tree *tree, const json_t *value, int depth,
                              const struct node **ret, struct parse_error *err)
{
    struct node *node;
    enum status st = OK;
    if (depth == TREE_DEPTH_MAX)
        return parse_fail(err, 0, "nested more than %d deep", TREE_DEPTH_MAX);
    if (json_is_string(value) && memchr(json_string_value(value), '\0', json_string_length(value)))
        return parse_fail(err, 0, "a NUL character (\\u0000) can't be part of a text");
    if (json_is_array(value))
        node = tree_node(tree, NODE_LIST);
    else if (json_is_object(value))
        node = tree_node(tree, NODE_MAP);
    else if (!value || json_is_null(value))
        node = tree_node(tree, NODE_NULL);
    else
        node = read_scalar(tree, value);
    if (!node)
        return E_NOMEM;
    if (node->kind == NODE_LIST)
        st = read_array(tree, value, depth + 1, node, err);
    else if (node->kind == NODE_MAP)
        st = read_object(tree, value, depth + 1, node, err);
    if (st == OK)
        *ret = node;
    return st;
}

enum status tree_from_json(struct tree *tree, const json_t *value, const struct node **ret,
                           struct parse_error *reterr)
{
    return read_value(tree, value, 0, ret, reterr);
}

/* ---- to JSON ---- */

static json_t *write_plain(const char *text)
{
    char again[32];
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(text[0] == 't');
    long long number = strtoll(text, NULL, 10);
    snprintf(again, sizeof(again), "%lld", number);
    return strcmp(text, again) == 0 ? json_integer(number) : json_string(text);
}

static json_t *write_list(const struct node *list)
{
    json_t *array = json_array();
    for (const struct entry *entry = list->entries; entry && array; entry = entry->next) {
        if (json_array_append_new(array, node_to_json(entry->value)) == 0)
            continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *write_map(const struct node *map)
{
    json_t *object = json_object();
    for (const struct entry *entry = map->entries; entry && object; entry = entry->next) {
        if (json_object_set_new(object, entry->key->text, node_to_json(entry->value)) == 0)
            continue;
        json_decref(object);
        object = NULL;
    }
    return object;
}

json_t *node_to_json(const struct node *node)
{
    switch (node->kind) {
    case NODE_LIST:
        return write_list(node);
    case NODE_MAP:
        return write_map(node);
    case NODE_SCALAR:
        return node->plain ? write_plain(node->text) : json_string(node->text);
    case NODE_NULL:
        break;
    }
    return json_null();
}
