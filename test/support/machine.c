#include "machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Not one of those that the kernel gives to clients: one could take it while its server is down. */
enum { FIRST_PORT = 10000, PORTS = 10000 };

static bool is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        fprintf(stderr, "a free port: %s\n", strerror(errno));
        abort();
    }
    bool is_bound = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_bound;
}

int free_port(void)
{
    for (int i = 0; i < PORTS; i++) {
        unsigned random;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            break;
        int port = FIRST_PORT + (int)(random % PORTS);
        if (is_free(port))
            return port;
    }
    fprintf(stderr, "no free port\n");
    abort();
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
