/* A tree of the values of a YAML or JSON file: texts, lists and maps, each with its position. The
 * decoder of a value interprets its text, so that `1.10` stays as it was typed. */
#ifndef PEAL_NODE_H
#define PEAL_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum node_kind { NODE_NULL, NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    bool plain;       /* a scalar without quotes: `5`, `true` and `null` are not texts */
    bool exact;       /* one line without escapes: text[i] is at text_column + i */
    int line, column; /* from 1; 0: unknown */
    int text_column;  /* of text[0] */
    const char *text; /* NODE_SCALAR: UTF-8, no NUL inside */
    size_t length;
    struct entry *entries; /* NODE_LIST, NODE_MAP */
    size_t count;
    /* Size of the subtree; an alias counts as its value. */
    size_t weight_nodes, weight_bytes;
};

struct entry {
    const struct node *key; /* NULL in a list */
    const struct node *value;
    struct entry *next;
};

/* Owns its nodes, which are freed together. Those of a usual job fit into the tree itself, so that
 * an agent that decodes a million definitions allocates nothing for them. */
struct tree {
    struct chunk *chunks; /* of what does not fit into `first` */
    size_t first_used;
    max_align_t first[4096 / sizeof(max_align_t)];
};
void tree_init(struct tree *tree);
void tree_release(struct tree *tree);

enum {
    TREE_DEPTH_MAX = 16,
    TREE_ENTRIES_MAX = 1000, /* of one map */
    TREE_NODES_MAX = 1000000,
    TREE_BYTES_MAX = 10 * 1024 * 1024, /* of a file, and of its texts with aliases expanded */
};

/* Reads all documents of a YAML text into a list; the tree is empty before. E_INVALID: *reterr has
 * line and column. E_TOO_LARGE: beyond a limit TREE_..._MAX; *reterr says which. */
MUST_CHECK enum status tree_from_yaml(struct tree *tree, const char *text, size_t length,
                                      const struct node **ret, struct parse_error *reterr);

/* The same one document after the other, each of which is gone after its visit: a large file needs
 * no large tree. `visit` answers false to end it. `restart` is called if all documents are about to
 * be visited anew. */
struct yaml_visitor {
    bool (*visit)(void *context, const struct node *document);
    void (*restart)(void *context);
    void *context;
};
MUST_CHECK enum status yaml_each(const char *text, size_t length,
                                 const struct yaml_visitor *visitor, struct parse_error *reterr);

/* Reads a JSON value; the nodes have no positions. */
MUST_CHECK enum status tree_from_json(struct tree *tree, const json_t *value,
                                      const struct node **ret, struct parse_error *reterr);

/* Reads a JSON text. Duplicate keys are errors. E_INVALID: *reterr has the column; the text counts
 * as one line. */
MUST_CHECK enum status tree_from_json_text(struct tree *tree, const char *text,
                                           const struct node **ret, struct parse_error *reterr);

/* The tree as a JSON value. Plain scalars become booleans and integers if JSON writes them the
 * same; all others stay texts. NULL: out of memory. */
json_t *node_to_json(const struct node *node);

/* The value of a key in a map, or NULL. */
const struct node *node_get(const struct node *map, const char *key);

/* The type of a plain scalar in YAML 1.1 or 1.2. */
enum plain_kind { PLAIN_TEXT, PLAIN_NULL, PLAIN_BOOL, PLAIN_NUMBER };
enum plain_kind plain_kind(const char *text);

/* "a list", "a map", "a number", ... for messages. */
const char *node_describe(const struct node *node);

/* For the parsers. Each returns NULL when out of memory. */
struct node *tree_node(struct tree *tree, enum node_kind kind);
struct node *tree_scalar(struct tree *tree, const char *text, size_t length, bool plain);
struct entry *tree_entry(struct tree *tree, const struct node *key, const struct node *value);

/* Appends the entry at *tail, which is &parent->entries at first, and adds its weight to the
 * parent's. E_TOO_LARGE: beyond a limit; *reterr says which. */
MUST_CHECK enum status node_append(struct node *parent, struct entry ***tail, struct entry *entry,
                                   struct parse_error *reterr);

#endif
