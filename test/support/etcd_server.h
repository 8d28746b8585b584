/* Real etcd servers for tests and benchmarks: one or several members on loopback ports that were
 * free, with their data in a folder of their own. They end with the program, however it ends. */
#ifndef PEAL_ETCD_SERVER_H
#define PEAL_ETCD_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    ETCD_MEMBERS_MAX = 3,
    ETCD_ARGUMENTS_MAX = 12,
};

struct etcd_member {
    pid_t pid; /* 0: not running */
    int client_port, peer_port;
    char endpoint[64]; /* "http://127.0.0.1:PORT" */
    int starts;
};

struct etcd_cluster {
    struct etcd_member members[ETCD_MEMBERS_MAX];
    int count;
    char folder[64];
    const char *arguments[ETCD_ARGUMENTS_MAX + 1]; /* more of them, NULL at the end; borrowed */
    bool is_durable;                               /* writes really reach the disk */
    bool is_tls;                                   /* the arguments name the certificates */
    const char *endpoints[ETCD_MEMBERS_MAX];
};

/* Whether there is an etcd to be run at all. */
bool etcd_cluster_available(void);

/* Fill count, arguments and the flags first. Waits until all members serve; aborts the program with
 * the end of a server's log when that fails. */
void etcd_cluster_start(struct etcd_cluster *cluster);
void etcd_cluster_remove(struct etcd_cluster *cluster); /* kills them, removes the folder */

void etcd_member_kill(struct etcd_cluster *cluster, int index); /* -9 */
/* With the same data, on the same ports. Waits until it serves, unless told not to. */
void etcd_member_restart(struct etcd_cluster *cluster, int index, bool wait);
void etcd_member_signal(struct etcd_cluster *cluster, int index, int signal);

#endif
