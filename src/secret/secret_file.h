/* Secrets in a folder of the machine: a file has the value, its name is that of the secret, and
 * namespaces are folders. A last newline is not part of the value. Folder and files belong to root
 * or to the user of this process; nobody else may write the folder, or read or write the file. */
#ifndef PEAL_SECRET_FILE_H
#define PEAL_SECRET_FILE_H

#include "status.h"
#include "strbuf.h"

/* *ret is a text on the heap: wipe it. E_NOT_FOUND: there is no such file. E_INVALID, E_IO: *why
 * says what is wrong. */
MUST_CHECK enum status secret_file_read(const char *folder, const char *name, char **ret,
                                        size_t *ret_length, struct strbuf *why);

#endif
