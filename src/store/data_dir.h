/* The data folder of an agent: one process at a time has it, whichever store it uses. */
#ifndef PEAL_DATA_DIR_H
#define PEAL_DATA_DIR_H

#include <stdint.h>

#include "strbuf.h"

/* Makes the folder if need be and locks it for this process, by DIR/peal.lock. E_BUSY (*why names
 * the pid that has it), E_IO: also if anybody but this user and root may write to the folder. The
 * SQLite store does it by itself. */
MUST_CHECK enum status data_dir_lock(const char *dir, int *ret_fd, struct strbuf *why);
void data_dir_unlock(int fd); /* -1: nothing */

/* Free bytes for this user where `path` is; -1: can't tell. */
int64_t disk_free_bytes(const char *path);

#endif
