/* A tree of values as they stand in a file: texts, lists and maps, each with its place. YAML and
 * JSON are two ways to it. Whoever reads a value decides what its text means, so that `1.10` stays
 * what was typed. */
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
    bool exact;       /* one line, nothing escaped: text[i] stands at text_column + i */
    int line, column; /* from 1; 0: unknown */
    int text_column;  /* of text[0] */
    const char *text; /* NODE_SCALAR: UTF-8, no NUL inside */
    size_t length;
    struct entry *entries; /* NODE_LIST, NODE_MAP */
    size_t count;
    /* The whole below it, where an alias counts as what it stands for. */
    size_t weight_nodes, weight_bytes;
};

struct entry {
    const struct node *key; /* NULL in a list */
    const struct node *value;
    struct entry *next;
};

/* Owns its nodes; all are freed at once. */
struct tree {
    struct chunk *chunks;
};
void tree_init(struct tree *tree);
void tree_release(struct tree *tree);

enum {
    TREE_DEPTH_MAX = 16,
    TREE_ENTRIES_MAX = 1000, /* of one map */
    TREE_NODES_MAX = 1000000,
    TREE_BYTES_MAX = 10 * 1024 * 1024, /* of a file, and of its texts once aliases are put in */
};

/* Reads all documents of a YAML text; *ret is a list of them. E_INVALID: *reterr has line and
 * column. E_TOO_LARGE: see TREE_..._MAX; *reterr says which. */
MUST_CHECK enum status tree_from_yaml(struct tree *tree, const char *text, size_t length,
                                      const struct node **ret, struct parse_error *reterr);

/* The same from a JSON value; no places. */
MUST_CHECK enum status tree_from_json(struct tree *tree, const json_t *value,
                                      const struct node **ret, struct parse_error *reterr);

/* The same from a JSON text. Keys must not come twice. E_INVALID: *reterr has the column; the text
 * counts as one line. */
MUST_CHECK enum status tree_from_json_text(struct tree *tree, const char *text,
                                           const struct node **ret, struct parse_error *reterr);

/* The other way, as far as JSON has it: what is no text to both YAML and JSON, and is written the
 * same, is none. NULL: out of memory. */
json_t *node_to_json(const struct node *node);

/* The value of a key of a map, or NULL. */
const struct node *node_get(const struct node *map, const char *key);

/* How a plain scalar would be understood by readers of YAML 1.1 or 1.2. */
enum plain_kind { PLAIN_TEXT, PLAIN_NULL, PLAIN_BOOL, PLAIN_NUMBER };
enum plain_kind plain_kind(const char *text);

/* "a list", "a map", "a number", ... for messages. */
const char *node_describe(const struct node *node);

/* For the readers. Each gives NULL when out of memory. */
struct node *tree_node(struct tree *tree, enum node_kind kind);
struct node *tree_scalar(struct tree *tree, const char *text, size_t length, bool plain);
struct entry *tree_entry(struct tree *tree, const struct node *key, const struct node *value);

/* Links the entry behind *tail, which is &parent->entries at first, and adds up the weight.
 * E_TOO_LARGE when the tree has become too large; *reterr says how. */
MUST_CHECK enum status node_append(struct node *parent, struct entry ***tail, struct entry *entry,
                                   struct parse_error *reterr);

#endif
