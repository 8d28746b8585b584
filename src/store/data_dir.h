/* The data folder of an agent, locked for one process at a time, whichever store it uses. */
#ifndef PEAL_DATA_DIR_H
#define PEAL_DATA_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

/* Creates the folder if need be and locks it for this process, with DIR/peal.lock. E_BUSY: *why
 * names the pid of the owner. E_IO: also if others than this user and root may write to the folder.
 * The SQLite store calls this itself. */
MUST_CHECK enum status data_dir_lock(const char *dir, int *ret_fd, struct strbuf *why);
void data_dir_unlock(int fd); /* -1: nothing */

/* The same, together with other processes that do so, and without those that do not. *ret_is_alone:
 * no other one is there, and nobody is let in until data_dir_let_in is called. Waits while another
 * process is alone. E_BUSY: *why names the pid of the owner. */
MUST_CHECK enum status data_dir_share(const char *dir, int *ret_fd, bool *ret_is_alone,
                                      struct strbuf *why);
MUST_CHECK enum status data_dir_let_in(const char *dir, int fd, struct strbuf *why);

/* With less free space nothing new is claimed; running jobs can still end. */
#define DISK_RESERVE_BYTES (16 * 1024 * 1024)

/* Free bytes for this user on the disk of `path`; -1: unknown. */
int64_t disk_free_bytes(const char *path);

#endif
