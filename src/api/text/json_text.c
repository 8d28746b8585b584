#include "text/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "document/json_quote.h"
#include "runs/encode.h"
#include "strbuf.h"

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') /* mostly there is none */
        at++;
    return at;
}

/* Behind the string that starts here. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++) {
        at += strcspn(at, "\"\\");
        if (*at != '\\')
            break;
        at += at[1] != '\0';
    }
    return at + (*at == '"');
}

/* Behind the object or array that starts here. */
static const char *skip_nested(const char *at)
{
    size_t depth = 0;
    do {
        at += strcspn(at, "\"{}[]");
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at += *at != '\0';
    } while (*at && depth);
    return at;
}

static const char *skip_value(const char *at)
{
    if (*at == '"')
        return skip_string(at);
    if (*at == '{' || *at == '[')
        return skip_nested(at);
    return at + strcspn(at, ",]} \t\r\n");
}

bool json_text_next(const char **at, struct json_member *ret)
{
    const char *name = skip_space(*at);
    if (*name != '{' && *name != ',')
        return false;
    name = skip_space(name + 1);
    if (*name != '"')
        return false;
    const char *name_end = skip_string(name);
    const char *value = skip_space(name_end);
    if (*value != ':')
        return false;
    value = skip_space(value + 1);
    *at = skip_value(value);
    *ret = (struct json_member){.name = {name, (size_t)(name_end - name)},
                                .value = {value, (size_t)(*at - value)}};
    return true;
}

bool json_text_item(const char **at, struct json_span *ret)
{
    const char *item = skip_space(*at);
    if (*item != '[' && *item != ',')
        return false;
    item = skip_space(item + 1);
    if (!*item || *item == ']')
        return false;
    *at = skip_value(item);
    *ret = (struct json_span){item, (size_t)(*at - item)};
    return *at > item;
}

bool json_text_get(const char *object, const char *name, struct json_span *ret)
{
    struct json_member member;
    size_t length = strlen(name);
    while (json_text_next(&object, &member)) {
        if (member.name.length == length + 2 && memcmp(member.name.text + 1, name, length) == 0) {
            *ret = member.value;
            return true;
        }
    }
    return false;
}

int64_t json_text_number(const struct json_span *value)
{
    return value->length ? strtoll(value->text, NULL, 10) : 0;
}

void json_text_quote(struct strbuf *out, const char *text)
{
    if (json_quote(out, text))
        return;
    json_t *value = json_words(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    if (quoted)
        strbuf_adds(out, quoted);
    else
        out->failed = true;
    free(quoted);
}
