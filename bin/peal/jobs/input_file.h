/* Text that the user hands over as a file. */
#ifndef PEAL_INPUT_FILE_H
#define PEAL_INPUT_FILE_H

#include "cli/cli.h"
#include "strbuf.h"

/* Appends the text of a file, or of stdin where `path` is "-", without a byte order mark. What is
 * missing, a directory, larger than 10 MB or not text (has a NUL) is refused, which has been
 * reported; *out is then unchanged. */
MUST_CHECK enum exit_code input_file_read(const char *path, struct strbuf *out);

#endif
