/* -o: the output formats of a command. */
#ifndef PEAL_OUTPUT_H
#define PEAL_OUTPUT_H

#include <jansson.h>

#include "cli/cli.h"
#include "strbuf.h"

enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_NAME };

/* -o as an option row; the text lists the command's formats. */
extern const char *const output_words[];
#define OPTION_OUTPUT(of, member, text)                                                            \
    OPTION_CHOICE(of, member, 'o', "output", "F", output_words, text)
#define OUTPUT_SHORT_TEXT "table (default), json or yaml"
#define OUTPUT_TEXT       "table (default), wide, json, yaml or name"

/* Appends a value as a document of YAML. */
MUST_CHECK enum status output_yaml(const json_t *value, struct strbuf *out);

/* Prints a value as JSON or YAML. */
MUST_CHECK enum exit_code output_print(const json_t *value, enum output output);

#define YES_TEXT        "no confirmation (asked for on a terminal only)"
#define DELETE_YES_TEXT "no confirmation; needed where there is no terminal to ask on"

/* Asks on a terminal; elsewhere, and with `yes`, returns true without asking. */
bool confirmed(bool yes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Asks before a deletion; without a terminal `yes` is wanted. EXIT_ERROR: no; EXIT_USAGE: nobody
 * could be asked. Both are reported. */
MUST_CHECK enum exit_code confirm_deletion(bool yes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
