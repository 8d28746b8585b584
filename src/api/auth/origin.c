#include "auth/origin.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80, HTTPS_PORT = 443, PORT_MAX = 65535 };

static bool read_port(const char *text, int *ret)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 5 || text[digits])
        return false;
    long port = strtol(text, NULL, 10);
    *ret = (int)port;
    return port > 0 && port <= PORT_MAX;
}

bool authority_read(const char *text, struct authority *ret)
{
    const char *bracket = *text == '[' ? strchr(text, ']') : NULL;
    struct authority read = {.host = text};
    read.length = bracket ? (size_t)(bracket + 1 - text) : strcspn(text, ":");
    const char *rest = text + read.length;
    if (!read.length || strcspn(text, "/@?#\\ \t,") < strlen(text))
        return false;
    if (*rest == ':' ? !read_port(rest + 1, &read.port) : *rest != '\0')
        return false;
    *ret = read;
    return true;
}

static bool read_address(const struct authority *authority, struct in6_addr *ret)
{
    char text[INET6_ADDRSTRLEN];
    bool is_v6 = authority->length > 2 && *authority->host == '[';
    size_t from = is_v6 ? 1 : 0, length = authority->length - 2 * from;
    if (length >= sizeof(text))
        return false;
    memcpy(text, authority->host + from, length);
    text[length] = '\0';
    memset(ret, 0, sizeof(*ret));
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, text, ret) == 1;
}

bool authority_is_address(const struct authority *authority)
{
    struct in6_addr address;
    return read_address(authority, &address);
}

/* IPv6 addresses can be written in many ways. */
static bool same_host(const struct authority *a, const struct authority *b)
{
    struct in6_addr one, other;
    if (*a->host == '[' && *b->host == '[')
        return read_address(a, &one) && read_address(b, &other) &&
               memcmp(&one, &other, sizeof(one)) == 0;
    return a->length == b->length && strncasecmp(a->host, b->host, a->length) == 0;
}

bool origin_is_own(const char *origin, bool is_secure, const char *host)
{
    const char *scheme = is_secure ? "https://" : "http://";
    int usual = is_secure ? HTTPS_PORT : HTTP_PORT;
    struct authority theirs, ours;
    if (strncasecmp(origin, scheme, strlen(scheme)) != 0 ||
        !authority_read(origin + strlen(scheme), &theirs) || !authority_read(host, &ours))
        return false;
    return same_host(&theirs, &ours) &&
           (theirs.port ? theirs.port : usual) == (ours.port ? ours.port : usual);
}

bool fetch_site_is_own(const char *site)
{
    return strcasecmp(site, "same-origin") == 0 || strcasecmp(site, "none") == 0;
}
