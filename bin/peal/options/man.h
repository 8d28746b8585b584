/* The manual page of a command, from its texts and rows like the help. */
#ifndef PEAL_MAN_H
#define PEAL_MAN_H

#include "cli/commands.h"
#include "strbuf.h"

/* In roff. `command` NULL: of peal itself, with the list of all commands. */
void man_print(const struct command *command, const struct topic *all, struct strbuf *out);

#endif
