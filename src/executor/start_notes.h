/* Notes on unanswered starts: the spawner only reports which step failed; the notes add the folder,
 * user or file to the message. Starts of an earlier agent are not known, and reported without
 * names. */
#ifndef PEAL_START_NOTES_H
#define PEAL_START_NOTES_H

#include "spawn_message.h"
#include "table.h"

struct start_notes {
    struct table by_id;
};

void start_notes_init(struct start_notes *notes);
void start_notes_release(struct start_notes *notes);

/* Out of memory: no note. */
void start_notes_add(struct start_notes *notes, const struct spawn_request *request);

/* The run has ended. */
void start_notes_drop(struct start_notes *notes, const char *id);

/* Writes why the start failed, "no such directory: /srv/app", to `buf`. */
void start_notes_tell(const struct start_notes *notes, const struct spawn_run *run, char *buf,
                      size_t size);

#endif
