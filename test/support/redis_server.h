/* A real Redis server for tests and benchmarks: on a loopback port that was free and on a socket,
 * with its data in a folder of its own. It ends with the program, however that ends. */
#ifndef PEAL_REDIS_SERVER_H
#define PEAL_REDIS_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

enum { REDIS_OPTIONS_MAX = 24 };

struct redis_server {
    const char *options[REDIS_OPTIONS_MAX]; /* more of its configuration: "--name", "value", ... */
    pid_t pid;                              /* 0: not running */
    int port;
    char folder[64], socket[80];
    int starts;
};

/* Whether there is a Redis to be run at all. */
bool redis_server_available(void);

/* Fill the options first. It writes each change to its append-only file, as peal needs it, unless
 * the options say otherwise. Waits until it serves; aborts the program with the end of the server's
 * log when that fails. */
void redis_server_start(struct redis_server *server);
void redis_server_remove(struct redis_server *server); /* stops it, removes the folder */

void redis_server_kill(struct redis_server *server); /* -9 */
void redis_server_restart(struct redis_server *server);
void redis_server_pause(struct redis_server *server); /* SIGSTOP */
void redis_server_resume(struct redis_server *server);

/* "redis://127.0.0.1:PORT" and what is to follow. */
void redis_server_url(const struct redis_server *server, const char *more, char url[256]);

/* One command, its words divided by blanks; what it answers, on one line, if `answer` is given. */
void redis_server_tell(const struct redis_server *server, const char *command, char answer[256]);

#endif
