/* The queue of one name in a file: locks on its bytes. Byte 0 is held while a ticket is taken, byte
 * 1 by the holder, and each waiting process holds the byte of its ticket. The kernel releases them
 * when the file is closed, also by the end of the process, and tells who watches the file
 * (IN_CLOSE_WRITE). Only byte 1 is what excludes; tickets are for the order. */
#ifndef PEAL_FILE_QUEUE_H
#define PEAL_FILE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "coord_backend.h"
#include "status.h"
#include "strbuf.h"

struct file_queue {
    int fd; /* -1: not open */
    int64_t ticket;
    struct strbuf path;
};

/* Appends the path of the queue that belongs to a record. */
void file_queue_path(const char *record, struct strbuf *out);

void file_queue_init(struct file_queue *queue, const char *record);
void file_queue_release(struct file_queue *queue); /* leaves it first */

/* E_IO: errno. */
MUST_CHECK enum status file_queue_open(struct file_queue *queue);

/* False: the file was removed or replaced, so that others may have another queue. */
bool file_queue_is_current(const struct file_queue *queue);

/* E_BUSY: another process takes one just now. E_CONFLICT: not current, open it again. E_IO. */
MUST_CHECK enum status file_queue_take_ticket(struct file_queue *queue);

/* Holds it, if all who came before are gone. E_BUSY: not yet. E_IO. */
MUST_CHECK enum status file_queue_hold(struct file_queue *queue);

/* Waits for byte 0 or gives up at once, without a ticket: for short work on the record. */
MUST_CHECK enum status file_queue_enter(struct file_queue *queue);
void file_queue_leave(struct file_queue *queue);

/* How many hold a ticket, the holder among them; *is_held: whether somebody holds. 0: nobody. */
int64_t file_queue_count(const char *record, bool *is_held);

/* ---- the record ---- */

/* Replaces the file; what it says is on the disk when this returns. E_IO, E_NOMEM. */
MUST_CHECK enum status file_record_write(const char *path, const char *text, size_t length);
/* E_NOT_FOUND: there is none. E_IO, E_TOO_LARGE, E_NOMEM. */
MUST_CHECK enum status file_record_read(const char *path, struct strbuf *out);

#endif
