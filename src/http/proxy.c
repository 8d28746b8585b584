#include "proxy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static bool read_address(const char *text, size_t length, struct in6_addr *ret, bool *ret_is_v4)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr v4;
    if (length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *ret_is_v4 = inet_pton(AF_INET, copy, &v4) == 1;
    if (!*ret_is_v4)
        return inet_pton(AF_INET6, copy, ret) == 1;
    memset(ret, 0, sizeof(*ret));
    ret->s6_addr[10] = ret->s6_addr[11] = 0xFF;
    memcpy(ret->s6_addr + 12, &v4, sizeof(v4));
    return true;
}

static bool read_net(const char *text, size_t length, struct proxy_net *ret)
{
    bool is_v4;
    const char *slash = memchr(text, '/', length);
    size_t address = slash ? (size_t)(slash - text) : length;
    if (!read_address(text, address, &ret->base, &is_v4))
        return false;
    char *end = NULL;
    long most = is_v4 ? 32 : 128, bits = most;
    if (slash) {
        bits = slash[1] >= '0' && slash[1] <= '9' ? strtol(slash + 1, &end, 10) : -1;
        if (bits < 0 || bits > most || end != text + length)
            return false;
    }
    ret->bits = (int)(bits + 128 - most);
    return true;
}

enum status proxy_list_parse(const char *text, struct proxy_list *ret, struct parse_error *reterr)
{
    struct proxy_list list = {0};
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, ", ");
        if (length) {
            if (array_grow(&list.items, list.count, sizeof(*list.items)) != OK) {
                proxy_list_release(&list);
                return E_NOMEM;
            }
            if (!read_net(at, length, &list.items[list.count++])) {
                proxy_list_release(&list);
                return parse_fail(reterr, (int)(at - text) + 1,
                                  "\"%.*s\" is no address; expected one like 192.0.2.1, "
                                  "10.0.0.0/8 or 2001:db8::/32",
                                  (int)length, at);
            }
        }
        at += length + (at[length] != '\0');
    }
    *ret = list;
    return OK;
}

void proxy_list_release(struct proxy_list *list)
{
    free(list->items);
    *list = (struct proxy_list){0};
}

static bool is_in(const struct proxy_net *net, const struct in6_addr *address)
{
    size_t whole = (size_t)net->bits / 8;
    int rest = net->bits % 8;
    if (memcmp(net->base.s6_addr, address->s6_addr, whole) != 0)
        return false;
    return !rest || (net->base.s6_addr[whole] ^ address->s6_addr[whole]) >> (8 - rest) == 0;
}

static bool is_trusted(const struct proxy_list *list, const char *text, size_t length,
                       bool *ret_is_address)
{
    struct in6_addr address;
    bool is_v4;
    *ret_is_address = read_address(text, length, &address, &is_v4);
    for (size_t i = 0; *ret_is_address && i < list->count; i++) {
        if (is_in(&list->items[i], &address))
            return true;
    }
    return false;
}

bool proxy_is_trusted(const struct proxy_list *list, const char *peer)
{
    bool is_address;
    return is_trusted(list, peer, strlen(peer), &is_address);
}

/* From the right: entries further left come from hosts further away. */
void proxy_client(const struct proxy_list *list, const char *peer, const char *forwarded,
                  char ret[INET6_ADDRSTRLEN])
{
    bool is_address, trusted = is_trusted(list, peer, strlen(peer), &is_address);
    size_t end = forwarded ? strlen(forwarded) : 0;
    snprintf(ret, INET6_ADDRSTRLEN, "%s", peer);
    while (trusted && end) {
        size_t start = end;
        while (start && !strchr(", \t", forwarded[start - 1]))
            start--;
        if (start < end) {
            trusted = is_trusted(list, forwarded + start, end - start, &is_address);
            if (!is_address)
                return;
            snprintf(ret, INET6_ADDRSTRLEN, "%.*s", (int)(end - start), forwarded + start);
        }
        end = start ? start - 1 : 0;
    }
}
