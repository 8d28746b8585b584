/* Files as they are in a revision of their git repository, by the program git. */
#ifndef PEAL_GIT_FILES_H
#define PEAL_GIT_FILES_H

#include "cli/cli.h"
#include "strbuf.h"

/* Gets each file, as REVISION:NAME; may take its text over. */
typedef enum exit_code git_file_read(void *context, const char *name, struct strbuf *text);

/* `path` is a file, or a folder of the work tree, of whose files in that revision those that
 * `is_wanted` are read. One that the revision does not have is no mistake. What is wrong is
 * reported. */
MUST_CHECK enum exit_code git_files_read(const char *revision, const char *path,
                                         bool (*is_wanted)(const char *name), git_file_read *read,
                                         void *context);

#endif
