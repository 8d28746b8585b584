/* The secrets that a node knows: documents of the store, from the feed, and the files of a folder.
 * Of two with the same name the file is used: the owner of the machine decides. Values are
 * decrypted, and files and keys read, when a run needs them, and wiped then. */
#ifndef PEAL_SECRETS_H
#define PEAL_SECRETS_H

#include "secret_doc.h"
#include "table.h"

struct known_secrets;

/* Either may be NULL: there is none. */
MUST_CHECK enum status secrets_new(const char *folder, const char *key_file,
                                   struct known_secrets **ret);
struct known_secrets *secrets_free(struct known_secrets *secrets); /* accepts NULL; returns NULL */

/* Takes in a change of the feed. */
void secrets_take(struct known_secrets *secrets, const struct store_change *change);

/* struct secret, by name. */
const struct table *secrets_all(const struct known_secrets *secrets);
const struct secret *secrets_find(const struct known_secrets *secrets, const char *name);

/* The key file's path; NULL: none. */
const char *secrets_key_file(const struct known_secrets *secrets);

/* The value of the secret that the job names so, a text on the heap: wipe it. Anything but OK and
 * E_NOMEM: *why says which secret is missing, may not be used or can't be read, and why. */
MUST_CHECK enum status secrets_value(const struct known_secrets *secrets, const char *job_name,
                                     const char *name, char **ret, struct strbuf *why);

/* Is there one of that name for the job, as far as it is seen without reading values? */
bool secrets_has(const struct known_secrets *secrets, const char *job_name, const char *name);

#endif
