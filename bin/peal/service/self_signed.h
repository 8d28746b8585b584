/* Makes a self-signed certificate and its key. */
#ifndef PEAL_SELF_SIGNED_H
#define PEAL_SELF_SIGNED_H

#include <stddef.h>

#include "strbuf.h"

/* Writes both as new PEM files, the key with mode 0600, for the names and addresses of `hosts`.
 * E_CONFLICT: one of the files exists. E_IO: *why. */
MUST_CHECK enum status self_signed_write(const char *cert_path, const char *key_path,
                                         const char *const *hosts, size_t count,
                                         struct strbuf *why);

#endif
