/* The manual page of a command, from its texts and rows like the help. */
#ifndef PEAL_MAN_H
#define PEAL_MAN_H

#include "cli/commands.h"
#include "strbuf.h"

/* In roff. `command` NULL: of peal itself, with the list of all commands. `date` is 2027-01-31. */
void man_print(const struct command *command, const struct topic *all, const char *date,
               struct strbuf *out);

#endif
