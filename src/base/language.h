/* The languages that people are addressed in. Names of fields, states and log events are no words
 * of a language, and the same in all. */
#ifndef PEAL_LANGUAGE_H
#define PEAL_LANGUAGE_H

#include <stddef.h>

enum language { LANGUAGE_EN, LANGUAGE_ZH, LANGUAGES };

/* A text of the code, often a printf format, and its translation, with the same conversions: "%2$s"
 * is the second argument where the translation has another order. */
struct message {
    const char *en, *zh;
};

#endif
