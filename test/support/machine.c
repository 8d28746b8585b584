#include "machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        fprintf(stderr, "a free port: %s\n", strerror(errno));
        abort();
    }
    close(fd);
    return ntohs(address.sin_port);
}

void run_command(const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    if (system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        abort();
    }
}
