#include "document/node.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Further nodes and texts are allocated in chunks: a tree is built once and freed as a whole. */
struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
};

void tree_init(struct tree *tree)
{
    tree->chunks = NULL;
    tree->first_used = 0;
}

void tree_release(struct tree *tree)
{
    while (tree->chunks) {
        struct chunk *next = tree->chunks->next;
        free(tree->chunks);
        tree->chunks = next;
    }
}

static void *tree_alloc(struct tree *tree, size_t size)
{
    const size_t align = sizeof(max_align_t), usual = 8192;
    size = (size + align - 1) / align * align;
    if (sizeof(tree->first) - tree->first_used >= size) {
        tree->first_used += size;
        return (char *)tree->first + tree->first_used - size;
    }
    struct chunk *chunk = tree->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > usual / 4 ? size : usual;
        chunk = malloc(sizeof(*chunk) + room);
        if (!chunk)
            return NULL;
        *chunk = (struct chunk){.next = tree->chunks, .size = room};
        tree->chunks = chunk;
    }
    void *memory = (char *)chunk->bytes + chunk->used;
    chunk->used += size;
    return memory;
}

struct node *tree_node(struct tree *tree, enum node_kind kind)
{
    struct node *node = tree_alloc(tree, sizeof(*node));
    if (node)
        *node = (struct node){.kind = kind, .weight_nodes = 1};
    return node;
}

struct node *tree_scalar(struct tree *tree, const char *text, size_t length, bool plain)
{
    struct node *node = tree_node(tree, NODE_SCALAR);
    char *copy = node ? tree_alloc(tree, length + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    node->text = copy;
    node->length = node->weight_bytes = length;
    node->plain = plain;
    return node;
}

struct entry *tree_entry(struct tree *tree, const struct node *key, const struct node *value)
{
    struct entry *entry = tree_alloc(tree, sizeof(*entry));
    if (entry)
        *entry = (struct entry){.key = key, .value = value};
    return entry;
}

/* The sums can't overflow: each part is below the limits itself. */
enum status node_append(struct node *parent, struct entry ***tail, struct entry *entry,
                        struct parse_error *reterr)
{
    const struct node *parts[] = {entry->key, entry->value};
    for (int i = 0; i < 2; i++) {
        parent->weight_nodes += parts[i] ? parts[i]->weight_nodes : 0;
        parent->weight_bytes += parts[i] ? parts[i]->weight_bytes : 0;
    }
    if (parent->weight_nodes > TREE_NODES_MAX) {
        parse_error_set(reterr, 0, "more than %d values, aliases counted each time they are used",
                        TREE_NODES_MAX);
        return E_TOO_LARGE;
    }
    if (parent->weight_bytes > TREE_BYTES_MAX) {
        parse_error_set(reterr, 0,
                        "more than 10 MiB of text, aliases counted each time they are used");
        return E_TOO_LARGE;
    }
    **tail = entry;
    *tail = &entry->next;
    parent->count++;
    return OK;
}

const struct node *node_get(const struct node *map, const char *key)
{
    for (const struct entry *entry = map->entries; entry; entry = entry->next) {
        const char *name = entry->key->text; /* most names differ in the first letter */
        if (name[0] == key[0] && strcmp(name, key) == 0)
            return entry->value;
    }
    return NULL;
}

static bool is_one_of(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(text, words[i]) == 0)
            return true;
    }
    return false;
}

/* Decimal, hexadecimal, octal, with `_`, with a fraction or an exponent, `.inf` and `.nan`; base 60
 * (`12:30`) as well, which YAML 1.1 takes for the number 750. */
static bool looks_like_number(const char *text)
{
    static const char *const words[] = {".inf", "-.inf", "+.inf", ".nan"};
    if (is_one_of(text, words, sizeof(words) / sizeof(words[0])))
        return true;
    text += *text == '-' || *text == '+';
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b'))
        return text[2] && text[2 + strspn(text + 2, "0123456789abcdefABCDEF_")] == '\0';
    size_t digits = strspn(text, "0123456789_:");
    bool some = digits > 0 && text[0] != '_' && text[0] != ':';
    text += digits;
    if (*text == '.') {
        digits = strspn(text + 1, "0123456789_");
        some = some || (digits > 0 && text[1] != '_');
        text += 1 + digits;
    }
    if (some && (*text == 'e' || *text == 'E')) {
        text += 1 + (text[1] == '-' || text[1] == '+');
        digits = strspn(text, "0123456789");
        some = digits > 0;
        text += digits;
    }
    return some && *text == '\0';
}

enum plain_kind plain_kind(const char *text)
{
    static const char *const nulls[] = {"", "~", "null"};
    static const char *const bools[] = {"true", "false", "yes", "no", "on", "off"};
    if (is_one_of(text, nulls, sizeof(nulls) / sizeof(nulls[0])))
        return PLAIN_NULL;
    if (is_one_of(text, bools, sizeof(bools) / sizeof(bools[0])))
        return PLAIN_BOOL;
    return looks_like_number(text) ? PLAIN_NUMBER : PLAIN_TEXT;
}

const char *node_describe(const struct node *node)
{
    if (node->kind == NODE_LIST)
        return "a list";
    if (node->kind == NODE_MAP)
        return "a map";
    if (node->kind == NODE_NULL)
        return "nothing";
    if (!node->plain)
        return "a text";
    switch (plain_kind(node->text)) {
    case PLAIN_NULL:
        return "nothing";
    case PLAIN_BOOL:
        return "true or false";
    case PLAIN_NUMBER:
        return "a number";
    case PLAIN_TEXT:
        break;
    }
    return "a text";
}
