/* A real PostgreSQL server for tests and benchmarks: on a loopback port that was free and on a
 * socket, with its data in a folder of its own. It ends with the program, however that ends. */
#ifndef PEAL_POSTGRES_SERVER_H
#define PEAL_POSTGRES_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#define POSTGRES_USER     "peal"
#define POSTGRES_PASSWORD "correct horse"

struct postgres_server {
    bool is_durable; /* writes really reach the disk */
    pid_t pid;       /* 0: not running */
    int port;
    char folder[64];
    int starts;
};

/* Whether there is a PostgreSQL to be run at all. */
bool postgres_server_available(void);

/* Fill is_durable first. Waits until it serves; aborts the program with the end of the server's log
 * when that fails. */
void postgres_server_start(struct postgres_server *server);
void postgres_server_remove(struct postgres_server *server); /* stops it, removes the folder */

void postgres_server_stop(struct postgres_server *server); /* at once, but in order */
void postgres_server_kill(struct postgres_server *server); /* -9, with all its processes */
void postgres_server_restart(struct postgres_server *server);
void postgres_server_pause(struct postgres_server *server); /* SIGSTOP to all its processes */
void postgres_server_resume(struct postgres_server *server);

/* "postgresql://USER:PASSWORD@127.0.0.1:PORT/postgres?" and what is to follow. */
void postgres_server_url(const struct postgres_server *server, const char *more, char url[256]);

#endif
