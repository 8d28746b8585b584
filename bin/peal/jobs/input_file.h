/* Reads files given by the user. */
#ifndef PEAL_INPUT_FILE_H
#define PEAL_INPUT_FILE_H

#include "cli/cli.h"
#include "strbuf.h"

/* Appends the text of a file, or of stdin where `path` is "-", without a byte order mark. A missing
 * file, a directory, more than 10 MB or a NUL byte is an error, which has been reported; *out is
 * unchanged. */
MUST_CHECK enum exit_code input_file_read(const char *path, struct strbuf *out);

/* Appends the bytes of a file, or of stdin; more than `most`, less than 10 MB, is an error. */
MUST_CHECK enum exit_code input_bytes_read(const char *path, size_t most, struct strbuf *out);

#endif
