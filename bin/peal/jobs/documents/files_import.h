/* Adds what files of peal define, as one that another agent has exported, beside what there is. */
#ifndef PEAL_FILES_IMPORT_H
#define PEAL_FILES_IMPORT_H

#include "client/client.h"

struct files_import {
    const char *path;      /* a file, a folder, or "-" */
    struct client *client; /* NULL: the definitions are only shown, as YAML */
    bool replace;          /* what is there already, and another one */
};

/* Everything is checked before anything is added. EXIT_CONFLICT: there is something else of the
 * same name, which is reported. */
MUST_CHECK enum exit_code files_import(const struct files_import *import);

#endif
