#include "launcher_wire.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool launcher_send(int socket, const void *packet, size_t length, int fd)
{
    union control control = {0};
    struct iovec part = {(void *)packet, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)length;
}

ssize_t launcher_receive(int socket, void *packet, size_t length, int *ret_fd)
{
    union control control = {0};
    struct iovec part = {packet, length};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    *ret_fd = -1;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *rights = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
        rights->cmsg_len == CMSG_LEN(sizeof(*ret_fd)))
        memcpy(ret_fd, CMSG_DATA(rights), sizeof(*ret_fd));
    return got;
}
