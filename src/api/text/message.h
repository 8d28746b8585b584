/* Translations of the API's messages. The code has the English ones, as printf formats; message.c
 * and message_why.c have the others. Pure. */
#ifndef PEAL_MESSAGE_H
#define PEAL_MESSAGE_H

#include "language.h"

extern const struct message messages[], why_messages[]; /* end with {0}; no text is in both */

/* The translation; `english` itself if there is none. */
const char *message_in(enum language language, const char *english) __attribute__((format_arg(2)));

/* From an Accept-Language header, or NULL: English unless Chinese is preferred. */
enum language language_wanted(const char *accept_language);

#endif
