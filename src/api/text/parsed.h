/* Translation of what the parsers of schedules, jobs, calendars and crontabs say (parse_error,
 * job_error), and of why an agent does not start. They write English messages with their arguments
 * in them; the row of a table is found by its English format. Pure. */
#ifndef PEAL_PARSED_H
#define PEAL_PARSED_H

#include <stdbool.h>

#include "language.h"
#include "strbuf.h"

/* The tables end with {0}. The English formats are the parsers'. The Chinese ones have %s for each
 * of their conversions; "%2$s" is the second conversion. */
extern const struct message parsed_wrappings[]; /* around another message */
extern const struct message parsed_messages[];
extern const struct message started_messages[];
extern const struct message foreign_messages[];
extern const struct message history_messages[];
extern const struct message parsed_complaints[]; /* a name, and a message about it */
extern const struct message parsed_words[];      /* only as a part of a message */

/* Appends the translation; false: there is none, and `english` itself is appended. */
bool message_translate(enum language language, const char *english, struct strbuf *out);

#endif
