#include "systemd/unit_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "document/utf8.h"

/* ---- escapes ---- */

/* Digits of a number in this base; -1: they are not there. */
static long read_digits(const char *text, int count, int base)
{
    char digits[9] = "";
    for (int i = 0; i < count; i++) {
        bool is_good =
            base == 16 ? isxdigit((unsigned char)text[i]) : text[i] >= '0' && text[i] <= '7';
        if (!is_good)
            return -1;
        digits[i] = text[i];
    }
    return strtol(digits, NULL, base);
}

static void add_utf8(struct strbuf *out, long c)
{
    if (c < 0x80) {
        strbuf_addc(out, (char)c);
        return;
    }
    if (c < 0x800) {
        strbuf_addc(out, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            strbuf_addc(out, (char)(0xe0 | c >> 12));
        } else {
            strbuf_addc(out, (char)(0xf0 | c >> 18));
            strbuf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        strbuf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
}

/* An escape behind a backslash, such as n, x41 or u00e9. Returns its length; 0: it is none, and the
 * backslash stays, as systemd does with a warning. */
static size_t add_escape(const char *text, struct strbuf *out)
{
    static const char letters[] = "abfnrtvs\\\"'", meanings[] = "\a\b\f\n\r\t\v \\\"'";
    const char *letter = *text ? strchr(letters, *text) : NULL;
    if (letter) {
        strbuf_addc(out, meanings[letter - letters]);
        return 1;
    }
    static const struct {
        char letter;
        int digits;
    } forms[] = {{'x', 2}, {'u', 4}, {'U', 8}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        long c = *text == forms[i].letter ? read_digits(text + 1, forms[i].digits, 16) : -1;
        if (c <= 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            continue;
        if (forms[i].letter == 'x')
            strbuf_addc(out, (char)c);
        else
            add_utf8(out, c);
        return (size_t)forms[i].digits + 1;
    }
    long c = read_digits(text, 3, 8);
    if (c <= 0 || c > 0xff)
        return 0;
    strbuf_addc(out, (char)c);
    return 3;
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static enum status read_raw(const char *text, const char **inout_at, struct strbuf *out,
                            struct parse_error *reterr)
{
    const char *at = *inout_at, *opened = NULL;
    for (; *at && (opened || !is_blank(*at)); at++) {
        if (*at == '\\') {
            size_t length = add_escape(at + 1, out);
            if (!length)
                strbuf_addc(out, '\\');
            at += length;
        } else if (opened && *at == *opened) {
            opened = NULL;
        } else if (!opened && (*at == '"' || *at == '\'')) {
            opened = at;
        } else {
            strbuf_addc(out, *at);
        }
    }
    if (opened)
        return parse_fail(reterr, (int)(opened - text) + 1,
                          "the quote that starts here has no end");
    *inout_at = at;
    return strbuf_status(out);
}

enum status unit_word(const char *text, const char **inout_at, const struct unit_names *names,
                      struct strbuf *word, bool *ret_any, struct parse_error *reterr)
{
    struct strbuf raw;
    while (is_blank(**inout_at))
        (*inout_at)++;
    *ret_any = **inout_at != '\0';
    if (!*ret_any)
        return OK;
    int column = (int)(*inout_at - text) + 1;
    strbuf_init(&raw);
    enum status st = read_raw(text, inout_at, &raw, reterr);
    if (st == OK && utf8_check(raw.text, raw.length, NULL) != OK)
        st = parse_fail(reterr, column, "an escape here makes no UTF-8");
    if (st == OK) {
        st = unit_specifiers(raw.text, names, word, reterr);
        if (st == E_INVALID && reterr)
            reterr->column = column;
    }
    strbuf_release(&raw);
    return st;
}

/* ---- specifiers ---- */

/* "sync@home.service": the name without its type, up to the "@", and behind it. */
static void add_name(char specifier, const struct unit_names *names, struct strbuf *out)
{
    const char *name = names->unit, *type = strrchr(name, '.'), *sign = strchr(name, '@');
    size_t length = type ? (size_t)(type - name) : strlen(name);
    if (sign && (size_t)(sign - name) >= length)
        sign = NULL;
    switch (specifier) {
    case 'n':
        strbuf_adds(out, name);
        break;
    case 'N':
        strbuf_add(out, name, length);
        break;
    case 'p':
        strbuf_add(out, name, sign ? (size_t)(sign - name) : length);
        break;
    default: /* i */
        if (sign)
            strbuf_add(out, sign + 1, length - (size_t)(sign - name) - 1);
    }
}

/* NULL: not known here. */
static const char *find_folder(char specifier, bool is_user)
{
    static const struct {
        char letter;
        const char *folder;
        bool is_always;
    } folders[] = {{'t', "/run", false},     {'S', "/var/lib", false}, {'C', "/var/cache", false},
                   {'L', "/var/log", false}, {'E', "/etc", false},     {'T', "/tmp", true},
                   {'V', "/var/tmp", true}};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (folders[i].letter == specifier && (folders[i].is_always || !is_user))
            return folders[i].folder;
    }
    return NULL;
}

enum status unit_specifiers(const char *text, const struct unit_names *names, struct strbuf *out,
                            struct parse_error *reterr)
{
    static const char unknown[] = "aAbBCdDEfgGhHIjJlLmMoPqsStuUvVwWyY";
    for (const char *at = text; *at; at++) {
        if (*at != '%') {
            strbuf_addc(out, *at);
            continue;
        }
        const char *folder = find_folder(*++at, names->is_user);
        if (*at && strchr("nNpi", *at))
            add_name(*at, names, out);
        else if (folder)
            strbuf_adds(out, folder);
        else if (*at && strchr(unknown, *at))
            return parse_fail(reterr, (int)(at - text),
                              "what %%%c stands for is not known here: write it out", *at);
        else
            strbuf_addc(out, '%'); /* any other stays, as in systemd */
        if (!*at)
            break;
        if (!strchr("nNpi%", *at) && !folder)
            strbuf_addc(out, *at);
    }
    return strbuf_status(out);
}
