/* Translations of the API's messages. The code has the English ones, as printf formats; message.c
 * has the others. Pure. */
#ifndef PEAL_MESSAGE_H
#define PEAL_MESSAGE_H

#include "language.h"

extern const struct message messages[]; /* ends with {0} */

/* The translation; `english` itself if there is none. */
const char *message_in(enum language language, const char *english) __attribute__((format_arg(2)));

/* From an Accept-Language header, or NULL: English unless Chinese is preferred. */
enum language language_wanted(const char *accept_language);

#endif
