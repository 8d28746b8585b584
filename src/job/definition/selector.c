#include "definition/selector.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "run.h"

static bool is_label_char(char c)
{
    return c && (isalnum((unsigned char)c) || strchr("._/-", c));
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_label_char(at[length]))
        length++;
    return length;
}

struct term {
    const char *key, *value; /* value NULL: any */
    size_t key_length, value_length;
    bool wanted; /* false: the term is negated */
};

/* Reads the term at *at, and sets *at to the first character after it. */
static struct term read_term(const char **at)
{
    struct term term = {.wanted = true};
    const char *p = skip_blanks(*at);
    if (*p == '!') {
        term.wanted = false;
        p = skip_blanks(p + 1);
    }
    term.key = p;
    term.key_length = word_length(p);
    p = skip_blanks(p + term.key_length);
    bool differs = p[0] == '!' && p[1] == '=';
    if (term.key_length && term.wanted && (differs || *p == '=')) {
        term.wanted = !differs;
        term.value = skip_blanks(p + 1 + differs);
        term.value_length = word_length(term.value);
        p = skip_blanks(term.value + term.value_length);
    }
    *at = p;
    return term;
}

enum status selector_check(const char *text, struct parse_error *reterr)
{
    for (const char *at = text;; at++) {
        struct term term = read_term(&at);
        if (!term.key_length)
            return parse_fail(reterr, (int)(term.key - text) + 1,
                              "expected the name of a label, like zone");
        if (term.value && !term.value_length)
            return parse_fail(reterr, (int)(term.value - text) + 1,
                              "expected the value of \"%.*s\"", (int)term.key_length, term.key);
        if (!*at)
            return OK;
        if (*at == '=' && !term.wanted && !term.value)
            return parse_fail(reterr, (int)(at - text) + 1,
                              "write %.*s!=VALUE for a label with another value",
                              (int)term.key_length, term.key);
        if (*at != ',')
            return parse_fail(reterr, (int)(at - text) + 1, "expected a comma, found \"%.10s\"",
                              at);
    }
}

/* Is there a label with the term's key and, if the term has one, its value? */
static bool has_label(const char *labels, const struct term *term)
{
    for (const char *at = labels; *at;) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=,");
        if (name == term->key_length && memcmp(at, term->key, name) == 0) {
            const char *value = at[name] == '=' ? at + name + 1 : at + name;
            size_t value_length = (size_t)(at + length - value);
            return !term->value || (value_length == term->value_length &&
                                    memcmp(value, term->value, value_length) == 0);
        }
        at += length + (at[length] == ',');
    }
    return false;
}

bool selector_matches(const char *text, const char *labels)
{
    for (const char *at = text;; at++) {
        struct term term = read_term(&at);
        if (has_label(labels, &term) != term.wanted)
            return false;
        if (*at != ',')
            return true;
    }
}

/* ---- on how many ---- */

/* A number from 1 to RUN_PARTS_MAX, and nothing behind it; 0: it is none. */
static int read_count(const char *text)
{
    int count = 0;
    if (!*text)
        return 0;
    for (; isdigit((unsigned char)*text) && count <= RUN_PARTS_MAX; text++)
        count = 10 * count + (*text - '0');
    return *text || count > RUN_PARTS_MAX ? 0 : count;
}

static bool read_spread(const char *text, struct spread *ret)
{
    static const char shards[] = "shards";
    *ret = (struct spread){.kind = SPREAD_ONE};
    if (!text || strcmp(text, "one") == 0 || strcmp(text, "1") == 0)
        return true;
    if (strcmp(text, "all") == 0) {
        ret->kind = SPREAD_ALL;
        return true;
    }
    ret->kind = SPREAD_NODES;
    if (strncmp(text, shards, strlen(shards)) == 0 && strchr(" \t", text[strlen(shards)])) {
        ret->kind = SPREAD_SHARDS;
        text = skip_blanks(text + strlen(shards));
    }
    ret->count = read_count(text);
    return ret->count > 0;
}

const char *spread_complaint(const char *text)
{
    struct spread spread;
    return read_spread(text, &spread)
               ? NULL
               : "is none of one, all, a number of nodes like 3, or shards 8; up to 256";
}

struct spread spread_read(const char *text)
{
    struct spread spread;
    return read_spread(text, &spread) ? spread : (struct spread){.kind = SPREAD_ONE};
}
