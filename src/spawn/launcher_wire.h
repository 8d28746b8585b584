/* The protocol between an agent and its launcher (bin/peal-spawn/launcher.c), on a SOCK_SEQPACKET
 * socket that is the launcher's standard input. One request at a time, with one answer each; a late
 * answer to a request that timed out is recognised by its serial. */
#ifndef PEAL_LAUNCHER_WIRE_H
#define PEAL_LAUNCHER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum launcher_question {
    LAUNCHER_START = 1, /* a spawner; the answer has a pidfd of the process that starts it */
    LAUNCHER_DESCENT,   /* of the process that connected to the passed socket; enum descent */
    LAUNCHER_CALL,      /* as START: peal-call, in the folder beside the spawner's */
};

struct launcher_request {
    uint32_t serial;
    uint32_t question;
    int32_t spawner; /* DESCENT: pid of the running spawner; 0: none */
    uint32_t zero;
};

struct launcher_answer {
    uint32_t serial;
    int32_t result; /* 0 or more; negative: an errno */
};

/* Sends a packet, with a descriptor unless that is -1. False: errno. */
bool launcher_send(int socket, const void *packet, size_t length, int fd);

/* The length of the packet, 0 at the end, -1 and errno. *ret_fd is the caller's to close; -1: none
 * came along. */
ssize_t launcher_receive(int socket, void *packet, size_t length, int *ret_fd);

#endif
