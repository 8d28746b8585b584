/* YAML to a tree: what is simple by a reader of our own, the rest by libyaml's events. JSON files
 * are read here, too, to have positions. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "array.h"
#include "document/json_surrogates.h"
#include "document/node.h"
#include "document/node_yaml_simple.h"
#include "document/utf8.h"
#include "hash.h"

enum { ANCHORS_MAX = 1000 };

struct anchor {
    char *name;
    const struct node *node;
};

struct reader {
    yaml_parser_t parser;
    struct tree *tree;
    const char *text;
    size_t length;
    struct anchor *anchors; /* of this document */
    size_t anchor_count;
    struct parse_error *err;
};

/* libyaml counts lines and columns from 0, peal from 1. */
static int from_one(size_t n)
{
    return n < INT_MAX ? (int)n + 1 : INT_MAX;
}

static void set_place(const struct reader *r, const yaml_mark_t *mark)
{
    if (r->err) {
        r->err->line = from_one(mark->line);
        r->err->column = from_one(mark->column);
    }
}

static enum status refuse(const struct reader *r, enum status st, const yaml_mark_t *mark)
{
    set_place(r, mark);
    return st;
}

#define fail_at(r, mark, ...)                                                                      \
    (parse_error_set((r)->err, 0, __VA_ARGS__), set_place((r), (mark)), status_invalid())

/* The byte at a mark, or NUL past the end. */
static char byte_at(const struct reader *r, const yaml_mark_t *mark)
{
    const char *at = r->text, *end = r->text + r->length;
    for (size_t line = 0; line < mark->line && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    for (size_t column = 0; column < mark->column && at < end; column++)
        at += utf8_length(at, (size_t)(end - at));
    return at < end ? *at : '\0';
}

/* The most frequent errors, with messages that say what to do. */
static const struct {
    const char *context, *problem; /* NULL: any; else a prefix of libyaml's text */
    const char *message;
} hints[] = {
    {"while scanning an alias", NULL,
     "in YAML a text that starts with '*' must be in quotes: schedule: \"*/5 * * * *\""},
    {"while scanning an anchor", NULL, "in YAML a text that starts with '&' must be in quotes"},
    {"while scanning a quoted scalar", "found unexpected end of stream",
     "the quote that starts here has no end"},
    {"while parsing a quoted scalar", "found unexpected end of stream",
     "the quote that starts here has no end"},
    {NULL, "mapping values are not allowed",
     "a ':' is not allowed here; put a text that holds \": \" in quotes, and check the "
     "indentation"},
    {NULL, "did not find expected key",
     "expected a field or the end of this map; check the indentation and the quotes"},
    {NULL, "could not find expected ':'", "expected ':' after the name of a field"},
    {NULL, "did not find expected '-' indicator",
     "expected '-' or the end of this list; check the indentation"},
    {NULL, "did not find expected ',' or ']'", "expected ',' or ']' in this list"},
    {NULL, "did not find expected ',' or '}'", "expected ',' or '}' in this map"},
    {NULL, "found a tab character that violates", "a tab can't indent in YAML; use spaces"},
    {NULL, "found invalid Unicode character escape code",
     "this \\u escape is half a character; write the character itself"},
    {NULL, "found unknown escape character",
     "unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"},
};

static bool starts_with(const char *text, const char *start)
{
    return !start || (text && strncmp(text, start, strlen(start)) == 0);
}

/* Characters that YAML reserves at the start of a plain scalar. */
static enum status reserved_character(const struct reader *r, const yaml_mark_t *mark)
{
    char c = byte_at(r, mark);
    if (c == '\t')
        return fail_at(r, mark, "a tab can't indent in YAML; use spaces");
    if (c == '@')
        return fail_at(
            r, mark, "in YAML a text that starts with '@' must be in quotes: schedule: \"@daily\"");
    return fail_at(r, mark, "in YAML a text that starts with '%c' must be in quotes", c);
}

static enum status syntax_error(const struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return E_NOMEM;
    if (starts_with(p->problem, "found character that cannot start any token"))
        return reserved_character(r, &p->problem_mark);
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (!starts_with(p->context, hints[i].context) ||
            !starts_with(p->problem, hints[i].problem))
            continue;
        /* The start of the construct says more than where the scanner gave up. */
        return fail_at(r, hints[i].context ? &p->context_mark : &p->problem_mark, "%s",
                       hints[i].message);
    }
    return fail_at(r, &p->problem_mark, "not YAML: %s", p->problem ? p->problem : "unknown error");
}

static enum status next_event(struct reader *r, yaml_event_t *event)
{
    return yaml_parser_parse(&r->parser, event) ? OK : syntax_error(r);
}

static void forget_anchors(struct reader *r)
{
    for (size_t i = 0; i < r->anchor_count; i++)
        free(r->anchors[i].name);
    r->anchor_count = 0;
}

static enum status remember_anchor(struct reader *r, const char *name, const struct node *node,
                                   const yaml_mark_t *mark)
{
    if (r->anchor_count == ANCHORS_MAX)
        return fail_at(r, mark, "more than %d anchors in one document", ANCHORS_MAX);
    if (array_grow(&r->anchors, r->anchor_count, sizeof(*r->anchors)) != OK)
        return E_NOMEM;
    struct anchor anchor = {strdup(name), node};
    if (!anchor.name)
        return E_NOMEM;
    r->anchors[r->anchor_count++] = anchor;
    return OK;
}

/* An anchor is known only when its value is complete, so that no value contains itself. */
static enum status find_anchor(const struct reader *r, const yaml_event_t *event,
                               const struct node **ret)
{
    const char *name = (const char *)event->data.alias.anchor;
    for (size_t i = r->anchor_count; i-- > 0;) {
        if (strcmp(r->anchors[i].name, name) == 0) {
            *ret = r->anchors[i].node;
            return OK;
        }
    }
    return fail_at(r, &event->start_mark,
                   "*%.40s is an alias in YAML, and no &%.40s stands before it; "
                   "a text that starts with '*' must be in quotes",
                   name, name);
}

/* `!!str` makes any scalar a text, and `!` has no effect; all other tags are errors. */
static enum status check_tag(const struct reader *r, const yaml_event_t *event,
                             const yaml_char_t *tag, bool *ret_is_text)
{
    *ret_is_text = tag && strcmp((const char *)tag, YAML_STR_TAG) == 0;
    if (!tag || *ret_is_text || strcmp((const char *)tag, "!") == 0)
        return OK;
    return fail_at(r, &event->start_mark,
                   "tags have no meaning here; put a text that starts with '!' in quotes");
}

static enum status read_scalar(struct reader *r, const yaml_event_t *event, const struct node **ret)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    yaml_scalar_style_t style = event->data.scalar.style;
    bool is_text;
    enum status st = check_tag(r, event, event->data.scalar.tag, &is_text);
    if (st != OK)
        return st;
    if (memchr(text, '\0', length))
        return fail_at(r, &event->start_mark, "a NUL character (\\0) can't be part of a text");
    bool plain = style == YAML_PLAIN_SCALAR_STYLE && !is_text;
    struct node *node = tree_scalar(r->tree, text, length, plain);
    if (!node)
        return E_NOMEM;
    if (plain && plain_kind(text) == PLAIN_NULL)
        node->kind = NODE_NULL;
    bool quoted =
        style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    const yaml_mark_t *start = &event->start_mark, *end = &event->end_mark;
    node->text_column = from_one(start->column) + quoted;
    node->exact = (quoted || style == YAML_PLAIN_SCALAR_STYLE) && !event->data.scalar.tag &&
                  !event->data.scalar.anchor && start->line == end->line &&
                  end->column - start->column == utf8_count(text, length) + (quoted ? 2 : 0);
    *ret = node;
    return OK;
}

static enum status read_node(struct reader *r, yaml_event_t *event, int depth,
                             const struct node **ret);

/* Appends a value to `to`; `key` is NULL in a list. */
static enum status append(const struct reader *r, struct node *to, struct entry ***tail,
                          const struct node *key, const struct node *value, const yaml_mark_t *mark)
{
    struct entry *entry = tree_entry(r->tree, key, value);
    if (!entry)
        return E_NOMEM;
    enum status st = node_append(to, tail, entry, r->err);
    return st == OK ? OK : refuse(r, st, mark);
}

static enum status read_list(struct reader *r, struct node *list, int depth)
{
    struct entry **tail = &list->entries;
    for (;;) {
        yaml_event_t event;
        enum status st = next_event(r, &event);
        if (st != OK)
            return st;
        yaml_mark_t mark = event.start_mark;
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return OK;
        }
        const struct node *value;
        if ((st = read_node(r, &event, depth, &value)) != OK)
            return st;
        if ((st = append(r, list, &tail, NULL, value, &mark)) != OK)
            return st;
    }
}

/* A Bloom filter of the keys of a map: a clear bit proves that a key is new, so that a search
 * through all keys is rare. */
struct key_filter {
    uint64_t bits[256];
};

static bool filter_add(struct key_filter *filter, const struct node *key)
{
    uint64_t hash = hash_bytes(0, key->text, key->length);
    uint64_t *word = &filter->bits[hash % 256];
    uint64_t bit = UINT64_C(1) << (hash >> 32) % 64;
    bool was_set = *word & bit;
    *word |= bit;
    return was_set;
}

/* Keys are texts, and unique in a map. */
static enum status check_key(const struct reader *r, const struct node *map,
                             struct key_filter *filter, const struct node *key,
                             const yaml_mark_t *mark)
{
    if (key->kind == NODE_LIST || key->kind == NODE_MAP)
        return fail_at(r, mark, "the name of a field can't be %s", node_describe(key));
    if (map->count == TREE_ENTRIES_MAX)
        return fail_at(r, mark, "more than %d fields in one map", TREE_ENTRIES_MAX);
    if (key->plain && strcmp(key->text, "<<") == 0)
        return fail_at(r, mark,
                       "merge keys (<<) are not read; repeat the fields, or use an alias "
                       "for a whole value");
    const struct entry *first = filter_add(filter, key) ? map->entries : NULL;
    for (const struct entry *entry = first; entry; entry = entry->next) {
        if (entry->key->length == key->length && strcmp(entry->key->text, key->text) == 0)
            return fail_at(r, mark, "\"%.60s\" is given twice; the first is in line %d", key->text,
                           entry->key->line);
    }
    return OK;
}

static enum status read_map(struct reader *r, struct node *map, int depth)
{
    struct entry **tail = &map->entries;
    struct key_filter filter = {0};
    for (;;) {
        yaml_event_t event;
        enum status st = next_event(r, &event);
        if (st != OK)
            return st;
        yaml_mark_t mark = event.start_mark;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return OK;
        }
        const struct node *key, *value;
        if ((st = read_node(r, &event, depth, &key)) != OK ||
            (st = check_key(r, map, &filter, key, &mark)) != OK ||
            (st = next_event(r, &event)) != OK || (st = read_node(r, &event, depth, &value)) != OK)
            return st;
        if ((st = append(r, map, &tail, key, value, &mark)) != OK)
            return st;
    }
}

static enum status read_collection(struct reader *r, const yaml_event_t *event, int depth,
                                   const struct node **ret)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    bool is_text;
    enum status st =
        check_tag(r, event, is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag,
                  &is_text);
    if (st != OK)
        return st;
    if (depth == TREE_DEPTH_MAX)
        return fail_at(r, &event->start_mark, "nested more than %d deep", TREE_DEPTH_MAX);
    struct node *node = tree_node(r->tree, is_map ? NODE_MAP : NODE_LIST);
    if (!node)
        return E_NOMEM;
    st = is_map ? read_map(r, node, depth + 1) : read_list(r, node, depth + 1);
    if (st == OK)
        *ret = node;
    return st;
}

static const char *anchor_of(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return (const char *)event->data.scalar.anchor;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return (const char *)event->data.sequence_start.anchor;
    if (event->type == YAML_MAPPING_START_EVENT)
        return (const char *)event->data.mapping_start.anchor;
    return NULL;
}

/* Takes the event over. */
static enum status read_node(struct reader *r, yaml_event_t *event, int depth,
                             const struct node **ret)
{
    const struct node *node = NULL;
    enum status st;
    if (event->type == YAML_ALIAS_EVENT)
        st = find_anchor(r, event, &node);
    else if (event->type == YAML_SCALAR_EVENT)
        st = read_scalar(r, event, &node);
    else
        st = read_collection(r, event, depth, &node);
    if (st == OK && event->type != YAML_ALIAS_EVENT) {
        struct node *mine = (struct node *)node; /* created just above */
        mine->line = from_one(event->start_mark.line);
        mine->column = from_one(event->start_mark.column);
        if (anchor_of(event))
            st = remember_anchor(r, anchor_of(event), node, &event->start_mark);
    }
    if (st == OK)
        *ret = node;
    yaml_event_delete(event);
    return st;
}

static enum status read_documents(struct reader *r, struct node *documents)
{
    struct entry **tail = &documents->entries;
    for (;;) {
        yaml_event_t event;
        enum status st = next_event(r, &event);
        if (st != OK)
            return st;
        yaml_event_type_t type = event.type;
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT ||
            type == YAML_DOCUMENT_END_EVENT || type == YAML_STREAM_END_EVENT) {
            yaml_event_delete(&event);
            if (type == YAML_DOCUMENT_START_EVENT)
                forget_anchors(r);
            if (type == YAML_STREAM_END_EVENT)
                return OK;
            continue;
        }
        yaml_mark_t mark = event.start_mark;
        const struct node *value;
        if ((st = read_node(r, &event, 0, &value)) != OK)
            return st;
        if ((st = append(r, documents, &tail, NULL, value, &mark)) != OK)
            return st;
    }
}

static enum status parse(struct tree *tree, const char *text, size_t length,
                         const struct node **ret, struct parse_error *reterr)
{
    struct reader r = {.tree = tree, .text = text, .length = length, .err = reterr};
    struct node *documents = tree_node(tree, NODE_LIST);
    if (!documents || !yaml_parser_initialize(&r.parser))
        return E_NOMEM;
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    enum status st = read_documents(&r, documents);
    if (st == OK)
        *ret = documents;
    yaml_parser_delete(&r.parser);
    forget_anchors(&r);
    free(r.anchors);
    return st;
}

/* Checks what the readers rely on, and leaves out a byte order mark. */
static enum status check_text(const char **text, size_t *length, struct parse_error *reterr)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (*length > TREE_BYTES_MAX) {
        parse_error_set(reterr, 0, "the file is larger than 10 MiB");
        return E_TOO_LARGE;
    }
    if (*length >= 3 && memcmp(*text, byte_order_mark, 3) == 0) {
        *text += 3;
        *length -= 3;
    }
    return utf8_check(*text, *length, reterr);
}

enum status yaml_each(const char *text, size_t length, const struct yaml_visitor *visitor,
                      struct parse_error *reterr)
{
    struct tree tree;
    const struct node *documents = NULL;
    enum status st = check_text(&text, &length, reterr);
    if (st != OK)
        return st;
    st = simple_yaml_each(text, length, visitor->visit, visitor->context);
    if (st == OK || st == E_NOMEM)
        return st;
    visitor->restart(visitor->context);
    tree_init(&tree);
    st = tree_from_full_yaml(&tree, text, length, &documents, reterr);
    const struct entry *entry = st == OK ? documents->entries : NULL;
    while (entry && visitor->visit(visitor->context, entry->value))
        entry = entry->next;
    tree_release(&tree);
    return st;
}

enum status tree_from_yaml(struct tree *tree, const char *text, size_t length,
                           const struct node **ret, struct parse_error *reterr)
{
    enum status st = check_text(&text, &length, reterr);
    if (st != OK)
        return st;
    st = tree_from_simple_yaml(tree, text, length, ret);
    if (st == OK || st == E_NOMEM)
        return st;
    tree_release(tree); /* of what was read in vain */
    tree_init(tree);
    return tree_from_full_yaml(tree, text, length, ret, reterr);
}

enum status tree_from_full_yaml(struct tree *tree, const char *text, size_t length,
                                const struct node **ret, struct parse_error *reterr)
{
    if (!json_has_surrogates(text, length))
        return parse(tree, text, length, ret, reterr);
    struct strbuf joined;
    strbuf_init(&joined);
    json_join_surrogates(text, length, &joined);
    enum status st = strbuf_status(&joined);
    if (st == OK)
        st = parse(tree, joined.text, joined.length, ret, reterr);
    strbuf_release(&joined);
    return st;
}
