/* What starts are about that the spawner has not answered yet: its answer says only which step
 * failed, and people want to read which folder, user or file. A start of an agent before this one
 * is not known here, and told without names. */
#ifndef PEAL_START_NOTES_H
#define PEAL_START_NOTES_H

#include "spawn_message.h"
#include "table.h"

struct start_notes {
    struct table by_id;
};

void start_notes_init(struct start_notes *notes);
void start_notes_release(struct start_notes *notes);

/* Out of memory: it is not noted. */
void start_notes_add(struct start_notes *notes, const struct spawn_request *request);

/* The run has ended. */
void start_notes_drop(struct start_notes *notes, const char *id);

/* Why it failed, "no such directory: /srv/app", into `buf`. */
void start_notes_tell(const struct start_notes *notes, const struct spawn_run *run, char *buf,
                      size_t size);

#endif
