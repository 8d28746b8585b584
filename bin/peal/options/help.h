/* Formats the help of a command from its texts and rows. */
#ifndef PEAL_HELP_H
#define PEAL_HELP_H

#include "cli/cli.h"
#include "strbuf.h"

/* `parent` is the parent command, or NULL. */
void help_print(const struct command *command, const struct command *parent, struct strbuf *out);

/* The usage lines without "peal": "run NAME [options]". */
void help_usage(const struct command *command, struct strbuf *out);

/* "-n, --count N". */
void help_option(const struct option_row *row, struct strbuf *out);

/* Is the row the command's own, not one of its parent's? */
bool help_is_own(const struct command *command, const struct command *parent,
                 const struct option_row *row);

#endif
