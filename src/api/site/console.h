/* The files of the web console, packed by the build (web/); none in a build without the console. */
#ifndef PEAL_CONSOLE_H
#define PEAL_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct console_file {
    const char *path; /* "/", "/assets/index-3f9c2b1a.js" */
    const char *type;
    const char *tag; /* its ETag, with the quotes */
    const unsigned char *gzip;
    size_t gzip_length, length;
    bool is_hashed; /* the path contains a hash of the content */
};

extern const struct console_file console_files[];
extern const size_t console_file_count;

#endif
