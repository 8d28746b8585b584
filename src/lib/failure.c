#include "failure.h"

#include <stdio.h>

static _Thread_local char last_why[1024];
static _Thread_local enum peal_error last_error;

const char *peal_why(void)
{
    return last_why;
}

enum peal_error peal_failure(void)
{
    return last_error;
}

static enum peal_error error_of(enum status st)
{
    switch (st) {
    case OK:
        return PEAL_OK;
    case E_INVALID:
    case E_TOO_LARGE:
        return PEAL_E_INVALID;
    case E_NOMEM:
        return PEAL_E_NOMEM;
    case E_NOT_FOUND:
        return PEAL_E_NOT_FOUND;
    case E_CONFLICT:
        return PEAL_E_EXISTS;
    case E_UNREACHABLE:
    case E_UNKNOWN:
        return PEAL_E_UNREACHABLE;
    case E_BUSY:
        return PEAL_E_BUSY;
    case E_VERSION:
        return PEAL_E_VERSION;
    case E_IO:
    case E_CORRUPT:
    case E_ROLLED_BACK:
    case E_SET_ASIDE:
        break;
    }
    return PEAL_E_IO;
}

int lib_fail(enum status st, const char *why)
{
    if (st == OK)
        return PEAL_OK;
    snprintf(last_why, sizeof(last_why), "%s", *why ? why : status_text(st));
    last_error = error_of(st);
    return last_error;
}

int lib_fail_as(enum peal_error error, const char *why)
{
    snprintf(last_why, sizeof(last_why), "%s", why);
    last_error = error;
    return error;
}

int lib_fail_forked(void)
{
    return lib_fail_as(PEAL_E_FORKED,
                       "this belongs to the parent process, and one that is forked beside a node "
                       "can't have its own: fork before a node is opened, or call exec()");
}
