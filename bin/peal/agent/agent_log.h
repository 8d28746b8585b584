/* The agent's log: one line per event, `2026-03-08T07:00:00.123Z event key=value ...`, on stderr,
 * or in a file that can be rotated; or the same as JSON,
 * {"time":"...","event":"...","key":"value"}. Where stderr is the journal of systemd, an event that
 * is not to be JSON is an entry with fields: log/journal.h. */
#ifndef PEAL_AGENT_LOG_H
#define PEAL_AGENT_LOG_H

#include <stdbool.h>

#include "status.h"

struct agent_log;

/* `path` NULL: stderr. */
MUST_CHECK enum status agent_log_open(const char *path, bool is_json, struct agent_log **ret);
struct agent_log *agent_log_close(struct agent_log *log);

/* Reopens the file after a rotation. */
void agent_log_reopen(struct agent_log *log);

/* `context` is the log; fits the engine's port. Control characters become spaces. */
void agent_log_write(void *context, const char *event, const char *particulars);
void agent_log_event(struct agent_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
