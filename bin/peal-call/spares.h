/* Empty output files that are used again. A call's output is a small file that lives for a moment;
 * to make and remove thousands of them each second costs a file system more than the calls
 * themselves (ext4 looks for an inode past all that were freed in the last minute). So the agent
 * empties the file of a call and puts it here (spawn_output_recycle), and the next call takes it.
 */
#ifndef PEAL_CALLER_SPARES_H
#define PEAL_CALLER_SPARES_H

#include <stdint.h>

#include "spawn_record.h"

enum { SPARES_KNOWN = 512, SPARES_MAX = 8192 };

struct spares {
    int folder_fd; /* -1: there are none */
    int64_t looked_boot_ms;
    unsigned count; /* of the names */
    char names[SPARES_KNOWN][SPAWN_OUTPUT_NAME_MAX];
};

/* In the folder of output files. Without the folder there are no spares. */
void spares_open(struct spares *spares, int output_fd);

/* Gives a spare file, if there is one, the name of the call's output. Returns how many bytes it
 * has: 0 if there is none. */
unsigned spares_take(struct spares *spares, int output_fd, const char *id, int64_t now_boot_ms);

#endif
