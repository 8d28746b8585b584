/* An etcd for a test that is a script: starts COUNT members on free loopback ports, says where they
 * listen, and does to them what it is told until its input ends.
 *
 *     etcd_members COUNT [ARGUMENT...]    more of them for etcd; --cert-file=FILE: over TLS
 *     > 127.0.0.1:2379,127.0.0.1:2380,127.0.0.1:2381
 *     < kill 0     with -9
 *     < start 0    with the same data on the same port; does not wait until it serves
 *     < stop 0     SIGSTOP
 *     < cont 0     SIGCONT
 *     > done       after each
 *
 * The members end with it, however it ends, and it ends with the script. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "etcd_server.h"

enum { EXIT_USAGE = 2, EXIT_SKIPPED = 77 };

static void on_term(int signal)
{
    (void)signal; /* the call that waits for orders is interrupted */
}

static bool obey(struct etcd_cluster *cluster, const char *order, int index)
{
    if (index < 0 || index >= cluster->count)
        return false;
    if (strcmp(order, "kill") == 0)
        etcd_member_kill(cluster, index);
    else if (strcmp(order, "start") == 0)
        etcd_member_restart(cluster, index, false);
    else if (strcmp(order, "stop") == 0)
        etcd_member_signal(cluster, index, SIGSTOP);
    else if (strcmp(order, "cont") == 0)
        etcd_member_signal(cluster, index, SIGCONT);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    struct etcd_cluster cluster = {.count = argc > 1 ? atoi(argv[1]) : 0};
    char line[64], order[16];
    int index;
    if (cluster.count < 1 || cluster.count > ETCD_MEMBERS_MAX || argc - 2 > ETCD_ARGUMENTS_MAX) {
        fprintf(stderr, "usage: etcd_members COUNT [ARGUMENT...], 1 to %d\n", ETCD_MEMBERS_MAX);
        return EXIT_USAGE;
    }
    for (int i = 2; i < argc; i++) {
        cluster.arguments[i - 2] = argv[i];
        cluster.is_tls |= strncmp(argv[i], "--cert-file=", strlen("--cert-file=")) == 0;
    }
    if (!etcd_cluster_available()) {
        printf("there is no etcd here; Debian has it in etcd-server\n");
        return EXIT_SKIPPED;
    }
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    etcd_cluster_start(&cluster);
    for (int i = 0; i < cluster.count; i++)
        printf("%s127.0.0.1:%d", i ? "," : "", cluster.members[i].client_port);
    printf("\n");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (sscanf(line, "%15s %d", order, &index) != 2 || !obey(&cluster, order, index))
            printf("not understood\n");
        else
            printf("done\n");
        fflush(stdout);
    }
    etcd_cluster_remove(&cluster);
    return 0;
}
