#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_http.h"
#include "otlp.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place. False: a percent sign that is followed by no two digits. */
static bool decode(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        int high = hex_value(at[1]), low = high < 0 ? -1 : hex_value(at[2]);
        if (low < 0)
            return false;
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = '\0';
    return true;
}

/* Without blanks around it; `text` is changed. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = '\0';
    return text;
}

static enum status take(char *pair, struct job_pairs *ret, const char **why)
{
    char *equals = strchr(pair, '=');
    if (!equals) {
        *why = "expected name=value, with commas between";
        return E_INVALID;
    }
    *equals = '\0';
    char *name = trim(pair), *value = trim(equals + 1);
    *why = http_header_complaint(name);
    if (!*why && (!decode(value) || !http_value_is_clean(value)))
        *why = "the value of a header has a % that is no %XX, or a control character";
    return *why ? E_INVALID : job_pairs_add(ret, name, value);
}

enum status otlp_headers_parse(const char *text, struct job_pairs *ret, const char **why)
{
    char *copy = strdup(text), *rest = copy;
    enum status st = copy ? OK : E_NOMEM;
    *ret = (struct job_pairs){0};
    *why = NULL;
    for (char *pair; st == OK && (pair = strsep(&rest, ",")) != NULL;) {
        if (*trim(pair))
            st = take(pair, ret, why);
    }
    free(copy);
    if (st != OK)
        job_pairs_release(ret);
    return st;
}
