#include "descent.h"

#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hash.h"
#include "proc.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum { TRIES = 16, GENERATIONS_MAX = 4096 };

void spawn_tag(const char *folder, char ret[SPAWN_TAG_SIZE])
{
    snprintf(ret, SPAWN_TAG_SIZE, "%016" PRIx64, hash_text(0, folder));
}

static bool is_marked(pid_t pid, const struct lineage *lineage)
{
    char variable[64], cgroup[64];
    snprintf(variable, sizeof(variable), SPAWN_TAG_MARK "=%s", lineage->tag);
    snprintf(cgroup, sizeof(cgroup), "/peal-%s", lineage->tag);
    return proc_has(pid, "environ", variable) || proc_has(pid, "cgroup", cgroup);
}

/* False: the tree changed during the walk, the result is unknown.
 *
 * A child with the same parent before and after the parent was read had it all the time: so the
 * parent, not a process that reused its pid, was read. */
static bool walk(pid_t pid, const struct lineage *lineage, enum descent *ret)
{
    struct proc_stat here, again, above;
    *ret = DESCENT_UNKNOWN;
    if (!proc_stat(pid, &here))
        return true;
    for (int i = 0; i < GENERATIONS_MAX; i++) {
        bool is_run = pid == lineage->spawner || is_marked(pid, lineage);
        bool is_there = here.parent > 0 && proc_stat(here.parent, &above);
        if (!proc_stat(pid, &again) || again.start_ticks != here.start_ticks ||
            again.parent != here.parent)
            return false;
        if (is_run || !is_there) {
            *ret = is_run ? DESCENT_RUN : DESCENT_NONE;
            return true;
        }
        pid = here.parent;
        here = above;
    }
    return true;
}

enum descent descent_of(pid_t pid, const struct lineage *lineage)
{
    enum descent descent = DESCENT_UNKNOWN;
    for (int i = 0; i < TRIES; i++) {
        if (walk(pid, lineage, &descent))
            return descent;
    }
    return DESCENT_UNKNOWN;
}

static bool has_ended(int pidfd)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return poll(&end, 1, 0) != 0;
}

/* -1: the kernel does not know, or it has ended. */
static int open_peer(int fd, pid_t pid)
{
    int pidfd;
    socklen_t size = sizeof(pidfd);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
        return pidfd;
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

enum descent descent_of_peer(int fd, const struct lineage *lineage)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return DESCENT_UNKNOWN;
    if (peer.pid == 0) /* outside of our pid namespace, which no process inside can leave */
        return DESCENT_NONE;
    int pidfd = open_peer(fd, peer.pid);
    if (pidfd < 0)
        return DESCENT_UNKNOWN;
    enum descent descent = descent_of(peer.pid, lineage);
    if (has_ended(pidfd)) /* then its pid may have been reused */
        descent = DESCENT_UNKNOWN;
    close(pidfd);
    return descent;
}
