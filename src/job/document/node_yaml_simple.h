/* A fast reader for the plain part of YAML that most job files keep to. */
#ifndef PEAL_NODE_YAML_SIMPLE_H
#define PEAL_NODE_YAML_SIMPLE_H

#include "document/node.h"

/* Reads all documents of a text, which is UTF-8 without control characters, into a list: the same
 * tree as tree_from_yaml's. E_INVALID: the text has something that this reader does not know, or a
 * mistake; what it has read stays in the tree. E_NOMEM. */
MUST_CHECK enum status tree_from_simple_yaml(struct tree *tree, const char *text, size_t length,
                                             const struct node **ret);

/* The same document by document; `visit` may be called before E_INVALID is the answer. Each
 * document is freed after its visit, which answers false to end it all, with OK. */
MUST_CHECK enum status simple_yaml_each(const char *text, size_t length,
                                        bool (*visit)(void *context, const struct node *document),
                                        void *context);

/* The same by libyaml, whatever the text has. E_INVALID: *reterr. */
MUST_CHECK enum status tree_from_full_yaml(struct tree *tree, const char *text, size_t length,
                                           const struct node **ret, struct parse_error *reterr);

#endif
