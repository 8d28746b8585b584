/* The help of a command, laid out from its texts and rows. */
#ifndef PEAL_HELP_H
#define PEAL_HELP_H

#include "cli/cli.h"
#include "strbuf.h"

/* `parent` is the command that this one is below, or NULL. */
void help_print(const struct command *command, const struct command *parent, struct strbuf *out);

/* The ways to call it, a line each, without "peal": "run NAME [options]". */
void help_usage(const struct command *command, struct strbuf *out);

/* "-n, --count N". */
void help_option(const struct option_row *row, struct strbuf *out);

/* The row is the command's own: it has none in common with all commands below its parent. */
bool help_is_own(const struct command *command, const struct command *parent,
                 const struct option_row *row);

#endif
