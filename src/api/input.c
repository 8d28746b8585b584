#include "input.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "duration.h"
#include "server.h"
#include "text/parsed.h"
#include "timestamp.h"

/* ---- values ---- */

/* Removes the fraction `.123` from the text; digits after the third are dropped. */
static int take_fraction(char *text)
{
    char *dot = strchr(text, '.');
    if (!dot || !isdigit((unsigned char)dot[1]))
        return 0;
    int ms = 0, weight = 100;
    char *end = dot + 1;
    for (; isdigit((unsigned char)*end); end++) {
        ms += (*end - '0') * weight;
        weight /= 10;
    }
    memmove(dot, end, strlen(end) + 1);
    return ms;
}

/* RFC 3339 to the millisecond; without an offset a local time in `zone`. */
MUST_CHECK static enum status time_parse(const char *text, const struct zone *zone, int64_t *ret_ms,
                                         struct parse_error *reterr)
{
    char plain[64];
    int64_t seconds;
    if (strlen(text) >= sizeof(plain))
        return parse_fail(reterr, 0, "expected a time like 2027-01-01T00:00:00Z");
    memcpy(plain, text, strlen(text) + 1);
    int ms = take_fraction(plain);
    enum status st = timestamp_parse(plain, 1, zone, &seconds, reterr);
    if (st == OK)
        *ret_ms = seconds * 1000 + ms;
    return st;
}

static const char *parameter(const struct call *call, const char *name)
{
    return query_get(&call->query, name);
}

/* `message` is one of the API's table, or of a parser. */
static bool fail_at(struct call *call, const char *pointer, const char *name, const char *message)
{
    struct strbuf text;
    strbuf_init(&text);
    (void)message_translate(call->language, message_in(call->language, message), &text);
    call_fail_at(call, pointer, "%s: %s", name, text.text);
    strbuf_release(&text);
    return false;
}

static bool fail_param(struct call *call, const char *name, const char *message)
{
    char pointer[80];
    snprintf(pointer, sizeof(pointer), "?%s", name);
    return fail_at(call, pointer, name, message);
}

static bool fail_range(struct call *call, const char *pointer, const char *name, int64_t min,
                       int64_t max)
{
    call_fail_at(call, pointer, "%s: expected a number from %lld to %lld", name, (long long)min,
                 (long long)max);
    return false;
}

/* ---- parameters ---- */

bool param_number(struct call *call, const char *name, int64_t min, int64_t max, int64_t *inout)
{
    const char *text = parameter(call, name);
    if (!text)
        return true;
    char *end, pointer[80];
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && !errno && number >= min && number <= max) {
        *inout = number;
        return true;
    }
    snprintf(pointer, sizeof(pointer), "?%s", name);
    return fail_range(call, pointer, name, min, max);
}

bool param_bool(struct call *call, const char *name, bool *inout)
{
    const char *text = parameter(call, name);
    if (!text)
        return true;
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return fail_param(call, name, "expected true or false");
    *inout = yes;
    return true;
}

bool param_time(struct call *call, const char *name, const struct zone *zone, int64_t *inout_ms)
{
    const char *text = parameter(call, name);
    struct parse_error error = {0};
    if (!text || time_parse(text, zone, inout_ms, &error) == OK)
        return true;
    return fail_param(call, name, error.message);
}

bool param_duration(struct call *call, const char *name, int64_t *inout_ms)
{
    const char *text = parameter(call, name);
    struct parse_error error = {0};
    int64_t seconds;
    if (!text)
        return true;
    if (duration_parse(text, 1, &seconds, &error) != OK)
        return fail_param(call, name, error.message);
    *inout_ms = seconds * 1000;
    return true;
}

bool param_id(struct call *call, const char *name, const char *text, struct id *ret)
{
    return id_parse(text, ret) == OK || fail_param(call, name, "this is not an id");
}

/* ---- fields ---- */

static bool fail_field(struct call *call, const char *name, const char *message)
{
    char pointer[80];
    snprintf(pointer, sizeof(pointer), "/%s", name);
    return fail_at(call, pointer, name, message);
}

bool field_number(struct call *call, const char *name, int64_t min, int64_t max, int64_t *inout)
{
    const json_t *value = json_object_get(call->body, name);
    if (!value)
        return true;
    int64_t number = json_integer_value(value);
    if (json_is_integer(value) && number >= min && number <= max) {
        *inout = number;
        return true;
    }
    char pointer[80];
    snprintf(pointer, sizeof(pointer), "/%s", name);
    return fail_range(call, pointer, name, min, max);
}

bool field_bool(struct call *call, const char *name, bool *inout)
{
    const json_t *value = json_object_get(call->body, name);
    if (!value)
        return true;
    if (!json_is_boolean(value))
        return fail_field(call, name, "expected true or false");
    *inout = json_is_true(value);
    return true;
}

bool field_duration(struct call *call, const char *name, int64_t *inout_ms)
{
    const json_t *value = json_object_get(call->body, name);
    const char *text = json_string_value(value);
    struct parse_error error = {0};
    int64_t seconds;
    if (!value)
        return true;
    if (!text)
        return fail_field(call, name, "expected a span of time like \"2h\"");
    if (duration_parse(text, 1, &seconds, &error) != OK)
        return fail_field(call, name, error.message);
    *inout_ms = seconds * 1000;
    return true;
}

bool field_scope(struct call *call, struct scope *inout)
{
    char pointer[64];
    const char *complaint;
    if (scope_decode(call->body, inout, pointer, &complaint) != OK) {
        call_fail_at(call, pointer, "%s: %s", pointer + 1, message_in(call->language, complaint));
        return false;
    }
    if (scope_may_somewhere(inout, RIGHT_VIEW))
        return true;
    call_fail_at(call, "/role", "a role is needed, everywhere or in a namespace");
    return false;
}

bool field_time(struct call *call, const char *name, const struct zone *zone, int64_t *ret_ms)
{
    const char *text = json_string_value(json_object_get(call->body, name));
    struct parse_error error = {0};
    if (!text)
        return fail_field(call, name, "expected a time like \"2027-01-01T00:00:00Z\"");
    return time_parse(text, zone, ret_ms, &error) == OK || fail_field(call, name, error.message);
}

/* ---- the path ---- */

void fail_no_job(struct call *call, const char *name)
{
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    const struct catalog_job *renamed = waits_former(&catalog->waits, name);
    if (renamed && call_sees(call, renamed->name))
        call_fail_with(call, 404, json_pack("{s:s}", "renamed_to", renamed->name),
                       "there is no job \"%.128s\"; it was renamed to \"%.128s\"", name,
                       renamed->name);
    else
        call_fail(call, 404, "there is no job \"%.128s\"", name);
}

struct catalog_job *path_job(struct call *call)
{
    struct catalog_job *job =
        catalog_by_name(engine_catalog(call->api->ports.engine), call->argument);
    if (!job)
        fail_no_job(call, call->argument);
    return job;
}

bool path_run_id(struct call *call, struct id *ret)
{
    if (id_parse(call->argument, ret) == OK)
        return true;
    call_fail(call, 404, "there is no run \"%.60s\": that is not the id of a run", call->argument);
    return false;
}

/* ---- base 64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t length)
{
    const unsigned char *in = bytes;
    char *out = malloc((length + 2) / 3 * 4 + 1), *at = out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        unsigned group = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                         (left > 2 ? in[i + 2] : 0);
        *at++ = digits[group >> 18];
        *at++ = digits[group >> 12 & 63];
        *at++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[group & 63] : '=';
    }
    *at = '\0';
    return out;
}

/* NULL: not base 64, or out of memory. */
static char *base64_decode(const char *text)
{
    size_t used = 0;
    unsigned group = 0, bits = 0;
    char *out = malloc(strlen(text) + 1);
    if (!out)
        return NULL;
    for (; *text && *text != '='; text++) {
        const char *digit = strchr(digits, *text == ' ' ? '+' : *text); /* '+' in a query */
        if (!digit) {
            free(out);
            return NULL;
        }
        group = group << 6 | (unsigned)(digit - digits);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[used++] = (char)(group >> bits & 0xFF);
        }
    }
    out[used] = '\0';
    return out;
}

json_t *cursor_encode(const char *text)
{
    char *encoded = base64_encode(text, strlen(text));
    json_t *value = encoded ? json_string(encoded) : NULL;
    free(encoded);
    return value;
}

char *cursor_decode(struct call *call, const char *cursor)
{
    char *text = base64_decode(cursor);
    if (!text || !*text) {
        free(text);
        fail_param(call, "cursor", "expected the \"next\" of an earlier page");
        return NULL;
    }
    return text;
}

json_t *cursor_of_id(const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return cursor_encode(text);
}

bool param_id_cursor(struct call *call, struct id *inout)
{
    const char *cursor = parameter(call, "cursor");
    if (!cursor)
        return true;
    char *text = cursor_decode(call, cursor);
    bool good = text && param_id(call, "cursor", text, inout);
    free(text);
    return good;
}
