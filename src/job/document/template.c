#include "document/template.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_BYTES = 60 }; /* of a name in a message */

static size_t name_length(const char *at)
{
    size_t length = 0;
    if (isdigit((unsigned char)*at))
        return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

/* RFC 3986: all but the unreserved characters are encoded. */
static void add_encoded(struct strbuf *out, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (isalnum(c) || strchr("-._~", c))
            strbuf_addc(out, *value);
        else
            strbuf_addf(out, "%%%02X", c);
    }
}

static enum status no_variable(const char *text, const char *at, struct parse_error *reterr)
{
    return parse_fail(reterr, (int)(at - text) + 1,
                      "expected a variable like ${PEAL_TICK}; a plain ${ is written $${");
}

enum status template_expand(const char *text, enum template_use use, template_lookup *lookup,
                            void *context, struct strbuf *out, struct parse_error *reterr)
{
    const char *at = text, *next;
    for (; (next = strstr(at, "${")); at = next) {
        bool is_plain = next > at && next[-1] == '$';
        const char *name = next + 2;
        size_t length = name_length(name);
        if (out)
            strbuf_add(out, at, (size_t)(next - at));
        if (is_plain) { /* the first $ is there already */
            if (out)
                strbuf_addc(out, '{');
            next += 2;
            continue;
        }
        if (!length || name[length] != '}')
            return no_variable(text, next, reterr);
        const char *value = lookup(context, name, length);
        if (!value)
            return parse_fail(reterr, (int)(next - text) + 1,
                              "there is no variable %.*s; use one of the job's env, or PEAL_TICK, "
                              "PEAL_JOB, PEAL_RUN_ID, PEAL_ATTEMPT, PEAL_NODE, PEAL_FENCE",
                              (int)(length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES), name);
        next = name + length + 1;
        bool is_whole = name - 2 == text && !*next;
        if (out && use == TEMPLATE_URL && !is_whole)
            add_encoded(out, value);
        else if (out)
            strbuf_adds(out, value);
    }
    if (out)
        strbuf_adds(out, at);
    return OK;
}
