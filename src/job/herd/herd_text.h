/* The text of a schedule with `H` in place of a plain constant. Pure. */
#ifndef PEAL_HERD_TEXT_H
#define PEAL_HERD_TEXT_H

#include <stdbool.h>

#include "strbuf.h"

enum herd_form {
    HERD_MINUTE, /* `0 3 * * *`: `H 3 * * *`, @hourly: `H * * * *`, and a step over `*`: `H/5` */
    HERD_SECOND, /* and the second, too: `H H 3 * * *` */
    HERD_FORMS,
};

/* Appends the schedule in this form. False, and nothing is appended: it has no such constant, or is
 * no cron expression. */
bool herd_text(const char *schedule, enum herd_form form, struct strbuf *out);

#endif
