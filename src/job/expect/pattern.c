/* Glushkov's automaton: each byte of the pattern is a position, and a search is the set of the
 * positions that the line has come to. The ends of a line are symbols like bytes are, so that
 * anchors are positions, too. */
#include "expect/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 4,
    LINE_BEGIN = 256, /* symbols behind those of the bytes */
    LINE_END = 257,
    SYMBOLS = 258,
    REPEAT_MAX = 255,
    DEPTH_MAX = 32,
    READS_MAX = 10000, /* of atoms, each time that one is repeated: groups may have no positions */
};

struct set {
    uint64_t words[WORDS];
};

struct pattern {
    int count;                            /* of positions */
    struct set first, last;               /* positions of a beginning, and of an end */
    struct set follow[PATTERN_POSITIONS]; /* by position: those that may come next */
    struct set by_symbol[SYMBOLS];        /* the positions that take it */
};

static void set_add(struct set *set, int member)
{
    set->words[member / 64] |= UINT64_C(1) << member % 64;
}

static bool set_has(const struct set *set, int member)
{
    return set->words[member / 64] >> member % 64 & 1;
}

static void set_join(struct set *set, const struct set *other)
{
    for (int i = 0; i < WORDS; i++)
        set->words[i] |= other->words[i];
}

/* ---- reading ---- */

/* A part of the pattern that was read: where it may begin and end. */
struct part {
    bool is_nullable;
    struct set first, last;
};

struct reader {
    const char *text, *at;
    struct pattern *pattern;
    struct parse_error *err;
    int depth, reads;
};

static enum status fail(const struct reader *r, const char *at, const char *why)
{
    return parse_fail(r->err, (int)(at - r->text) + 1, "%s", why);
}

static void link_parts(struct pattern *pattern, const struct set *from, const struct set *to)
{
    for (int i = 0; i < pattern->count; i++) {
        if (set_has(from, i))
            set_join(&pattern->follow[i], to);
    }
}

static enum status too_large(const struct reader *r, const char *at)
{
    return fail(r, at, "is too large: it has more than 255 characters, with those repeated");
}

static enum status new_position(const struct reader *r, const char *at, struct part *ret)
{
    struct pattern *pattern = r->pattern;
    if (pattern->count == PATTERN_POSITIONS)
        return too_large(r, at);
    *ret = (struct part){.is_nullable = false};
    set_add(&ret->first, pattern->count);
    ret->last = ret->first;
    pattern->count++;
    return OK;
}

/* The next position takes these symbols. */
static enum status add_symbols(const struct reader *r, const char *at, const bool symbols[SYMBOLS],
                               struct part *ret)
{
    int position = r->pattern->count;
    enum status st = new_position(r, at, ret);
    for (int i = 0; st == OK && i < SYMBOLS; i++) {
        if (symbols[i])
            set_add(&r->pattern->by_symbol[i], position);
    }
    return st;
}

static enum status add_symbol(const struct reader *r, const char *at, int symbol, struct part *ret)
{
    bool symbols[SYMBOLS] = {false};
    symbols[symbol] = true;
    return add_symbols(r, at, symbols, ret);
}

static const struct {
    const char *name;
    int (*has)(int c);
} classes[] = {
    {"alpha", isalpha}, {"digit", isdigit}, {"alnum", isalnum}, {"upper", isupper},
    {"lower", islower}, {"space", isspace}, {"blank", isblank}, {"punct", ispunct},
    {"print", isprint}, {"graph", isgraph}, {"cntrl", iscntrl}, {"xdigit", isxdigit},
};

/* ASCII alone, whatever the locale. */
static void add_class(bool symbols[SYMBOLS], int (*has)(int c))
{
    for (int c = 0; c < 128; c++)
        symbols[c] = symbols[c] || (c != '\n' && has(c));
}

static int is_word(int c)
{
    return isalnum(c) || c == '_';
}

/* A letter behind a backslash that is a set of bytes: \d, \W. False: it is none. */
static bool add_letter_class(bool symbols[SYMBOLS], char letter)
{
    static const struct {
        char letter;
        int (*has)(int c);
    } letters[] = {{'d', isdigit}, {'w', is_word}, {'s', isspace}};
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (letters[i].letter != tolower((unsigned char)letter))
            continue;
        bool inside[SYMBOLS] = {false};
        bool is_negated = isupper((unsigned char)letter);
        add_class(inside, letters[i].has);
        for (int c = 0; c < 256; c++)
            symbols[c] = symbols[c] || (c != '\n' && inside[c] != is_negated);
        return true;
    }
    return false;
}

/* [:digit:], at its bracket. */
static enum status read_class(struct reader *r, bool symbols[SYMBOLS])
{
    const char *begin = r->at, *name = r->at + 2, *end = strstr(name, ":]");
    for (size_t i = 0; end && i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (strlen(classes[i].name) != (size_t)(end - name) ||
            strncmp(classes[i].name, name, (size_t)(end - name)) != 0)
            continue;
        add_class(symbols, classes[i].has);
        r->at = end + 2;
        return OK;
    }
    return fail(r, begin, "is not a class like [:digit:], [:alpha:] or [:space:]");
}

static enum status read_range(struct reader *r, bool symbols[SYMBOLS])
{
    const char *begin = r->at;
    unsigned char first = (unsigned char)*r->at++, last = first;
    if (*r->at == '-' && r->at[1] && r->at[1] != ']') {
        last = (unsigned char)r->at[1];
        r->at += 2;
    }
    if (first >= 128 || last >= 128)
        return fail(r, begin, "holds a character that is not ASCII in brackets; write (a|b)");
    if (last < first)
        return fail(r, begin, "has a range that ends before it begins");
    for (int c = first; c <= last; c++)
        symbols[c] = true;
    return OK;
}

/* Behind its bracket. As in POSIX, a backslash is a character there. */
static enum status read_brackets(struct reader *r, struct part *ret)
{
    const char *begin = r->at - 1;
    bool symbols[SYMBOLS] = {false};
    bool is_negated = *r->at == '^';
    enum status st = OK;
    r->at += is_negated;
    for (const char *first = r->at; st == OK && *r->at && (*r->at != ']' || r->at == first);) {
        if (r->at[0] == '[' && r->at[1] == ':')
            st = read_class(r, symbols);
        else if (r->at[0] == '[' && (r->at[1] == '.' || r->at[1] == '='))
            st = fail(r, r->at, "[. and [= are not known");
        else
            st = read_range(r, symbols);
    }
    if (st == OK && *r->at != ']')
        st = fail(r, begin, "has a bracket [ that is not closed");
    if (st != OK)
        return st;
    r->at++;
    for (int c = 0; is_negated && c < 256; c++)
        symbols[c] = !symbols[c];
    symbols['\n'] = false;
    return add_symbols(r, begin, symbols, ret);
}

static enum status read_escape(struct reader *r, struct part *ret)
{
    const char *begin = r->at - 1;
    char c = *r->at;
    bool symbols[SYMBOLS] = {false};
    if (!c)
        return fail(r, begin, "ends with a backslash");
    r->at++;
    if (add_letter_class(symbols, c))
        return add_symbols(r, begin, symbols, ret);
    if (c == 't')
        return add_symbol(r, begin, '\t', ret);
    if (isdigit((unsigned char)c))
        return fail(r, begin, "refers back to a group, which can't be looked for in linear time");
    if (isalpha((unsigned char)c))
        return fail(r, begin, "has a backslash before a letter other than d, w, s and t");
    return add_symbol(r, begin, (unsigned char)c, ret);
}

static enum status read_choice(struct reader *r, struct part *ret);

/* NOLINTNEXTLINE(misc-no-recursion): not deeper than DEPTH_MAX */
static enum status read_group(struct reader *r, struct part *ret)
{
    const char *begin = r->at - 1;
    if (++r->depth > DEPTH_MAX)
        return fail(r, begin, "has more than 32 groups inside of each other");
    enum status st = read_choice(r, ret);
    if (st == OK && *r->at != ')')
        st = fail(r, begin, "has a group ( that is not closed");
    r->depth--;
    r->at += st == OK;
    return st;
}

static enum status read_any(const struct reader *r, const char *begin, struct part *ret)
{
    bool symbols[SYMBOLS] = {false};
    for (int c = 0; c < 256; c++)
        symbols[c] = c != '\n';
    return add_symbols(r, begin, symbols, ret);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static enum status read_atom(struct reader *r, struct part *ret)
{
    const char *begin = r->at++;
    if (++r->reads > READS_MAX)
        return too_large(r, begin);
    switch (*begin) {
    case '(':
        return read_group(r, ret);
    case '[':
        return read_brackets(r, ret);
    case '\\':
        return read_escape(r, ret);
    case '.':
        return read_any(r, begin, ret);
    case '^':
        return add_symbol(r, begin, LINE_BEGIN, ret);
    case '$':
        return add_symbol(r, begin, LINE_END, ret);
    case '*':
    case '+':
    case '?':
    case '{':
        return fail(r, begin,
                    "repeats nothing; a character of its own is written \\*, \\+, \\? or "
                    "\\{");
    case '\n':
        return fail(r, begin, "holds a line break; it is looked for in each line");
    default:
        return add_symbol(r, begin, (unsigned char)*begin, ret);
    }
}

/* `more` comes behind the part. */
static void append(struct pattern *pattern, struct part *part, const struct part *more)
{
    link_parts(pattern, &part->last, &more->first);
    if (part->is_nullable)
        set_join(&part->first, &more->first);
    if (more->is_nullable)
        set_join(&part->last, &more->last);
    else
        part->last = more->last;
    part->is_nullable &= more->is_nullable;
}

/* How often an atom may stand there; most -1: any number of times. */
struct repeat {
    int least, most;
};

static bool read_number(struct reader *r, int *ret)
{
    const char *begin = r->at;
    int number = 0;
    for (; isdigit((unsigned char)*r->at) && number <= REPEAT_MAX; r->at++)
        number = number * 10 + (*r->at - '0');
    *ret = number;
    return r->at > begin && number <= REPEAT_MAX;
}

static enum status read_repeat(struct reader *r, struct repeat *ret)
{
    const char *begin = r->at++;
    *ret = (struct repeat){*begin == '+', *begin == '?' ? 1 : -1};
    if (*begin != '{')
        return OK;
    bool is_good = read_number(r, &ret->least);
    ret->most = ret->least;
    if (is_good && *r->at == ',') {
        ret->most = -1;
        is_good = *++r->at == '}' || read_number(r, &ret->most);
    }
    if (!is_good || *r->at != '}' || (ret->most >= 0 && ret->most < ret->least) || !ret->most)
        return fail(r, begin, "has a repetition that is not like {3}, {2,5} or {2,}, up to 255");
    r->at++;
    return OK;
}

/* Makes the part of an atom again, from its text. NOLINTNEXTLINE(misc-no-recursion) */
static enum status read_again(struct reader *r, const char *from, struct part *ret)
{
    const char *at = r->at;
    r->at = from;
    enum status st = read_atom(r, ret);
    r->at = at;
    return st;
}

/* The atom from `from` on, of which `part` is the first: x{2,4} is xxx?x?, x{2,} is xx+.
 * NOLINTNEXTLINE(misc-no-recursion) */
static enum status repeat_atom(struct reader *r, const char *from, struct repeat repeat,
                               struct part *part)
{
    struct part last = *part, more;
    enum status st = OK;
    int copies = repeat.most > repeat.least ? repeat.most : repeat.least;
    last.is_nullable |= repeat.least < 1;
    *part = last;
    for (int i = 1; i < copies && st == OK; i++) {
        st = read_again(r, from, &more);
        if (st != OK)
            break;
        more.is_nullable |= i >= repeat.least;
        last = more;
        append(r->pattern, part, &more);
    }
    if (st == OK && repeat.most < 0)
        link_parts(r->pattern, &last.last, &last.first);
    return st;
}

/* An atom with all that repeats it. A repetition of a repetition repeats the whole of it, so that
 * no more than the atom's own text is ever read again. NOLINTNEXTLINE(misc-no-recursion) */
static enum status read_piece(struct reader *r, struct part *ret)
{
    const char *from = r->at;
    struct repeat repeat;
    enum status st = read_atom(r, ret);
    if (st != OK || !*r->at || !strchr("*+?{", *r->at))
        return st;
    st = read_repeat(r, &repeat);
    if (st == OK)
        st = repeat_atom(r, from, repeat, ret);
    if (st == OK && *r->at && strchr("*+?{", *r->at))
        st = fail(r, r->at, "repeats a repetition; put it in a group: (a*){2}");
    return st;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static enum status read_sequence(struct reader *r, struct part *ret)
{
    struct part piece;
    enum status st = OK;
    *ret = (struct part){.is_nullable = true};
    while (st == OK && *r->at && *r->at != '|' && *r->at != ')') {
        st = read_piece(r, &piece);
        if (st == OK)
            append(r->pattern, ret, &piece);
    }
    return st;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static enum status read_choice(struct reader *r, struct part *ret)
{
    struct part other;
    enum status st = read_sequence(r, ret);
    while (st == OK && *r->at == '|') {
        r->at++;
        st = read_sequence(r, &other);
        if (st != OK)
            break;
        ret->is_nullable |= other.is_nullable;
        set_join(&ret->first, &other.first);
        set_join(&ret->last, &other.last);
    }
    return st;
}

enum status pattern_parse(const char *text, struct pattern **ret, struct parse_error *reterr)
{
    struct pattern *pattern = calloc(1, sizeof(*pattern));
    struct reader r = {.text = text, .at = text, .pattern = pattern, .err = reterr};
    struct part whole;
    if (!pattern)
        return E_NOMEM;
    enum status st = read_choice(&r, &whole);
    if (st == OK && *r.at)
        st = fail(&r, r.at, "has a ) without its (; the character of its own is written \\)");
    if (st == OK && whole.is_nullable)
        st = fail(&r, text, "takes an empty text, and so is found in every output");
    if (st != OK) {
        free(pattern);
        return st;
    }
    pattern->first = whole.first;
    pattern->last = whole.last;
    *ret = pattern;
    return OK;
}

struct pattern *pattern_free(struct pattern *pattern)
{
    free(pattern);
    return NULL;
}

/* ---- searching ---- */

void pattern_search_init(struct pattern_search *search, const struct pattern *pattern)
{
    *search = (struct pattern_search){.pattern = pattern};
}

/* A match may begin at each symbol. */
static void take(struct pattern_search *search, int symbol)
{
    const struct pattern *pattern = search->pattern;
    struct set next = pattern->first;
    uint64_t ends = 0;
    for (int i = 0; i < WORDS; i++) {
        for (uint64_t left = search->active[i]; left; left &= left - 1)
            set_join(&next, &pattern->follow[i * 64 + __builtin_ctzll(left)]);
    }
    for (int i = 0; i < WORDS; i++) {
        search->active[i] = next.words[i] & pattern->by_symbol[symbol].words[i];
        ends |= search->active[i] & pattern->last.words[i];
    }
    search->is_found |= ends != 0;
}

static void begin_line(struct pattern_search *search)
{
    if (search->is_in_line)
        return;
    search->is_in_line = true;
    memset(search->active, 0, sizeof(search->active));
    take(search, LINE_BEGIN);
}

static void end_line(struct pattern_search *search)
{
    begin_line(search);
    take(search, LINE_END);
    search->is_in_line = search->is_return = false;
}

/* A carriage return at the end of a line belongs to its break. */
static void take_byte(struct pattern_search *search, char byte)
{
    if (byte == '\n') {
        end_line(search);
        return;
    }
    begin_line(search);
    if (search->is_return)
        take(search, '\r');
    search->is_return = byte == '\r';
    if (!search->is_return)
        take(search, (unsigned char)byte);
}

bool pattern_search_feed(struct pattern_search *search, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && !search->is_found; i++)
        take_byte(search, bytes[i]);
    return search->is_found;
}

bool pattern_search_break(struct pattern_search *search)
{
    if (search->is_in_line && !search->is_found)
        end_line(search);
    return search->is_found;
}
