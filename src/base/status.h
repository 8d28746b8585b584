/* The status codes that calls of the whole project return. Results are checked; outputs are written
 * only when the status is OK. */
#ifndef PEAL_STATUS_H
#define PEAL_STATUS_H

#define MUST_CHECK __attribute__((warn_unused_result))

enum status {
    OK = 0,
    E_INVALID = -1,   /* the input is wrong; a parse_error says where */
    E_NOMEM = -2,     /* out of memory */
    E_NOT_FOUND = -3, /* no such thing */
    E_IO = -4,        /* the operating system said no; errno has the reason */
    E_CONFLICT = -5,  /* someone else changed it first */
    E_UNKNOWN = -6,   /* sent, outcome unknown: read back, never guess */
    E_UNREACHABLE = -7,
    E_TOO_LARGE = -8,
    E_CORRUPT = -9,  /* data on disk or on the wire breaks its own format */
    E_VERSION = -10, /* data of a version that this program does not know */
    E_BUSY = -11,    /* held by someone else */
    E_ROLLED_BACK =
        -12, /* the store was restored from a backup, and no operator has accepted it yet */
    E_SET_ASIDE = -13, /* the record exists but can't be decoded; it is left unchanged */
};

/* A short English text for a status; never NULL. */
const char *status_text(enum status st);

/* Where and why a text was refused. */
struct parse_error {
    int line;   /* from 1; 0 when the text is a single line */
    int column; /* from 1; 0 when no column can be named */
    char message[240];
};

/* The hint of a message, the part behind its first semicolon that says what to do: `unknown unit
 * "x"; use KiB or MiB`. NULL: the message has none. */
const char *message_hint(const char *message);

/* Fills *err, which may be NULL. */
void parse_error_set(struct parse_error *err, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline enum status status_invalid(void)
{
    return E_INVALID;
}

/* Fills *err and returns E_INVALID, so that `return parse_fail(...)` reads well. A macro, so that
 * compilers and analysers see that the result is never OK. */
#define parse_fail(err, ...) (parse_error_set((err), __VA_ARGS__), status_invalid())

#endif
