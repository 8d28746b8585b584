#include "print/state_words.h"

#include <string.h>

#include "run_words.h"
#include "text/tr.h"

const char *state_word(const char *name)
{
    enum run_state state;
    if (tr_language() == LANGUAGE_EN || run_state_by_name(name, &state) != OK)
        return name;
    return run_state_text(state, tr_language());
}

const char *cause_word(const char *name)
{
    for (enum run_cause cause = 0; cause < CAUSES && tr_language() != LANGUAGE_EN; cause++) {
        if (strcmp(run_cause_name(cause), name) == 0)
            return run_cause_text(cause, tr_language());
    }
    return name;
}

const char *reason_word(const char *name)
{
    enum run_reason reason;
    return run_reason_by_name(name, &reason) == OK ? run_reason_brief(reason, tr_language()) : name;
}
