/* The file in which a run hands over values: spawn_record.h says what it is. */
#ifndef PEAL_SPAWNER_VALUES_H
#define PEAL_SPAWNER_VALUES_H

#include "process/user.h"
#include "spawn_record.h"

#define VALUES_TEXT 64

/* A new, empty file of the run, which belongs to its user; in place of one that an earlier attempt
 * to start it has left. Returns a descriptor above SPAWN_VALUES_FD; -1: errno. */
int values_make(int folder_fd, const char *id, const struct user_ids *user);

/* The variable with the file's name, which lacks the pid: that is known to the new process only. */
void values_text(char text[VALUES_TEXT]);

/* Completes it, in place. Called by the new process: child.h. */
void values_complete(char *text, long pid);

#endif
