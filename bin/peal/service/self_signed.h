/* A certificate that nobody else has signed, and its key: enough to start with. */
#ifndef PEAL_SELF_SIGNED_H
#define PEAL_SELF_SIGNED_H

#include <stddef.h>

#include "strbuf.h"

/* Writes both as PEM, new files, the key readable by its owner alone. It is for the names and
 * addresses of `hosts`. E_CONFLICT: one of the files is there. E_IO: *why. */
MUST_CHECK enum status self_signed_write(const char *cert_path, const char *key_path,
                                         const char *const *hosts, size_t count,
                                         struct strbuf *why);

#endif
