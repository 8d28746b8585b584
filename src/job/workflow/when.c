/* Reads and evaluates in one go: an expression is short, and evaluated once per step. What does not
 * count, behind `false and`, is only read. */
#include "workflow/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/steps.h"

struct reader {
    const char *text, *at;
    int depth;
    const struct ref_names *names;   /* NULL: any */
    const struct ref_values *values; /* NULL: only reads */
    struct parse_error *err;
};

/* An operand, or what a comparison yields. */
struct value {
    struct strbuf text;
    bool is_quoted; /* never a number */
};

static enum status read_or(struct reader *r, bool counts, struct value *value);

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static int column(const struct reader *r)
{
    return (int)(r->at - r->text) + 1;
}

static enum status expected(const struct reader *r, const char *what)
{
    if (!*r->at)
        return parse_fail(r->err, column(r), "expected %s, found the end", what);
    int length = 1;
    while (length < 20 && (isalnum((unsigned char)r->at[length]) || (r->at[length] & 0x80)))
        length++;
    return parse_fail(r->err, column(r), "expected %s, found %.*s", what, length, r->at);
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_-./", c));
}

/* Takes the word if it is next. */
static bool take_word(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0 || is_name(r->at[length]))
        return false;
    r->at += length;
    skip_blanks(r);
    return true;
}

static bool take(struct reader *r, const char *mark)
{
    if (strncmp(r->at, mark, strlen(mark)) != 0)
        return false;
    r->at += strlen(mark);
    skip_blanks(r);
    return true;
}

/* ---- values ---- */

/* As JSON writes numbers. */
static bool is_number(const char *text)
{
    char why[PARAM_WHY_SIZE];
    const struct job_param number = {.type = PARAM_NUMBER};
    return param_value_check(&number, text, why) == OK;
}

static bool is_true(const struct value *value)
{
    const char *text = value->text.text;
    if (!value->is_quoted && is_number(text))
        return strtod(text, NULL) != 0;
    return *text && strcmp(text, "false") != 0;
}

static void set_bool(struct value *value, bool truth)
{
    value->is_quoted = false;
    strbuf_truncate(&value->text, 0);
    strbuf_adds(&value->text, truth ? "true" : "false");
}

static bool get_integer(const char *text, long long *ret)
{
    char *end;
    errno = 0;
    *ret = strtoll(text, &end, 10);
    return !errno && !*end;
}

/* Less than 0, 0 or greater, as strcmp. Whole numbers are compared exactly. */
static int compare(const struct value *a, const struct value *b)
{
    const char *left = a->text.text, *right = b->text.text;
    long long x, y;
    if (a->is_quoted || b->is_quoted || !is_number(left) || !is_number(right))
        return strcmp(left, right);
    if (get_integer(left, &x) && get_integer(right, &y))
        return (x > y) - (x < y);
    double u = strtod(left, NULL), v = strtod(right, NULL);
    return (u > v) - (u < v);
}

/* ---- operands ---- */

static enum status read_text(struct reader *r, struct value *value)
{
    int begin = column(r);
    char quote = *r->at++;
    value->is_quoted = true;
    for (; *r->at != quote; r->at++) {
        if (*r->at == '\\' && r->at[1] && strchr("\\\"'", r->at[1]))
            r->at++;
        if (!*r->at)
            return parse_fail(r->err, begin, "the text that begins here has no end; expected %c",
                              quote);
        strbuf_addc(&value->text, *r->at);
    }
    r->at++;
    return OK;
}

/* A number, true, false, or a reference. */
static enum status read_name(struct reader *r, bool counts, struct value *value)
{
    char word[STEP_WHEN_MAX + 1];
    size_t length = 0;
    while (is_name(r->at[length]) ||
           (length && r->at[length] == '+' && strchr("eE", r->at[length - 1]) &&
            isdigit((unsigned char)*r->at)))
        length++;
    memcpy(word, r->at, length);
    word[length] = '\0';
    if (is_number(word) || strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        strbuf_adds(&value->text, word);
        r->at += length;
        return OK;
    }
    struct ref ref;
    const char *complaint = ref_read(word, length, &ref);
    if (!complaint && r->names)
        complaint = r->names->complain(r->names->context, &ref);
    if (complaint)
        return parse_fail(r->err, column(r), "\"%.80s\" %s", word, complaint);
    r->at += length;
    return r->values && counts ? r->values->get(r->values->context, &ref, &value->text) : OK;
}

static enum status enter(struct reader *r)
{
    return ++r->depth <= WHEN_DEPTH_MAX
               ? OK
               : parse_fail(r->err, column(r), "is nested more than %d times", WHEN_DEPTH_MAX);
}

static enum status read_operand(struct reader *r, bool counts, struct value *value)
{
    enum status st;
    if (take(r, "(")) {
        st = enter(r);
        if (st == OK)
            st = read_or(r, counts, value);
        if (st == OK && *r->at != ')')
            st = expected(r, "an operator, and, or, or )");
        if (st == OK) {
            r->at++;
            r->depth--;
        }
        set_bool(value, is_true(value));
    } else if (*r->at == '"' || *r->at == '\'') {
        st = read_text(r, value);
    } else if (isalnum((unsigned char)*r->at) || *r->at == '-') {
        st = read_name(r, counts, value);
    } else {
        st = expected(r, "a value: params.NAME, steps.NAME.KEY, a number or a text in quotes");
    }
    skip_blanks(r);
    return st == OK ? strbuf_status(&value->text) : st;
}

/* ---- comparisons ---- */

enum comparison {
    OP_NONE,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT,
    OP_CONTAINS,
    OP_STARTS,
    OP_IN
};

static enum comparison take_operator(struct reader *r)
{
    static const struct {
        const char *text;
        enum comparison op;
    } marks[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE},
                 {">=", OP_GE}, {"<", OP_LT},  {">", OP_GT}},
      words[] = {{"contains", OP_CONTAINS}, {"starts_with", OP_STARTS}, {"in", OP_IN}};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (take(r, marks[i].text))
            return marks[i].op;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (take_word(r, words[i].text))
            return words[i].op;
    }
    return OP_NONE;
}

static bool holds(enum comparison op, const struct value *a, const struct value *b)
{
    switch (op) {
    case OP_EQ:
    case OP_IN:
        return compare(a, b) == 0;
    case OP_NE:
        return compare(a, b) != 0;
    case OP_LT:
        return compare(a, b) < 0;
    case OP_LE:
        return compare(a, b) <= 0;
    case OP_GT:
        return compare(a, b) > 0;
    case OP_GE:
        return compare(a, b) >= 0;
    case OP_CONTAINS:
        return strstr(a->text.text, b->text.text);
    case OP_STARTS:
        return strncmp(a->text.text, b->text.text, b->text.length) == 0;
    case OP_NONE:
        break;
    }
    return false;
}

/* Reads the other side and compares. */
static enum status read_side(struct reader *r, bool counts, enum comparison op,
                             const struct value *value, bool *ret)
{
    struct value other = {0};
    strbuf_init(&other.text);
    enum status st = read_operand(r, counts, &other);
    if (st == OK)
        *ret = holds(op, value, &other);
    strbuf_release(&other.text);
    return st;
}

static enum status read_list(struct reader *r, bool counts, const struct value *value, bool *ret)
{
    *ret = false;
    if (!take(r, "["))
        return expected(r, "[, the begin of a list");
    do {
        bool is_this = false;
        enum status st = read_side(r, counts, OP_IN, value, &is_this);
        if (st != OK)
            return st;
        *ret = *ret || is_this;
    } while (take(r, ","));
    return take(r, "]") ? OK : expected(r, ", or ]");
}

static enum status read_factor(struct reader *r, bool counts, struct value *value)
{
    bool truth = false;
    if (take_word(r, "not")) {
        enum status st = enter(r);
        if (st == OK)
            st = read_factor(r, counts, value);
        r->depth--;
        set_bool(value, !is_true(value));
        return st == OK ? strbuf_status(&value->text) : st;
    }
    enum status st = read_operand(r, counts, value);
    enum comparison op = st == OK ? take_operator(r) : OP_NONE;
    if (op == OP_NONE)
        return st;
    st =
        op == OP_IN ? read_list(r, counts, value, &truth) : read_side(r, counts, op, value, &truth);
    set_bool(value, truth);
    return st == OK ? strbuf_status(&value->text) : st;
}

/* A chain of `and`, or of `or`. It is decided by the first that is false, or true. */
static enum status read_chain(struct reader *r, bool counts, bool is_or, struct value *value)
{
    enum status st = is_or ? read_chain(r, counts, false, value) : read_factor(r, counts, value);
    while (st == OK && take_word(r, is_or ? "or" : "and")) {
        struct value next = {0};
        bool truth = is_true(value), is_open = is_or ? !truth : truth;
        strbuf_init(&next.text);
        st = is_or ? read_chain(r, counts && is_open, false, &next)
                   : read_factor(r, counts && is_open, &next);
        if (st == OK) {
            set_bool(value, is_open ? is_true(&next) : truth);
            st = strbuf_status(&value->text);
        }
        strbuf_release(&next.text);
    }
    return st;
}

static enum status read_or(struct reader *r, bool counts, struct value *value)
{
    return read_chain(r, counts, true, value);
}

static enum status read_all(struct reader *r, bool *ret)
{
    struct value value = {0};
    if (strlen(r->text) > STEP_WHEN_MAX)
        return parse_fail(r->err, STEP_WHEN_MAX + 1, "is longer than %d bytes", STEP_WHEN_MAX);
    strbuf_init(&value.text);
    skip_blanks(r);
    enum status st = read_or(r, true, &value);
    if (st == OK && *r->at)
        st = expected(r, "an operator, and, or, or the end");
    if (st == OK)
        *ret = is_true(&value);
    strbuf_release(&value.text);
    return st;
}

enum status when_check(const char *text, const struct ref_names *names, struct parse_error *reterr)
{
    struct reader r = {.text = text, .at = text, .names = names, .err = reterr};
    bool ignored;
    return read_all(&r, &ignored);
}

enum status when_eval(const char *text, const struct ref_values *values, bool *ret,
                      struct parse_error *reterr)
{
    struct reader r = {.text = text, .at = text, .values = values, .err = reterr};
    return read_all(&r, ret);
}
