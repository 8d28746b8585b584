/* INSERTs of a dump, and the columns of its tables. All other statements are passed over. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "foreign/rows.h"
#include "strbuf.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NAME, TOKEN_TEXT, TOKEN_MARK };

struct columns {
    char **names;
    size_t count;
};

struct reader {
    struct row_lists *lists;
    struct row_place place;
    struct parse_error *err;
    enum token_kind kind;                    /* of the last token */
    struct strbuf token;                     /* its text, without quotes */
    struct row_place token_at;               /* where it begins */
    struct columns created[ROWS_TABLES_MAX]; /* of CREATE TABLE */
};

static enum status fail_here(const struct reader *in, const struct row_place *at, const char *why)
{
    parse_error_set(in->err, at->column, "%s", why);
    if (in->err)
        in->err->line = at->line;
    return E_INVALID;
}

static void columns_release(struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        free(columns->names[i]);
    free(columns->names);
    *columns = (struct columns){.names = NULL};
}

static enum status columns_add(struct columns *columns, const char *name)
{
    enum status st = array_grow(&columns->names, columns->count, sizeof(*columns->names));
    if (st != OK)
        return st;
    columns->names[columns->count] = strdup(name);
    if (!columns->names[columns->count])
        return E_NOMEM;
    columns->count++;
    return OK;
}

/* ---- tokens ---- */

static char peek(const struct reader *in, size_t ahead)
{
    return (size_t)(in->place.end - in->place.at) > ahead ? in->place.at[ahead] : '\0';
}

static bool is_comment(const struct reader *in)
{
    return peek(in, 0) == '#' || (peek(in, 0) == '-' && peek(in, 1) == '-') ||
           (peek(in, 0) == '/' && peek(in, 1) == '*');
}

static void skip_comment(struct reader *in)
{
    bool is_block = peek(in, 0) == '/';
    row_step(&in->place, is_block ? 2 : 1);
    while (in->place.at < in->place.end) {
        if (is_block ? peek(in, 0) == '*' && peek(in, 1) == '/' : peek(in, 0) == '\n')
            break;
        row_step(&in->place, 1);
    }
    row_step(&in->place, is_block ? 2 : 1);
}

static void skip_blanks(struct reader *in)
{
    while (in->place.at < in->place.end) {
        if (isspace((unsigned char)peek(in, 0)))
            row_step(&in->place, 1);
        else if (is_comment(in))
            skip_comment(in);
        else
            break;
    }
}

static char unescape(char c)
{
    static const char letters[] = "nrt0bZ", meanings[] = "\n\r\t\0\b\032";
    const char *letter = c ? strchr(letters, c) : NULL;
    return letter ? meanings[letter - letters] : c;
}

static enum status read_quoted(struct reader *in, char quote)
{
    for (row_step(&in->place, 1); in->place.at < in->place.end; row_step(&in->place, 1)) {
        char c = peek(in, 0);
        if (c == '\\' && quote == '\'') {
            row_step(&in->place, 1);
            c = unescape(peek(in, 0));
            if (c)
                strbuf_addc(&in->token, c);
        } else if (c == quote && peek(in, 1) == quote) {
            row_step(&in->place, 1);
            strbuf_addc(&in->token, c);
        } else if (c == quote) {
            row_step(&in->place, 1);
            return strbuf_status(&in->token);
        } else {
            strbuf_addc(&in->token, c);
        }
    }
    return fail_here(in, &in->token_at, "the quote that starts here has no end");
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.$+-", c)) || (unsigned char)c >= 0x80;
}

static enum status next_token(struct reader *in)
{
    skip_blanks(in);
    strbuf_reset(&in->token);
    in->token_at = in->place;
    char c = peek(in, 0);
    if (in->place.at == in->place.end) {
        in->kind = TOKEN_END;
        return OK;
    }
    if (c == '\'' || c == '`' || c == '"') {
        in->kind = c == '\'' ? TOKEN_TEXT : TOKEN_NAME;
        return read_quoted(in, c);
    }
    in->kind = is_word(c) ? TOKEN_WORD : TOKEN_MARK;
    do {
        strbuf_addc(&in->token, peek(in, 0));
        row_step(&in->place, 1);
    } while (in->kind == TOKEN_WORD && is_word(peek(in, 0)) && !is_comment(in));
    return strbuf_status(&in->token);
}

static bool is_mark(const struct reader *in, char c)
{
    return in->kind == TOKEN_MARK && in->token.text[0] == c;
}

static bool is_keyword(const struct reader *in, const char *word)
{
    return in->kind == TOKEN_WORD && strcasecmp(in->token.text, word) == 0;
}

/* To the end of the statement, whatever is in it. */
static enum status skip_statement(struct reader *in)
{
    enum status st = OK;
    while (st == OK && in->kind != TOKEN_END && !is_mark(in, ';'))
        st = next_token(in);
    return st;
}

/* ---- names ---- */

/* The table that this name is, perhaps with a prefix; ROWS_TABLES_MAX: none of them. */
static size_t find_table(const struct reader *in, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; in->lists->tables[i]; i++) {
        size_t size = strlen(in->lists->tables[i]);
        if (length >= size && strcasecmp(name + length - size, in->lists->tables[i]) == 0 &&
            (length == size || name[length - size - 1] == '_'))
            return i;
    }
    return ROWS_TABLES_MAX;
}

/* NAME, `base`.`NAME` or base.NAME, the last token being its first part; the token behind it is
 * read. */
static enum status read_table(struct reader *in, size_t *ret)
{
    enum status st = OK;
    const char *dot = in->kind == TOKEN_WORD ? strrchr(in->token.text, '.') : NULL;
    *ret = find_table(in, dot ? dot + 1 : in->token.text);
    st = next_token(in);
    bool is_split = st == OK && in->kind == TOKEN_WORD && in->token.text[0] == '.';
    if (!is_split)
        return st;
    if (in->token.text[1]) {
        *ret = find_table(in, in->token.text + 1);
        return next_token(in);
    }
    st = next_token(in);
    if (st == OK)
        *ret = find_table(in, in->token.text);
    return st == OK ? next_token(in) : st;
}

/* ---- CREATE TABLE ---- */

static bool is_column(const struct reader *in)
{
    static const char *const others[] = {"primary", "key",   "unique",   "constraint", "index",
                                         "foreign", "check", "fulltext", "spatial",    "exclude"};
    if (in->kind == TOKEN_NAME)
        return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (is_keyword(in, others[i]))
            return false;
    }
    return in->kind == TOKEN_WORD;
}

/* The first word of each item between the brackets. */
static enum status read_create(struct reader *in)
{
    size_t table = ROWS_TABLES_MAX;
    int depth = 0;
    bool is_first = false;
    enum status st = next_token(in);
    while (st == OK && (is_keyword(in, "table") || is_keyword(in, "if") || is_keyword(in, "not") ||
                        is_keyword(in, "exists") || is_keyword(in, "temporary")))
        st = next_token(in);
    if (st == OK && in->kind != TOKEN_END)
        st = read_table(in, &table);
    if (st != OK || table == ROWS_TABLES_MAX || !is_mark(in, '('))
        return st;
    columns_release(&in->created[table]);
    while (st == OK && in->kind != TOKEN_END && !is_mark(in, ';')) {
        if (depth == 1 && is_first && is_column(in))
            st = columns_add(&in->created[table], in->token.text);
        is_first = is_mark(in, '(') || is_mark(in, ',');
        depth += is_mark(in, '(') - is_mark(in, ')');
        if (!depth)
            break;
        if (st == OK)
            st = next_token(in);
    }
    return st;
}

/* ---- INSERT ---- */

static enum status read_columns(struct reader *in, struct columns *ret)
{
    enum status st = OK;
    while (st == OK && in->kind != TOKEN_END && !is_mark(in, ')')) {
        if (in->kind == TOKEN_NAME || in->kind == TOKEN_WORD)
            st = columns_add(ret, in->token.text);
        if (st == OK)
            st = next_token(in);
    }
    return st == OK ? next_token(in) : st;
}

/* A value up to its comma or bracket: a text, perhaps with a word in front (_binary 'x', b'1'), a
 * number or NULL, or a call, which is left out as NULL. */
static enum status read_value(struct reader *in, struct node *row, struct entry ***tail,
                              const char *column)
{
    struct strbuf text;
    bool is_text = false, is_call = false;
    int depth = 0;
    enum status st = OK;
    struct row_place at = in->token_at;
    strbuf_init(&text);
    while (st == OK && in->kind != TOKEN_END && !is_mark(in, ';') &&
           (depth || !(is_mark(in, ',') || is_mark(in, ')')))) {
        is_call = is_call || is_mark(in, '(');
        depth += is_mark(in, '(') - is_mark(in, ')');
        if (!is_text) {
            strbuf_reset(&text);
            strbuf_add(&text, in->token.text, in->token.length);
            is_text = in->kind == TOKEN_TEXT;
            at = is_text ? in->token_at : at;
        }
        st = next_token(in);
    }
    bool is_null = !is_text && (is_call || !text.length || strcasecmp(text.text, "null") == 0);
    if (st == OK)
        st = strbuf_status(&text);
    if (st == OK)
        st = row_add(in->lists, row, tail, column, is_null ? NULL : text.text, text.length,
                     !is_text, &at, in->err);
    strbuf_release(&text);
    return st;
}

/* (value, value, ...), the last token being its bracket. */
static enum status read_row(struct reader *in, size_t table, const struct columns *columns)
{
    struct node *row;
    struct row_place at = in->token_at;
    enum status st = row_begin(in->lists, table, &at, &row, in->err);
    struct entry **tail = st == OK ? &row->entries : NULL;
    size_t index = 0;
    do {
        if (st == OK)
            st = next_token(in);
        if (st == OK && index == columns->count)
            return fail_here(in, &in->token_at, "the row has more values than there are columns");
        if (st == OK)
            st = read_value(in, row, &tail, columns->names[index++]);
    } while (st == OK && is_mark(in, ','));
    if (st == OK && !is_mark(in, ')'))
        return fail_here(in, &at, "the row that starts here has no end");
    if (st == OK && index < columns->count)
        return fail_here(in, &at, "the row has fewer values than there are columns");
    return st == OK ? next_token(in) : st;
}

static enum status read_rows(struct reader *in, size_t table, const struct columns *columns)
{
    enum status st = OK;
    while (st == OK && is_mark(in, '(')) {
        st = read_row(in, table, columns);
        if (st == OK && is_mark(in, ','))
            st = next_token(in);
    }
    return st;
}

static enum status read_insert(struct reader *in)
{
    struct columns named = {.names = NULL};
    size_t table = ROWS_TABLES_MAX;
    enum status st = next_token(in);
    while (st == OK && (is_keyword(in, "into") || is_keyword(in, "ignore") ||
                        is_keyword(in, "low_priority") || is_keyword(in, "delayed")))
        st = next_token(in);
    struct row_place at = in->token_at;
    if (st == OK && in->kind != TOKEN_END)
        st = read_table(in, &table);
    if (st != OK || table == ROWS_TABLES_MAX)
        return st;
    if (is_mark(in, '(')) {
        st = next_token(in);
        if (st == OK)
            st = read_columns(in, &named);
    }
    const struct columns *columns = named.count ? &named : &in->created[table];
    if (st == OK && !columns->count)
        st = fail_here(in, &at,
                       "the names of the columns are missing: export them with mysqldump "
                       "--complete-insert, or with the tables' definitions");
    if (st == OK && (is_keyword(in, "values") || is_keyword(in, "value")))
        st = next_token(in);
    if (st == OK)
        st = read_rows(in, table, columns);
    columns_release(&named);
    return st;
}

static enum status refuse_copy(struct reader *in)
{
    size_t table = ROWS_TABLES_MAX;
    struct row_place at = in->token_at;
    enum status st = next_token(in);
    if (st == OK && in->kind != TOKEN_END)
        st = read_table(in, &table);
    if (st == OK && table < ROWS_TABLES_MAX)
        return fail_here(in, &at, "COPY is not read: export the rows with pg_dump --inserts");
    return st;
}

enum status rows_read_sql(struct row_lists *lists, const char *text, size_t length,
                          struct parse_error *reterr)
{
    struct reader in = {.lists = lists, .place = {text, text + length, 1, 1}, .err = reterr};
    strbuf_init(&in.token);
    enum status st = next_token(&in);
    while (st == OK && in.kind != TOKEN_END) {
        if (is_keyword(&in, "insert") || is_keyword(&in, "replace"))
            st = read_insert(&in);
        else if (is_keyword(&in, "create"))
            st = read_create(&in);
        else if (is_keyword(&in, "copy"))
            st = refuse_copy(&in);
        if (st == OK)
            st = skip_statement(&in);
        if (st == OK && in.kind != TOKEN_END)
            st = next_token(&in);
    }
    for (size_t i = 0; i < ROWS_TABLES_MAX; i++)
        columns_release(&in.created[i]);
    strbuf_release(&in.token);
    return st;
}
