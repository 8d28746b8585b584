/* A JSON value to a tree. */
#include <string.h>

#include "node.h"

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
    else /* a point in it, whatever its value: 1.0 is no integer */
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
