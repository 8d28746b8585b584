/* JSON text to a tree, without a jansson value in between: an agent decodes every definition when
 * it starts, and again for each run. */
#include <string.h>

#include "document/node.h"
#include "document/utf8.h"

struct reader {
    struct tree *tree;
    const char *start, *at; /* ends with a NUL */
    struct parse_error *err;
};

static enum status read_value(struct reader *reader, int depth, const struct node **ret);

static int column(const struct reader *reader)
{
    return (int)(reader->at - reader->start) + 1;
}

static enum status unexpected(const struct reader *reader, const char *wanted)
{
    return parse_fail(reader->err, column(reader), "expected %s", wanted);
}

static char skip_space(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
    return *reader->at;
}

/* ---- texts ---- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)((found - digits) % 16) : -1;
}

/* The value of four hex digits; -1: not four digits. */
static int32_t read_hex(const char *at)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, int32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const int leads[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(leads[more] | c >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    return to;
}

/* Reads \uXXXX or a surrogate pair, and moves *at past it. -1: not a character. */
static int32_t read_unicode(const char **at)
{
    int32_t c = read_hex(*at + 2);
    *at += c < 0 ? 0 : 6;
    if (c < 0xd800 || c > 0xdfff)
        return c;
    int32_t low = c < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u' ? read_hex(*at + 2) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    *at += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Replaces the escapes in place: a text never gets longer. False: an invalid escape. */
static bool unescape(char *text, size_t *length)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *from = text;
    char *to = text;
    while (*from) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        const char *letter = from[1] ? strchr(letters, from[1]) : NULL;
        if (letter) {
            *to++ = meanings[letter - letters];
            from += 2;
            continue;
        }
        int32_t c = from[1] == 'u' ? read_unicode(&from) : -1;
        if (c <= 0)
            return false;
        to = put_utf8(to, c);
    }
    *to = '\0';
    *length = (size_t)(to - text);
    return true;
}

/* Bytes of the character at `at`; 0: a control character, the end, or invalid UTF-8. */
static size_t character(const char *at)
{
    uint32_t c;
    size_t length;
    if ((unsigned char)*at < 0x80)
        return (unsigned char)*at >= ' ';
    return utf8_decode(at, strnlen(at, 4), &c, &length) ? length : 0;
}

/* Printable ASCII that means itself, as nearly all of a definition is. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* The closing quote; NULL: missing, or an invalid character comes before it. */
static const char *end_of_text(const char *at, bool *ret_escaped)
{
    *ret_escaped = false;
    for (size_t length; *at != '"'; at += length) {
        length = 1;
        if (is_plain(*at))
            continue;
        if (*at == '\\') {
            *ret_escaped = true;
            at++;
        }
        length = character(at);
        if (!length)
            return NULL;
    }
    return at;
}

static enum status read_text(struct reader *reader, const struct node **ret)
{
    bool escaped;
    const char *first = reader->at + 1, *end = end_of_text(first, &escaped);
    if (!end)
        return unexpected(reader, "a text in quotes, of UTF-8 without control characters");
    struct node *node = tree_scalar(reader->tree, first, (size_t)(end - first), false);
    if (!node)
        return E_NOMEM;
    if (escaped && !unescape((char *)node->text, &node->length))
        return unexpected(reader, "a text without NUL and with known escapes");
    node->weight_bytes = node->length;
    reader->at = end + 1;
    *ret = node;
    return OK;
}

/* ---- numbers and words ---- */

static size_t digits(const char *at)
{
    return strspn(at, "0123456789");
}

/* Length of the number at `at`; 0: not a number. */
static size_t number_length(const char *at)
{
    const char *end = at + (*at == '-');
    size_t whole = digits(end);
    if (!whole || (whole > 1 && *end == '0'))
        return 0;
    end += whole;
    if (*end == '.') {
        size_t fraction = digits(end + 1);
        if (!fraction)
            return 0;
        end += 1 + fraction;
    }
    if (*end == 'e' || *end == 'E') {
        const char *power = end + 1 + (end[1] == '-' || end[1] == '+');
        if (!digits(power))
            return 0;
        end = power + digits(power);
    }
    return (size_t)(end - at);
}

static enum status read_plain(struct reader *reader, const struct node **ret)
{
    static const char *const words[] = {"null", "true", "false"};
    size_t length = number_length(reader->at);
    bool null = false;
    for (size_t i = 0; i < 3 && !length; i++) {
        if (strncmp(reader->at, words[i], strlen(words[i])) == 0) {
            length = strlen(words[i]);
            null = i == 0;
        }
    }
    if (!length)
        return unexpected(reader, "a JSON value");
    *ret = null ? tree_node(reader->tree, NODE_NULL)
                : tree_scalar(reader->tree, reader->at, length, true);
    reader->at += length;
    return *ret ? OK : E_NOMEM;
}

/* ---- lists and maps ---- */

/* Reads a key of a map and its colon. */
static enum status read_key(struct reader *reader, const struct node *map, const struct node **ret)
{
    const struct node *key;
    if (skip_space(reader) != '"')
        return unexpected(reader, "a quoted name");
    enum status st = read_text(reader, &key);
    if (st != OK)
        return st;
    if (map->count == TREE_ENTRIES_MAX)
        return parse_fail(reader->err, 0, "more than %d fields in one map", TREE_ENTRIES_MAX);
    if (node_get(map, key->text))
        return parse_fail(reader->err, column(reader), "\"%.60s\" is given twice", key->text);
    if (skip_space(reader) != ':')
        return unexpected(reader, "\":\"");
    reader->at++;
    *ret = key;
    return OK;
}

static enum status read_entries(struct reader *reader, int depth, struct node *parent)
{
    const bool is_map = parent->kind == NODE_MAP;
    const char close = is_map ? '}' : ']';
    struct entry **tail = &parent->entries;
    reader->at++;
    if (skip_space(reader) == close) {
        reader->at++;
        return OK;
    }
    for (;;) {
        const struct node *key = NULL, *value = NULL;
        enum status st = is_map ? read_key(reader, parent, &key) : OK;
        if (st == OK)
            st = read_value(reader, depth + 1, &value);
        struct entry *entry = st == OK ? tree_entry(reader->tree, key, value) : NULL;
        if (st == OK)
            st = entry ? node_append(parent, &tail, entry, reader->err) : E_NOMEM;
        if (st != OK)
            return st;
        char c = skip_space(reader);
        if (c != ',' && c != close)
            return unexpected(reader, is_map ? "\",\" or \"}\"" : "\",\" or \"]\"");
        reader->at++;
        if (c == close)
            return OK;
    }
}

static enum status read_value(struct reader *reader, int depth, const struct node **ret)
{
    if (depth == TREE_DEPTH_MAX)
        return parse_fail(reader->err, column(reader), "nested more than %d deep", TREE_DEPTH_MAX);
    char c = skip_space(reader);
    if (c == '"')
        return read_text(reader, ret);
    if (c != '{' && c != '[')
        return read_plain(reader, ret);
    struct node *node = tree_node(reader->tree, c == '{' ? NODE_MAP : NODE_LIST);
    if (!node)
        return E_NOMEM;
    enum status st = read_entries(reader, depth, node);
    if (st == OK)
        *ret = node;
    return st;
}

enum status tree_from_json_text(struct tree *tree, const char *text, const struct node **ret,
                                struct parse_error *reterr)
{
    struct reader reader = {tree, text, text, reterr};
    const struct node *value;
    enum status st = read_value(&reader, 0, &value);
    if (st == OK && skip_space(&reader))
        st = unexpected(&reader, "the end");
    if (st == OK)
        *ret = value;
    else if (reterr)
        reterr->line = 1;
    return st;
}
