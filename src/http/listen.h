/* Where the API listens: addresses as people write them, and sockets for them. */
#ifndef PEAL_LISTEN_H
#define PEAL_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "strbuf.h"

enum { LISTEN_DEFAULT_PORT = 7325 };

struct listen_address {
    struct sockaddr_storage address;
    socklen_t length;
    bool is_loopback; /* nobody from elsewhere can reach it */
};

/* ADDR, ADDR:PORT, [V6]:PORT, or localhost for ADDR. Names are not resolved: a listening address
 * must not change with DNS. E_INVALID: *why says what is expected. */
MUST_CHECK enum status listen_parse(const char *text, struct listen_address *ret,
                                    struct strbuf *why);

/* The same with another default port than the API's. */
MUST_CHECK enum status listen_parse_for(int default_port, const char *text,
                                        struct listen_address *ret, struct strbuf *why);

int listen_port(const struct listen_address *address);

/* Not blocking, closed on exec, listening. E_IO: *why says why not. */
MUST_CHECK enum status listen_tcp(const struct listen_address *address, const char *text,
                                  int *ret_fd, struct strbuf *why);

/* A UNIX socket of mode 0600; the stale socket of a killed agent is replaced. E_INVALID, E_BUSY
 * (another agent serves it), E_IO: *why. */
MUST_CHECK enum status listen_unix(const char *path, int *ret_fd, struct strbuf *why);

#endif
