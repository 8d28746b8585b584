/* Titles and texts of messages as people want them, of a channel or of a job: "${job}: ${state}".
 * There is nothing but fields, so that a template can neither fail nor run long. This is how one is
 * read; the notifier fills it in (src/notify/payload/template.h). Pure. */
#ifndef PEAL_MESSAGE_TEMPLATE_H
#define PEAL_MESSAGE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

enum { MESSAGE_TITLE_MAX = 500, MESSAGE_TEXT_MAX = 4096 }; /* bytes */

enum message_field {
    FILL_OWN_TITLE,
    FILL_FACTS,
    FILL_JOB,
    FILL_EVENT,
    FILL_STATE,
    FILL_REASON,
    FILL_DETAIL,
    FILL_TICK,
    FILL_TICKS,
    FILL_STARTED,
    FILL_FINISHED,
    FILL_DURATION,
    FILL_EXIT_CODE,
    FILL_SIGNAL,
    FILL_ATTEMPT,
    FILL_NODE,
    FILL_RUN,
    FILL_OUTPUT,
    FILL_LINK,
    FILL_HELD_BACK,
    FILL_CHANNEL,
    FILL_FIELDS,
};

/* Text up to the next field, and that field; FILL_FIELDS: none follows. */
struct message_piece {
    const char *text;
    size_t length;
    enum message_field field;
    const char *name; /* as it is written; NULL: none is */
    size_t name_length;
    bool is_open; /* it has no end */
};

/* Takes the next piece; returns what is behind it. Of "$$" the text is one "$". */
const char *message_template_take(const char *at, struct message_piece *ret);

/* E_INVALID: *reterr says what is wrong and where, with the nearest field. */
MUST_CHECK enum status message_template_check(const char *text, struct parse_error *reterr);

/* What is wrong with a title, besides its fields; NULL: nothing. */
const char *message_title_complaint(const char *text);

#endif
