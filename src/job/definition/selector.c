#include "definition/selector.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

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
