/* Who may do what, as docs/API.md has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

/* ---- callers ---- */

static void fail_line(const char *line)
{
    fprintf(stderr, "no caller: %s\n", line);
    exit(2);
}

static int role_rights(const char *role, const char *line)
{
    static const struct {
        const char *name;
        int rights;
    } roles[] = {
        {"none", 0},
        {"viewer", LOOK},
        {"operator", LOOK | OPERATE},
        {"editor", LOOK | OPERATE | EDIT},
        {"definer", LOOK | OPERATE | EDIT | DEFINE},
        {"admin", LOOK | OPERATE | EDIT | DEFINE | ADMIN},
    };
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i].name, role) == 0)
            return roles[i].rights;
    }
    fail_line(line);
    return 0;
}

struct caller caller_read(const char *line)
{
    struct caller caller = {.page = OWN_PAGE};
    char known[8], everywhere[16], in_a[16], in_b[16], by[16];
    int at = 0;
    if (sscanf(line, "%47s %7s %15s %15s %15s %15s %n", caller.name, known, everywhere, in_a, in_b,
               by, &at) < 6)
        fail_line(line);
    caller.is_known = strcmp(known, "known") == 0;
    caller.everywhere = role_rights(everywhere, line);
    caller.in_a = role_rights(in_a, line);
    caller.in_b = role_rights(in_b, line);
    caller.is_cookie = strncmp(by, "cookie", 6) == 0;
    if (caller.is_cookie)
        caller.page = strcmp(by, "cookie-own") == 0     ? OWN_PAGE
                      : strcmp(by, "cookie-other") == 0 ? OTHER_PAGE
                                                        : NO_PAGE;
    for (const char *from = line + at; *from;) { /* "A: b|C: d" are two lines */
        size_t length = strcspn(from, "|\n"), used = strlen(caller.headers);
        if (length)
            snprintf(caller.headers + used, sizeof(caller.headers) - used, "%.*s\r\n", (int)length,
                     from);
        from += length;
        from += *from != '\0';
    }
    return caller;
}

static int rights_on_job(const struct caller *caller)
{
    return caller->everywhere | caller->in_a;
}

bool caller_sees_job(const struct caller *caller)
{
    return caller->is_known && rights_on_job(caller) & LOOK;
}

bool caller_sees_secrets(const struct caller *caller)
{
    return caller->is_known && rights_on_job(caller) & DEFINE;
}

/* ---- rules ---- */

/* Pages of other sites change nothing and, with a cookie, look at nothing. */
static bool is_forged(const struct caller *caller, bool is_safe)
{
    if (!caller->is_cookie || caller->page == OWN_PAGE)
        return false;
    return caller->page == OTHER_PAGE || !is_safe;
}

static int refusal_by_right(const struct caller *caller, const struct row *row)
{
    int somewhere = caller->everywhere | caller->in_a | caller->in_b;
    int on_job = rights_on_job(caller);
    switch (row->place) {
    case ANYBODY:
        return 0;
    case SOMEWHERE:
    case TO_EDIT:
        return somewhere & row->right ? 0 : 403;
    case ON_JOB:
        return on_job & row->right ? 0 : 403;
    case ON_NEIGHBOUR:
        return (caller->everywhere | caller->in_b) & row->right ? 0 : 403;
    case ON_RUN:
        return !(somewhere & row->right) ? 403
               : !(on_job & LOOK)        ? 404
               : on_job & row->right     ? 0
                                         : 403;
    case EVERYWHERE:
        return caller->everywhere & row->right ? 0 : 403;
    case ON_TOKEN:
        return !(somewhere & row->right) ? 403 : caller->everywhere & ADMIN ? 0 : 404;
    case BY_SESSION:
        return somewhere & row->right && caller->is_cookie ? 0 : 403;
    case BY_SOCKET:
        return 403;
    }
    return 403;
}

int expected_refusal(const struct caller *caller, const struct row *row, bool is_safe,
                     bool is_method)
{
    bool is_public = is_method && row->place == ANYBODY;
    if (caller->page == OTHER_PAGE && !is_safe)
        return 403; /* before it is asked who it is */
    if (is_public)
        return 0;
    if (!caller->is_known)
        return 401;
    if (is_forged(caller, is_safe))
        return 403;
    return is_method ? refusal_by_right(caller, row) : 405;
}
