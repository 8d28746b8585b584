/* The tokens that `peal login` keeps: for each URL one, in a file that its owner alone can read,
 * tokens.json in peal below $XDG_CONFIG_HOME or ~/.config. */
#ifndef PEAL_KNOWN_TOKENS_H
#define PEAL_KNOWN_TOKENS_H

#include "cli/cli.h"
#include "strbuf.h"

/* Appends the token for this URL; nothing: there is none, or it can't be read. */
void known_token_find(const char *url, struct strbuf *out);

/* The id under which the agent knows it, likewise. */
void known_token_id(const char *url, struct strbuf *out);

/* Keeps it; `token` NULL: forgets it. What is wrong has been told. */
MUST_CHECK enum exit_code known_token_keep(const char *url, const char *token, const char *id);

#endif
