/* Replaces the packed files in a build without the console. */
#include "site/console.h"

const struct console_file console_files[] = {{.path = ""}};
const size_t console_file_count = 0;
