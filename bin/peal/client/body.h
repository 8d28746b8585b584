/* Builds the body of a request from the command line: rows whose `field` is a member of a JSON
 * document. */
#ifndef PEAL_BODY_H
#define PEAL_BODY_H

#include <jansson.h>

#include "cli/cli.h"

/* As take_list; each text is a comma-separated list. */
bool take_commas(const struct option_use *use);

/* Sets the members of all given rows: texts, true for a flag, lists, and objects for pairs. Errors
 * are reported. */
MUST_CHECK enum exit_code body_fill(json_t *body, const struct option_row *rows,
                                    const void *request);

#endif
