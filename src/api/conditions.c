#include "conditions.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"

static bool if_none_match_any(const struct call *call)
{
    const char *text = call_input(call, "If-None-Match");
    return text && strcmp(text, "*") == 0;
}

bool if_match(struct call *call, int64_t *ret)
{
    const char *text = call_input(call, "If-Match");
    bool required = false;
    *ret = MATCH_NOTHING;
    if (!param_bool(call, "require_match", &required))
        return false;
    if (!text && required && !if_none_match_any(call)) {
        call_fail(call, 428, "say which revision you have seen: If-Match: \"REVISION\"");
        return false;
    }
    if (text && strcmp(text, "*") == 0)
        *ret = MATCH_ANY;
    if (!text || *ret == MATCH_ANY)
        return true;
    char *end;
    text += strncmp(text, "W/", 2) == 0 ? 2 : 0; /* a proxy that compresses makes it weak */
    long long revision = *text == '"' ? strtoll(text + 1, &end, 10) : -1;
    if (revision > 0 && (*end == '-' || strcmp(end, "\"") == 0)) {
        *ret = revision;
        return true;
    }
    call_fail(call, 412, "If-Match: expected a revision like \"17\", in its quotes");
    return false;
}

void fail_missing(struct call *call, int status, const char *noun)
{
    call_fail(call, status, "there is no %s \"%.128s\"", message_in(call->language, noun),
              call->argument);
}

void fail_exists(struct call *call, int status, const char *noun)
{
    call_fail(call, status, "there is a %s \"%s\" already", message_in(call->language, noun),
              call->argument);
}

bool check_conditions(struct call *call, int64_t revision, const char *noun, bool *ret_strict)
{
    int64_t wanted;
    bool only_new = if_none_match_any(call);
    if (!if_match(call, &wanted))
        return false;
    *ret_strict = only_new || wanted > 0;
    if (only_new && revision)
        fail_exists(call, 412, noun);
    else if (wanted != MATCH_NOTHING && !revision)
        fail_missing(call, 412, noun);
    else if (wanted > 0 && wanted != revision)
        call_fail(call, 412, "\"%s\" is at revision %lld by now; read it again", call->argument,
                  (long long)revision);
    else
        return true;
    return false;
}
