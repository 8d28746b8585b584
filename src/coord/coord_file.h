/* coord.h for the processes of one machine: files in a folder, held by locks of the kernel, which
 * lets go of them when their process ends, however it ends. A paused holder keeps what it holds.
 *
 *     FOLDER/locks/NAME          the last holder and its fence; replaced as a whole, and synced
 *     FOLDER/locks/NAME~queue    byte locks: one for who holds, one per place in the queue
 *     FOLDER/elections/...       the same
 *     FOLDER/select/NAME         the chosen one, until when, and of which boot that time is
 *
 * Whoever can write the folder can break all of it: it should be the user's own. */
#ifndef PEAL_COORD_FILE_H
#define PEAL_COORD_FILE_H

#include "coord.h"
#include "loop.h"
#include "strbuf.h"

/* Makes the folder and what is below it. `timeout_ms`: how long a queue may be blocked by a process
 * that was stopped while it entered. E_IO: *why names folder and reason. */
MUST_CHECK enum status coord_file_open(struct loop *loop, const char *folder, int64_t timeout_ms,
                                       struct coord **ret, struct strbuf *why);

#endif
