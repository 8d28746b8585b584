/* The tokens of `peal login`, one per URL, in peal/tokens.json (mode 0600) below $XDG_CONFIG_HOME
 * or ~/.config. */
#ifndef PEAL_KNOWN_TOKENS_H
#define PEAL_KNOWN_TOKENS_H

#include "cli/cli.h"
#include "strbuf.h"

/* Appends the token for this URL; nothing if there is none, or it can't be read. */
void known_token_find(const char *url, struct strbuf *out);

/* The token's id, likewise. */
void known_token_id(const char *url, struct strbuf *out);

/* Stores the token; `token` NULL: removes it. Errors are reported. */
MUST_CHECK enum exit_code known_token_keep(const char *url, const char *token, const char *id);

#endif
