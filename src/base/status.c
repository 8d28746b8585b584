#include "status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

const char *status_text(enum status st)
{
    switch (st) {
    case OK:
        return "ok";
    case E_INVALID:
        return "invalid input";
    case E_NOMEM:
        return "out of memory";
    case E_NOT_FOUND:
        return "not found";
    case E_IO:
        return "input/output error";
    case E_CONFLICT:
        return "changed by someone else";
    case E_UNKNOWN:
        return "outcome unknown";
    case E_UNREACHABLE:
        return "unreachable";
    case E_TOO_LARGE:
        return "too large";
    case E_CORRUPT:
        return "damaged data";
    case E_VERSION:
        return "unknown version";
    case E_BUSY:
        return "busy";
    case E_ROLLED_BACK:
        return "restored from a backup";
    case E_SET_ASIDE:
        return "can't be read";
    }
    return "unknown status";
}

void parse_error_set(struct parse_error *err, int column, const char *format, ...)
{
    if (!err)
        return;
    va_list args;
    err->line = 0;
    err->column = column;
    va_start(args, format);
    vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
}

const char *message_hint(const char *message)
{
    const char *hint = NULL;
    bool in_quotes = false;
    for (const char *c = message; *c; c++) {
        if (*c == '"')
            in_quotes = !in_quotes;
        if (!in_quotes && !hint && c[0] == ';' && c[1] == ' ' && c[2])
            hint = c + 2;
    }
    return hint;
}
