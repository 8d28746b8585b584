/* The data folder: an agent's files, by which commands also find the agent. */
#ifndef PEAL_DATA_FOLDER_H
#define PEAL_DATA_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "status.h"
#include "strbuf.h"

/* Appends the path of the folder: `option` (--data) if it is not NULL, else $PEAL_DATA, else
 * /var/lib/peal for root, else peal below $XDG_STATE_HOME or ~/.local/state. Always absolute. */
MUST_CHECK enum status data_folder_find(const char *option, struct strbuf *out);

/* Does it belong to another user, without access for this one? */
bool data_folder_is_closed(const char *folder);

/* Creates it with mode 0700, and its parents. E_IO: errno. */
MUST_CHECK enum status data_folder_make(const char *folder);

/* FOLDER/NAME as a new string; NULL: out of memory. */
char *data_folder_file(const char *folder, const char *name);

/* The node's id: from FOLDER/node, else `wanted`, or if that is empty made of the host name and a
 * few random letters. E_CONFLICT: the folder has another id than the wanted one, which is in
 * `node`. Once written it never changes. */
MUST_CHECK enum status data_folder_node(const char *folder, const char *wanted, char node[64]);
MUST_CHECK enum status data_folder_write_node(const char *folder, const char *node);

/* The URL of the "store" or the "history" that the agent of this folder used last, or its
 * "setup-link"; NULL: not known. The default of the next start. */
char *data_folder_recall(const char *folder, const char *what);
MUST_CHECK enum status data_folder_remember(const char *folder, const char *what, const char *url);

/* The content of a small file; NULL: no such file, or out of memory. */
char *data_folder_read(const char *folder, const char *name);
MUST_CHECK enum status data_folder_write(const char *folder, const char *name, const char *text);

/* A number that identifies this folder on this machine. */
uint64_t data_folder_home(const char *folder);

/* The pid file of the folder's agent; 0: none is running. */
MUST_CHECK enum status data_folder_write_pid(const char *folder);
pid_t data_folder_pid(const char *folder);
void data_folder_remove_pid(const char *folder);

#endif
