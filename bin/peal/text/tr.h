/* The language of the command, chosen once at its start, and the translation of its texts. The code
 * has the English texts; the files zh_*.c have the Chinese ones. README.md says how to add one. */
#ifndef PEAL_TR_H
#define PEAL_TR_H

#include <stdbool.h>

#include "language.h"

/* Marks a literal that is translated elsewhere, as in a table of words: it stays as it is. */
#define TR(text) text

/* From PEAL_LANG, else from the locale: LC_ALL, LC_MESSAGES, LANG, the first that is set; LANGUAGE
 * goes before it as in gettext. A locale with another charset than UTF-8 is English. */
enum language language_of_environment(void);

/* Has the locale this charset? Without, drawings are of ASCII characters. */
bool locale_is_utf8(void);

/* "en" or "zh". False: another. */
bool language_by_name(const char *name, enum language *ret);

/* `tables` ends with NULL, and each of them with {0}; both are kept. */
void tr_begin(enum language language, const struct message *const *tables);
void tr_set_language(enum language language);
enum language tr_language(void);

/* The text in the language of the command; `english` itself if there is no translation. */
const char *tr(const char *english) __attribute__((format_arg(1)));

/* The language that the agent is asked for: English once its answers are printed as data. */
enum language tr_language_of_answers(void);
void tr_answers_are_data(void);

#endif
