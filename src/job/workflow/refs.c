#include "workflow/refs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool ref_is_key(const char *text, size_t length)
{
    if (!length || length > PARAM_NAME_MAX || isdigit((unsigned char)*text))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_')
            return false;
    }
    return true;
}

static bool is_step(const char *text, size_t length)
{
    bool begins = true;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (begins ? !isalpha(c) : !isalnum(c) && !strchr("-_/", c))
            return false;
        begins = c == '/';
    }
    return length && length <= STEP_NAME_MAX && !begins;
}

static const char *read_step(const char *text, size_t length, struct ref *ret)
{
    const char *dot = memchr(text, '.', length);
    size_t name = dot ? (size_t)(dot - text) : length;
    if (!is_step(text, name))
        return "is no reference to a step; write steps.NAME.KEY";
    if (!dot)
        return "names a step, but no output of it; write steps.NAME.KEY";
    const char *key = dot + 1;
    size_t rest = length - name - 1;
    if (!ref_is_key(key, rest))
        return "has no key of an output, which may hold letters, digits and _ only";
    ret->kind = is_word(key, rest, "state")       ? REF_STATE
                : is_word(key, rest, "exit_code") ? REF_EXIT_CODE
                                                  : REF_OUTPUT;
    snprintf(ret->step, sizeof(ret->step), "%.*s", (int)name, text);
    snprintf(ret->name, sizeof(ret->name), "%.*s", (int)rest, key);
    return NULL;
}

const char *ref_read(const char *text, size_t length, struct ref *ret)
{
    static const struct {
        const char *word;
        enum ref_kind kind;
    } words[] = {{"item", REF_ITEM}, {"index", REF_INDEX}, {"instance", REF_INSTANCE}};
    *ret = (struct ref){0};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(text, length, words[i].word)) {
            ret->kind = words[i].kind;
            return NULL;
        }
    }
    if (length >= 6 && memcmp(text, "steps.", 6) == 0)
        return read_step(text + 6, length - 6, ret);
    if (length < 7 || memcmp(text, "params.", 7) != 0)
        return "is unknown; write params.NAME, steps.NAME.KEY, item, index or instance";
    if (!ref_is_key(text + 7, length - 7))
        return "is no name of a parameter, which may hold letters, digits and _ only";
    ret->kind = REF_PARAM;
    snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(length - 7), text + 7);
    return NULL;
}

const char *ref_key(const struct ref *ref)
{
    static const char *const own[] = {[REF_STATE] = "state", [REF_EXIT_CODE] = "exit_code"};
    bool is_own = ref->kind == REF_STATE || ref->kind == REF_EXIT_CODE;
    return is_own ? own[ref->kind] : ref->name;
}

/* ---- in templates ---- */

/* Would a reader take it for a reference? */
static bool looks_like_one(const char *text, size_t length)
{
    struct ref ref;
    return !ref_read(text, length, &ref) || (length >= 6 && memcmp(text, "steps.", 6) == 0) ||
           (length >= 7 && memcmp(text, "params.", 7) == 0);
}

bool ref_next(const char **at, const char **ret_end, struct ref *ret, const char **complaint)
{
    const char *text = *at;
    for (const char *next = text; (next = strstr(next, "${")); next += 2) {
        size_t length = strcspn(next + 2, "}");
        if (next > text && next[-1] == '$')
            continue;
        if (!next[2 + length] || !looks_like_one(next + 2, length))
            continue;
        *at = next;
        *ret_end = next + 2 + length + 1;
        *complaint = ref_read(next + 2, length, ret);
        return true;
    }
    return false;
}

enum status refs_check(const char *text, const struct ref_names *names, struct parse_error *reterr)
{
    const char *at = text, *end, *complaint;
    struct ref ref;
    for (; ref_next(&at, &end, &ref, &complaint); at = end) {
        if (!complaint && names)
            complaint = names->complain(names->context, &ref);
        if (complaint)
            return parse_fail(reterr, (int)(at - text) + 1, "${%.*s} %s",
                              (int)(end - at < 80 ? end - at - 3 : 77), at + 2, complaint);
    }
    return OK;
}
