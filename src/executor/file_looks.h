/* Looks at the files that runs are expected to leave. Whether a file may be seen is for the user of
 * the run to find out, not for the agent: `stat` is started as that user, like a run of the job, by
 * the spawner. Its id is the run's with "-file" behind it, so that a look is made once, and is
 * known to the next agent. */
#ifndef PEAL_FILE_LOOKS_H
#define PEAL_FILE_LOOKS_H

#include "executor.h"
#include "spawn_message.h"
#include "table.h"

struct file_looks {
    struct table by_run;
    size_t due; /* ends that are to be told, with their files */
};

void file_looks_init(struct file_looks *looks);
void file_looks_release(struct file_looks *looks);

enum { FILE_LOOK_ID = SPAWN_ID_MAX + 1 };
void file_look_id(const struct id *run_id, char id[FILE_LOOK_ID]);
/* Is it the id of a look? Then *ret is the run's. */
bool file_look_is(const char *id, struct id *ret);

/* Keeps the end. *ret_is_known: the file was looked at, and the end is due; else the look is to be
 * started. E_NOMEM. */
MUST_CHECK enum status file_looks_ask(struct file_looks *looks, const struct id *run_id,
                                      const struct run *end, bool *ret_is_known);

/* The start of a look; argv and variables are static, but for the path. */
struct file_look_start {
    char *argv[7];
    char *variables[3];
};
void file_look_fill(struct file_look_start *start, const char *path, struct spawn_request *request);

/* A look has ended; its output is in the spawner's folder. Out of memory: the spawner tells it
 * again with the next connection. */
void file_looks_answer(struct file_looks *looks, const char *folder, const struct id *run_id,
                       const struct spawn_run *known);

/* The next end that is due. */
bool file_looks_next(struct file_looks *looks, struct executor_event *ret);

/* Forgets the look of a run; false: there was none. */
bool file_looks_drop(struct file_looks *looks, const struct id *run_id);
/* The next look that nobody asks for, as its run is gone; false: none. */
bool file_looks_stray(const struct file_looks *looks, struct id *ret);

#endif
