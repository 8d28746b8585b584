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

enum conditions check_conditions(struct call *call, int64_t revision, bool *ret_strict)
{
    int64_t wanted;
    bool only_new = if_none_match_any(call);
    if (!if_match(call, &wanted))
        return CONDITIONS_FAILED;
    *ret_strict = only_new || wanted > 0;
    if (only_new && revision)
        return CONDITIONS_NOT_NEW;
    if (wanted != MATCH_NOTHING && !revision)
        return CONDITIONS_NOT_THERE;
    if (wanted <= 0 || wanted == revision)
        return CONDITIONS_HOLD;
    call_fail(call, 412, "\"%s\" is at revision %lld by now; read it again", call->argument,
              (long long)revision);
    return CONDITIONS_FAILED;
}
