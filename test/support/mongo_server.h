/* A real server of MongoDB's protocol for tests and benchmarks: mongod if the machine has one, else
 * the FerretDB that tools/ferretdb.sh built. On a loopback port that was free, with its data in a
 * folder of its own. It ends with the program, however that ends. */
#ifndef PEAL_MONGO_SERVER_H
#define PEAL_MONGO_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MONGO_USER     "peal"
#define MONGO_PASSWORD "correct horse"

struct mongo_server {
    const char *cert_file, *key_file; /* over TLS, if they are given: one file each, in PEM */
    pid_t pid;                        /* 0: not running */
    int port;
    char folder[64];
    bool is_mongod; /* else it is FerretDB */
    bool has_users; /* it wants to see MONGO_USER's password */
};

/* Whether there is a server to be run at all. */
bool mongo_server_available(void);

/* The rest is zero. Waits until it serves; aborts the program with the end of the server's log when
 * that fails. */
void mongo_server_start(struct mongo_server *server);
void mongo_server_remove(struct mongo_server *server); /* stops it, removes the folder */

void mongo_server_stop(struct mongo_server *server);
void mongo_server_kill(struct mongo_server *server); /* -9 */
void mongo_server_restart(struct mongo_server *server);
void mongo_server_pause(struct mongo_server *server); /* SIGSTOP */
void mongo_server_resume(struct mongo_server *server);

/* "mongodb://USER:PASSWORD@127.0.0.1:PORT/DATABASE?" and what is to follow. */
void mongo_server_url(const struct mongo_server *server, const char *database, const char *more,
                      char url[512]);

#endif
