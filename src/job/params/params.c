#include "params/params.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "job.h"

const char *const param_type_names[] = {
    [PARAM_STRING] = "string",
    [PARAM_INTEGER] = "integer",
    [PARAM_NUMBER] = "number",
    [PARAM_BOOLEAN] = "boolean",
    NULL,
};

void job_params_release(struct job_params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        struct job_param *param = &params->items[i];
        free(param->name);
        free(param->initial);
        job_names_free(param->allowed);
        free(param->help);
        free(param->value);
    }
    free(params->items);
    *params = (struct job_params){NULL, 0};
}

const struct job_param *job_params_find(const struct job_params *params, const char *name,
                                        size_t length)
{
    for (size_t i = 0; i < params->count; i++) {
        const char *known = params->items[i].name;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return &params->items[i];
    }
    return NULL;
}

const char *job_param_value(const struct job_param *param)
{
    return param->value ? param->value : param->initial;
}

const char *param_name_complaint(const char *name)
{
    size_t length = strlen(name);
    if (!length || length > PARAM_NAME_MAX)
        return "a parameter's name has 1 to 63 characters";
    if (isdigit((unsigned char)*name))
        return "a parameter's name begins with a letter or _";
    for (const char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_')
            return "a parameter's name may hold the letters A to Z and a to z, digits and _ only";
    }
    return strncasecmp(name, "PEAL_", 5) == 0 ? "names that begin with PEAL_ are peal's own" : NULL;
}

/* ---- values ---- */

static bool is_integer(const char *text)
{
    const char *digits = text + (*text == '-');
    char *end;
    if (!isdigit((unsigned char)*digits) || (*digits == '0' && digits[1]))
        return false;
    errno = 0;
    strtoll(text, &end, 10);
    return !errno && !*end;
}

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* As JSON writes numbers. */
static bool is_number(const char *text)
{
    const char *at = text + (*text == '-');
    size_t whole = digits_at(at);
    if (!whole || (*at == '0' && whole > 1) || strlen(text) > 40)
        return false;
    at += whole;
    if (*at == '.') {
        size_t part = digits_at(++at);
        if (!part)
            return false;
        at += part;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        size_t part = digits_at(at);
        if (!part || part > 3)
            return false;
        at += part;
    }
    return !*at;
}

static bool is_allowed(const struct job_param *param, const char *text)
{
    for (size_t i = 0; param->allowed && param->allowed[i]; i++) {
        if (strcmp(param->allowed[i], text) == 0)
            return true;
    }
    return !param->allowed;
}

enum status param_value_check(const struct job_param *param, const char *text,
                              char why[PARAM_WHY_SIZE])
{
    if (strlen(text) > PARAM_VALUE_MAX) {
        snprintf(why, PARAM_WHY_SIZE, "is longer than %d bytes", PARAM_VALUE_MAX);
        return E_INVALID;
    }
    bool is_right = param->type == PARAM_INTEGER   ? is_integer(text)
                    : param->type == PARAM_NUMBER  ? is_number(text)
                    : param->type == PARAM_BOOLEAN ? !strcmp(text, "true") || !strcmp(text, "false")
                                                   : true;
    if (!is_right) {
        static const char *const expected[] = {
            [PARAM_STRING] = "a text",
            [PARAM_INTEGER] = "a whole number",
            [PARAM_NUMBER] = "a number",
            [PARAM_BOOLEAN] = "true or false",
        };
        snprintf(why, PARAM_WHY_SIZE, "\"%.40s\" is not %s", text, expected[param->type]);
        return E_INVALID;
    }
    if (is_allowed(param, text))
        return OK;
    int length = snprintf(why, PARAM_WHY_SIZE, "\"%.40s\" is not allowed; choose", text);
    for (size_t i = 0; param->allowed[i] && length < 140; i++)
        length += snprintf(why + length, (size_t)(PARAM_WHY_SIZE - length), "%s %.40s",
                           i ? "," : "", param->allowed[i]);
    return E_INVALID;
}
