#include "foreign/rows.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "document/utf8.h"

/* ---- what both readers do ---- */

void row_step(struct row_place *place, size_t count)
{
    for (; count && place->at < place->end; count--, place->at++) {
        place->column = *place->at == '\n' ? 1 : place->column + 1;
        place->line += *place->at == '\n';
    }
}

static struct node *place_node(struct node *node, const struct row_place *at)
{
    if (node) {
        node->line = at->line;
        node->column = node->text_column = at->column;
    }
    return node;
}

enum status row_begin(struct row_lists *lists, size_t table, const struct row_place *at,
                      struct node **ret, struct parse_error *reterr)
{
    struct node *row = place_node(tree_node(lists->tree, NODE_MAP), at);
    struct entry *entry = row ? tree_entry(lists->tree, NULL, row) : NULL;
    if (!entry)
        return E_NOMEM;
    *ret = row;
    return node_append(lists->lists[table], &lists->tails[table], entry, reterr);
}

enum status row_add(struct row_lists *lists, struct node *row, struct entry ***tail,
                    const char *column, const char *text, size_t length, bool is_plain,
                    const struct row_place *at, struct parse_error *reterr)
{
    struct node *key = tree_scalar(lists->tree, column, strlen(column), true);
    struct node *value =
        text ? tree_scalar(lists->tree, text, length, is_plain) : tree_node(lists->tree, NODE_NULL);
    if (!key || !place_node(value, at))
        return E_NOMEM;
    place_node(key, at);
    struct entry *entry = tree_entry(lists->tree, key, value);
    return entry ? node_append(row, tail, entry, reterr) : E_NOMEM;
}

/* ---- columns ---- */

bool row_is_column(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_");
        b += strspn(b, "_");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

const struct node *row_get(const struct node *row, const char *column)
{
    for (const struct entry *entry = row->kind == NODE_MAP ? row->entries : NULL; entry;
         entry = entry->next) {
        if (entry->key->kind == NODE_SCALAR && row_is_column(entry->key->text, column))
            return entry->value->kind == NODE_NULL ? NULL : entry->value;
    }
    return NULL;
}

const char *row_text(const struct node *row, const char *column)
{
    const struct node *node = row_get(row, column);
    return node && node->kind == NODE_SCALAR ? node->text : "";
}

/* ---- which form it is ---- */

static size_t skip_blanks(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    return at;
}

bool rows_are_sql(const char *text, size_t length)
{
    static const char *const words[] = {"--",   "/*",   "insert ", "create ",  "drop ", "#",
                                        "set ", "use ", "lock ",   "replace ", "begin"};
    size_t at = skip_blanks(text, length);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (length - at >= strlen(words[i]) &&
            strncasecmp(text + at, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

/* Is the name one of the fields of the first line, perhaps in quotes? */
static bool has_column(const char *text, size_t length, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i + size <= length; i++) {
        bool is_begin = i == 0 || strchr(",;\t\"", text[i - 1]);
        bool is_end = i + size == length || strchr(",;\t\"\r", text[i + size]);
        if (is_begin && is_end && strncasecmp(text + i, name, size) == 0)
            return true;
    }
    return false;
}

static bool is_json(const char *text, size_t length)
{
    size_t at = skip_blanks(text, length);
    return at < length && (text[at] == '[' || text[at] == '{');
}

bool rows_are_csv(const char *text, size_t length, const char *const *columns)
{
    const char *newline = memchr(text, '\n', length);
    size_t line = newline ? (size_t)(newline - text) : length;
    if (is_json(text, length))
        return false;
    while (*columns && has_column(text, line, *columns))
        columns++;
    return !*columns;
}

/* ---- JSON ---- */

static enum status expected_rows(const struct node *node, const char *table,
                                 struct parse_error *reterr)
{
    enum status st = parse_fail(reterr, node->column ? node->column : 1,
                                "expected rows of %s, found %s", table, node_describe(node));
    if (reterr)
        reterr->line = node->line ? node->line : 1;
    return st;
}

/* phpMyAdmin: [{"type":"table","name":"task","data":[...]}, ...] */
static bool take_named(const struct node *list, const char *const *tables, const struct node **ret)
{
    bool is_any = false;
    for (const struct entry *entry = list->entries; entry; entry = entry->next) {
        const struct node *map = entry->value;
        const struct node *name = map->kind == NODE_MAP ? node_get(map, "name") : NULL;
        const struct node *type = map->kind == NODE_MAP ? node_get(map, "type") : NULL;
        const struct node *data = map->kind == NODE_MAP ? node_get(map, "data") : NULL;
        if (!type || type->kind != NODE_SCALAR || strcmp(type->text, "table") != 0)
            continue;
        is_any = true;
        for (size_t i = 0; name && name->kind == NODE_SCALAR && tables[i]; i++) {
            if (data && data->kind == NODE_LIST && strcasecmp(name->text, tables[i]) == 0)
                ret[i] = data;
        }
    }
    return is_any;
}

/* {"task":[...], "host":[...]}, {"data":[...]}, or the list itself. */
static enum status take_json(const struct node *root, const char *const *tables,
                             const struct node **ret, struct parse_error *reterr)
{
    bool is_any = false;
    if (root->kind == NODE_LIST) {
        if (!take_named(root, tables, ret))
            ret[0] = root;
        return OK;
    }
    for (size_t i = 0; root->kind == NODE_MAP && tables[i]; i++) {
        const struct node *list = row_get(root, tables[i]);
        if (!list || list->kind != NODE_LIST)
            continue;
        ret[i] = list;
        is_any = true;
    }
    const struct node *data = root->kind == NODE_MAP ? node_get(root, "data") : NULL;
    if (!is_any && data && data->kind == NODE_LIST) {
        ret[0] = data;
        return OK;
    }
    return is_any ? OK : expected_rows(root, tables[0], reterr);
}

static enum status read_json(struct tree *tree, const char *text, size_t length,
                             const char *const *tables, const struct node **ret,
                             struct parse_error *reterr)
{
    const struct node *documents = NULL;
    enum status st = tree_from_yaml(tree, text, length, &documents, reterr);
    if (st == OK && documents->count != 1)
        return expected_rows(documents, tables[0], reterr);
    return st == OK ? take_json(documents->entries->value, tables, ret, reterr) : st;
}

enum status rows_read(struct tree *tree, const char *text, size_t length, const char *const *tables,
                      const struct node **ret, struct parse_error *reterr)
{
    struct row_lists lists = {.tree = tree, .tables = tables};
    for (size_t i = 0; tables[i]; i++) {
        lists.lists[i] = tree_node(tree, NODE_LIST);
        if (!lists.lists[i])
            return E_NOMEM;
        lists.tails[i] = &lists.lists[i]->entries;
        ret[i] = lists.lists[i];
    }
    if (is_json(text, length))
        return read_json(tree, text, length, tables, ret, reterr);
    if (length > TREE_BYTES_MAX)
        return E_TOO_LARGE;
    enum status st = utf8_check(text, length, reterr);
    if (st != OK)
        return st;
    return rows_are_sql(text, length) ? rows_read_sql(&lists, text, length, reterr)
                                      : rows_read_csv(&lists, text, length, reterr);
}
