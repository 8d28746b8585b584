/* The journal of systemd by its own protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL), in which an
 * event has fields: journalctl PEAL_EVENT=run_lost PEAL_JOB=backup. */
#ifndef PEAL_AGENT_JOURNAL_H
#define PEAL_AGENT_JOURNAL_H

#include <stdbool.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* A socket that leads to the journal which listens at `path`, if `fd` does so as well: `stream`, of
 * $JOURNAL_STREAM, says of which file that is true; NULL: of none. -1: it does not, or nobody
 * listens. */
int journal_connect(const char *path, const char *stream, int fd);

/* Sends an event with its particulars, which have no control characters. False: the journal has not
 * taken it. */
bool journal_send(int journal, const char *event, const char *particulars);

#endif
