/* Secrets of channels in files. A file has none: where the agent shows asterisks, it has a
 * reference to an environment variable or to a file, {env: NAME} or {file: PATH}. What is not there
 * when the file is applied stays as the agent has it. */
#ifndef PEAL_CHANNEL_SECRETS_H
#define PEAL_CHANNEL_SECRETS_H

#include <jansson.h>

#include "definition/job_codec.h"
#include "strbuf.h"

/* Puts values in place of the references of a channel. What has none becomes a mask, but a URL is
 * taken out; each of those is in *ret_holes by its pointer, as it was. `folder`:
 * where relative paths begin; NULL: nothing is looked up. E_INVALID: *reterr. */
MUST_CHECK enum status channel_secrets_take(json_t *channel, const char *folder, json_t **ret_holes,
                                            struct job_error *reterr);

/* Where the value was looked for: "environment variable NAME"; nothing for a mask. */
void channel_hole_words(const json_t *hole, struct strbuf *out);

/* Puts the references back. E_NOMEM. */
MUST_CHECK enum status channel_secrets_restore(json_t *channel, const json_t *holes);

/* A copy in which each hole has a value that is none, so that the rest can be checked. */
json_t *channel_secrets_fill(const json_t *channel, const json_t *holes);

/* Puts references in place of the masks that an agent shows: {env: PEAL_CHANNEL_OPS_URL}. Their
 * names are added to `used`, an object, and are not those that it has already. E_NOMEM. */
MUST_CHECK enum status channel_secrets_refer(json_t *channel, const char *name, json_t *used);

/* The options of `peal channel set` that give the secret at this pointer: "--hook-file FILE". */
const char *channel_secret_option(const json_t *channel, const char *pointer);

#endif
