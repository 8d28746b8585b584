/* The YAML of most job files, read line by line: block maps and block lists of scalars on one line,
 * literal blocks, and flow lists on one line. Much faster than libyaml. Everything else, and every
 * mistake, is libyaml's: this reader gives up at the first thing that it does not know. */
#include <string.h>
#include <strings.h>

#include "document/node.h"
#include "document/node_yaml_simple.h"

enum {
    DEPTH_MAX = 8,
    FIELDS_MAX = 64,   /* of a map, which are compared one by one */
    KEY_MAX = 64,      /* bytes */
    ITEM_BYTES = 1000, /* of a list's item; libyaml looks for a key in so many */
};

/* A line that is neither blank nor a comment, without the blanks around it. */
struct line {
    const char *text, *end;
    int indent;
    int number;
};

struct reader {
    struct tree *tree;
    const char *at, *end; /* the lines that are still to be read */
    int number;           /* of the line before `at` */
    struct line line;
    bool has_line; /* false: the end of the text */
};

static enum status give_up(void)
{
    return E_INVALID;
}

/* Not a tab, and not the first byte of a line break beyond ASCII (U+0085, U+2028, U+2029). */
static bool is_usual(char byte)
{
    unsigned char c = (unsigned char)byte;
    return c >= ' ' && c != 0x7F && c != 0xC2 && c != 0xE2;
}

/* ---- lines ---- */

/* The next raw line, without its newline; false: an unusual character. */
static bool take_raw(struct reader *r, const char **ret_start, const char **ret_end)
{
    const char *at = r->at;
    while (at < r->end && is_usual(*at))
        at++;
    if (at < r->end && *at != '\n')
        return false;
    *ret_start = r->at;
    *ret_end = at;
    r->at = at < r->end ? at + 1 : at;
    r->number++;
    return true;
}

/* Moves to the next line that has something to say. */
static enum status next_line(struct reader *r)
{
    const char *start, *end;
    while (r->at < r->end) {
        if (!take_raw(r, &start, &end))
            return give_up();
        const char *text = start;
        while (text < end && *text == ' ')
            text++;
        while (end > text && end[-1] == ' ')
            end--;
        if (text == end || *text == '#')
            continue;
        r->line = (struct line){text, end, (int)(text - start), r->number};
        r->has_line = true;
        return OK;
    }
    r->has_line = false;
    return OK;
}

static bool is_marker(const struct reader *r)
{
    return r->has_line && r->line.indent == 0 && r->line.end - r->line.text == 3 &&
           memcmp(r->line.text, "---", 3) == 0;
}

/* Is there a line of this document, indented by more than so much? */
static bool goes_deeper(const struct reader *r, int indent)
{
    return r->has_line && !is_marker(r) && r->line.indent > indent;
}

/* "- x", with a single blank. */
static bool is_item(const struct line *line)
{
    return line->end - line->text > 2 && line->text[0] == '-' && line->text[1] == ' ' &&
           line->text[2] != ' ';
}

/* The length of the field name at the start, which a colon and a blank or the end follow; 0: there
 * is none. */
static size_t key_length(const char *text, const char *end)
{
    const char *at = text;
    while (at < end && ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
                        (at > text && ((*at >= '0' && *at <= '9') || *at == '-'))))
        at++;
    if (at == end || *at != ':' || (at + 1 < end && at[1] != ' ') || at - text > KEY_MAX)
        return 0;
    return (size_t)(at - text);
}

/* ---- scalars ---- */

static int column_of(const struct reader *r, const char *at)
{
    return r->line.indent + (int)(at - r->line.text) + 1;
}

static bool is_null(const char *text, size_t length)
{
    return (length == 1 && *text == '~') || (length == 4 && strncasecmp(text, "null", 4) == 0);
}

/* A text of one line that stands in the file as it is; `quoted`: inside of quotes. */
static enum status add_scalar(const struct reader *r, const char *text, size_t length, bool quoted,
                              const struct node **ret)
{
    struct node *node = tree_scalar(r->tree, text, length, !quoted);
    if (!node)
        return E_NOMEM;
    if (!quoted && is_null(text, length))
        node->kind = NODE_NULL;
    node->exact = true;
    node->line = r->line.number;
    node->text_column = column_of(r, text);
    node->column = node->text_column - quoted;
    *ret = node;
    return OK;
}

/* From its opening quote to behind the closing one, in *ret_end. Escapes are libyaml's. */
static enum status read_quoted(const struct reader *r, const char *at, const char *end,
                               const struct node **ret, const char **ret_end)
{
    const char *text = at + 1, *close = memchr(text, *at, (size_t)(end - text));
    if (!close || memchr(text, '\\', (size_t)(close - text)) ||
        (close + 1 < end && close[1] == *at))
        return give_up();
    *ret_end = close + 1;
    return add_scalar(r, text, (size_t)(close - text), true, ret);
}

/* Up to the end of the line. */
static enum status read_plain(const struct reader *r, const char *at, const struct node **ret)
{
    const char *end = r->line.end;
    if (strchr("-?:,[]{}#&*!|>'\"%@`", *at))
        return give_up();
    for (const char *c = at; c < end; c++) {
        if ((*c == ':' && (c + 1 == end || c[1] == ' ')) || (*c == '#' && c[-1] == ' '))
            return give_up();
    }
    return add_scalar(r, at, (size_t)(end - at), false, ret);
}

static bool is_flow_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("/._-=+@%", c));
}

/* A word of a flow list, or several with single blanks between. */
static enum status read_flow_word(const struct reader *r, const char *at, const char *end,
                                  const struct node **ret, const char **ret_end)
{
    const char *word = at;
    if (strchr("=+@%", *at) || (*at == '-' && (at + 1 == end || !is_flow_letter(at[1]))))
        return give_up();
    while (at < end && (is_flow_letter(*at) || (*at == ' ' && at + 1 < end && at > word &&
                                                is_flow_letter(at[1]) && is_flow_letter(at[-1]))))
        at++;
    *ret_end = at;
    return at > word ? add_scalar(r, word, (size_t)(at - word), false, ret) : give_up();
}

static bool is_ascii(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at < 0x80)
        at++;
    return at == end;
}

static enum status add_entry(const struct reader *r, struct node *parent, struct entry ***tail,
                             const struct node *key, const struct node *value)
{
    struct entry *entry = tree_entry(r->tree, key, value);
    if (!entry)
        return E_NOMEM;
    return node_append(parent, tail, entry, NULL) == OK ? OK : give_up();
}

static struct node *add_parent(const struct reader *r, enum node_kind kind, const char *at)
{
    struct node *node = tree_node(r->tree, kind);
    if (node) {
        node->line = r->line.number;
        node->column = column_of(r, at);
    }
    return node;
}

/* "[backup, --full]", up to the end of the line. */
static enum status read_flow_list(const struct reader *r, const char *at, const struct node **ret)
{
    const char *end = r->line.end;
    struct node *list = add_parent(r, NODE_LIST, at);
    if (!list)
        return E_NOMEM;
    struct entry **tail = &list->entries;
    if (!is_ascii(at, end))
        return give_up(); /* columns are counted in characters */
    do {
        const struct node *value;
        for (at++; at < end && *at == ' '; at++)
            ;
        if (at == end)
            return give_up();
        enum status st = *at == '"' || *at == '\'' ? read_quoted(r, at, end, &value, &at)
                                                   : read_flow_word(r, at, end, &value, &at);
        if (st == OK)
            st = add_entry(r, list, &tail, NULL, value);
        if (st != OK)
            return st;
        while (at < end && *at == ' ')
            at++;
    } while (at < end && *at == ',');
    if (at + 1 != end || *at != ']')
        return give_up();
    *ret = list;
    return OK;
}

/* Does a line of a literal block belong to it? *ret_text is its text. False with a line that is
 * only partly indented, too, which ends the block or is a mistake. */
static bool is_in_block(const char *start, const char *end, int indent, const char **ret_text)
{
    *ret_text = start;
    for (int i = 0; i < indent; i++) {
        if (start + i == end || start[i] != ' ')
            return start == end; /* an empty line */
    }
    *ret_text = start + indent;
    return true;
}

/* "|", and below it lines that are indented alike. Blank lines at the end are left out. */
static enum status read_literal(struct reader *r, const char *at, int outer,
                                const struct node **ret)
{
    struct line head = r->line;
    const char *start, *end, *text, *first = r->at;
    int indent = 0, lines = 0;
    size_t length = 0, kept = 0;
    while (r->at < r->end) {
        const char *before = r->at;
        if (!take_raw(r, &start, &end))
            return give_up();
        for (; !lines && start + indent < end && start[indent] == ' '; indent++)
            ;
        if (!lines && (indent <= outer || start + indent == end))
            return give_up();
        if (!is_in_block(start, end, indent, &text)) {
            r->at = before;
            r->number--;
            break;
        }
        if ((text == end && start != end) || end == r->end)
            return give_up(); /* a line of nothing but blanks, or one without a newline */
        lines++;
        length += (size_t)(end - text) + 1;
        kept = text == end ? kept : length;
    }
    struct node *node = tree_scalar(r->tree, first, lines ? kept : 0, false);
    if (!node || !lines)
        return node ? give_up() : E_NOMEM;
    char *to = (char *)node->text; /* shorter than what was copied there */
    const char *from = first;
    for (size_t written = 0; written < kept;) {
        const char *newline = memchr(from, '\n', (size_t)(r->end - from));
        const char *stop = newline ? newline : r->end;
        text = stop > from ? from + indent : stop;
        memcpy(to + written, text, (size_t)(stop - text));
        written += (size_t)(stop - text);
        to[written++] = '\n';
        from = stop + 1;
    }
    node->line = head.number;
    node->column = node->text_column = head.indent + (int)(at - head.text) + 1;
    *ret = node;
    return OK;
}

/* ---- blocks ---- */

static enum status read_block(struct reader *r, int indent, int depth, const struct node **ret);

/* The value that begins at `at` in the current line, of a map or a list that is indented by
 * `outer`. Moves on to the line behind it, which must not be deeper: it would go on with it. */
static enum status read_inline(struct reader *r, const char *at, int outer, const struct node **ret)
{
    const char *end = r->line.end, *behind = end;
    enum status st;
    if (*at == '|' && at + 1 == end)
        st = read_literal(r, at, outer, ret);
    else if (*at == '[')
        st = read_flow_list(r, at, ret);
    else if (*at == '"' || *at == '\'')
        st = read_quoted(r, at, end, ret, &behind);
    else
        st = read_plain(r, at, ret);
    if (st == OK && behind != end)
        return give_up();
    if (st == OK)
        st = next_line(r);
    return st == OK && goes_deeper(r, outer) ? give_up() : st;
}

/* The value of a field whose line ends behind the colon. */
static enum status read_below(struct reader *r, int indent, int depth, const struct node **ret)
{
    enum status st = next_line(r);
    if (st != OK)
        return st;
    bool is_list_beside = r->has_line && r->line.indent == indent && is_item(&r->line);
    if (!is_list_beside && !goes_deeper(r, indent))
        return give_up();
    return read_block(r, r->line.indent, depth + 1, ret);
}

static bool has_key(const struct node *map, const char *key, size_t length)
{
    for (const struct entry *entry = map->entries; entry; entry = entry->next) {
        if (entry->key->length == length && memcmp(entry->key->text, key, length) == 0)
            return true;
    }
    return false;
}

/* The field at `at`, and its value. */
static enum status read_field(struct reader *r, const char *at, int indent, int depth,
                              struct node *map, struct entry ***tail)
{
    const struct node *key, *value;
    size_t length = key_length(at, r->line.end);
    if (!length || map->count == FIELDS_MAX || has_key(map, at, length))
        return give_up();
    enum status st = add_scalar(r, at, length, false, &key);
    if (st != OK)
        return st;
    for (at += length + 1; at < r->line.end && *at == ' '; at++)
        ;
    st = at < r->line.end ? read_inline(r, at, indent, &value)
                          : read_below(r, indent, depth, &value);
    return st == OK ? add_entry(r, map, tail, key, value) : st;
}

/* A map whose first field is at `at`, and the others in lines that are indented by `indent`. */
static enum status read_map(struct reader *r, const char *at, int indent, int depth,
                            const struct node **ret)
{
    struct node *map = add_parent(r, NODE_MAP, at);
    if (!map)
        return E_NOMEM;
    struct entry **tail = &map->entries;
    do {
        enum status st = read_field(r, at, indent, depth, map, &tail);
        if (st != OK)
            return st;
        at = r->line.text;
    } while (r->has_line && !is_marker(r) && r->line.indent == indent);
    *ret = map;
    return OK;
}

static enum status read_list(struct reader *r, int indent, int depth, const struct node **ret)
{
    struct node *list = add_parent(r, NODE_LIST, r->line.text);
    if (!list)
        return E_NOMEM;
    struct entry **tail = &list->entries;
    do {
        const struct node *value;
        const char *at = r->line.text + 2;
        bool is_map = key_length(at, r->line.end) > 0;
        if (!is_map && r->line.end - at > ITEM_BYTES)
            return give_up();
        enum status st = is_map ? read_map(r, at, indent + 2, depth, &value)
                                : read_inline(r, at, indent, &value);
        if (st == OK)
            st = add_entry(r, list, &tail, NULL, value);
        if (st != OK)
            return st;
    } while (r->has_line && r->line.indent == indent && is_item(&r->line));
    *ret = list;
    return OK;
}

/* Depth is limited. NOLINTNEXTLINE(misc-no-recursion) */
static enum status read_block(struct reader *r, int indent, int depth, const struct node **ret)
{
    if (depth > DEPTH_MAX)
        return give_up();
    return is_item(&r->line) ? read_list(r, indent, depth, ret)
                             : read_map(r, r->line.text, indent, depth, ret);
}

/* A map, or a list of maps. Each document begins with a marker, which the first need not have. */
static enum status read_document(struct reader *r, const struct node **ret)
{
    enum status st = is_marker(r) ? next_line(r) : OK;
    if (st != OK)
        return st;
    if (!r->has_line || is_marker(r) || r->line.indent != 0)
        return give_up();
    st = read_block(r, 0, 1, ret);
    return st == OK && r->has_line && !is_marker(r) ? give_up() : st;
}

enum status simple_yaml_each(const char *text, size_t length,
                             bool (*visit)(void *context, const struct node *document),
                             void *context)
{
    struct tree tree;
    struct reader r = {.tree = &tree, .at = text, .end = text + length};
    size_t nodes = 1, bytes = 0;
    enum status st = next_line(&r);
    while (st == OK && r.has_line) {
        const struct node *document = NULL;
        tree_init(&tree);
        st = read_document(&r, &document);
        nodes += st == OK ? document->weight_nodes : 0;
        bytes += st == OK ? document->weight_bytes : 0;
        if (nodes > TREE_NODES_MAX || bytes > TREE_BYTES_MAX)
            st = give_up();
        bool goes_on = st == OK && visit(context, document);
        tree_release(&tree);
        if (st == OK && !goes_on)
            break;
    }
    return st;
}

enum status tree_from_simple_yaml(struct tree *tree, const char *text, size_t length,
                                  const struct node **ret)
{
    struct reader r = {.tree = tree, .at = text, .end = text + length};
    struct node *documents = tree_node(tree, NODE_LIST);
    if (!documents)
        return E_NOMEM;
    struct entry **tail = &documents->entries;
    enum status st = next_line(&r);
    while (st == OK && r.has_line) {
        const struct node *value;
        st = read_document(&r, &value);
        if (st == OK)
            st = add_entry(&r, documents, &tail, NULL, value);
    }
    if (st == OK)
        *ret = documents;
    return st;
}
