#include "call_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char at[16];
    unsigned bits; /* 32 or 128; 0: neither IPv4 nor IPv6 */
};

static struct bytes bytes_of(const struct sockaddr *address)
{
    struct bytes bytes = {.bits = 0};
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        memcpy(bytes.at, &v4->sin_addr, 4);
        bytes.bits = 32;
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        memcpy(bytes.at, &v6->sin6_addr, 16);
        bytes.bits = 128;
    }
    return bytes;
}

static bool begins_with(const struct bytes *bytes, const unsigned char *prefix, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(bytes->at, prefix, whole) != 0)
        return false;
    unsigned mask = 0xff00u >> rest & 0xff;
    return !rest || ((bytes->at[whole] ^ prefix[whole]) & mask) == 0;
}

struct block {
    unsigned char prefix[16];
    unsigned bits;
    const char *kind;
};

static const struct block blocks_v4[] = {
    {{0}, 8, "unspecified"},
    {{10}, 8, "private"},
    {{100, 64}, 10, "shared (carrier-grade NAT)"},
    {{127}, 8, "loopback"},
    {{169, 254}, 16, "link-local (metadata)"},
    {{172, 16}, 12, "private"},
    {{192, 0, 0}, 24, "reserved"},
    {{192, 0, 2}, 24, "reserved"},
    {{192, 88, 99}, 24, "reserved"},
    {{192, 168}, 16, "private"},
    {{198, 18}, 15, "reserved"},
    {{198, 51, 100}, 24, "reserved"},
    {{203, 0, 113}, 24, "reserved"},
    {{168, 63, 129, 16}, 32, "metadata"}, /* of Azure: a public address, but not of the Internet */
    {{224}, 4, "multicast"},
    {{240}, 4, "reserved"}, /* and broadcast */
};

static const struct block blocks_v6[] = {
    {{0}, 128, "unspecified"},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback"},
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, "translated"}, /* NAT64 of the local network */
    {{0x01}, 64, "reserved"},                                 /* discard */
    {{0x20, 0x01, 0x00}, 23, "reserved"},                     /* Teredo and other protocols */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "reserved"},
    {{0x3f, 0xff, 0x00}, 20, "reserved"},
    {{0xfc}, 7, "private"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "private"},
    {{0xff}, 8, "multicast"},
};

/* Prefixes of IPv6 addresses that carry one of IPv4, and at which byte. */
static const struct {
    unsigned char prefix[16];
    unsigned bits, at;
} carriers[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12}, /* v4-mapped */
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12},       /* v4-translated */
    {{0}, 96, 12},                                        /* v4-compatible */
    {{0x00, 0x64, 0xff, 0x9b}, 96, 12},                   /* NAT64 */
    {{0x20, 0x02}, 16, 2},                                /* 6to4 */
};

static const char *kind_in(const struct bytes *bytes, const struct block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (begins_with(bytes, blocks[i].prefix, blocks[i].bits))
            return blocks[i].kind;
    }
    return NULL;
}

/* The IPv4 address that an IPv6 address carries; false: none. */
static bool carried(const struct bytes *bytes, struct bytes *ret)
{
    for (size_t i = 0; bytes->bits == 128 && i < sizeof(carriers) / sizeof(carriers[0]); i++) {
        if (!begins_with(bytes, carriers[i].prefix, carriers[i].bits))
            continue;
        *ret = (struct bytes){.bits = 32};
        memcpy(ret->at, bytes->at + carriers[i].at, 4);
        return true;
    }
    return false;
}

const char *call_address_kind(const struct sockaddr *address)
{
    struct bytes bytes = bytes_of(address), inner;
    if (bytes.bits == 32)
        return kind_in(&bytes, blocks_v4, sizeof(blocks_v4) / sizeof(blocks_v4[0]));
    if (bytes.bits != 128)
        return "no Internet";
    const char *kind = kind_in(&bytes, blocks_v6, sizeof(blocks_v6) / sizeof(blocks_v6[0]));
    if (!kind && carried(&bytes, &inner))
        kind = kind_in(&inner, blocks_v4, sizeof(blocks_v4) / sizeof(blocks_v4[0]));
    return kind;
}

/* ---- the list ---- */

struct prefix {
    struct bytes bytes;
    unsigned bits;
};

static bool read_prefix(const char *text, size_t length, struct prefix *ret)
{
    char copy[CALL_ADDRESS_TEXT];
    struct prefix prefix = {.bits = 0};
    if (length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *slash = strchr(copy, '/');
    if (slash)
        *slash = '\0';
    prefix.bytes.bits = inet_pton(AF_INET, copy, prefix.bytes.at) == 1    ? 32
                        : inet_pton(AF_INET6, copy, prefix.bytes.at) == 1 ? 128
                                                                          : 0;
    prefix.bits = prefix.bytes.bits;
    if (slash) {
        char *end;
        unsigned long bits = strtoul(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end || bits > prefix.bytes.bits)
            return false;
        prefix.bits = (unsigned)bits;
    }
    *ret = prefix;
    return prefix.bytes.bits != 0;
}

/* The next entry of a list at *at; 0: the end. */
static size_t next_entry(const char **at)
{
    *at += strspn(*at, ", \t");
    return strcspn(*at, ", \t");
}

bool call_address_is_listed(const struct sockaddr *address, const char *list)
{
    struct bytes bytes = bytes_of(address), inner = {.bits = 0};
    struct prefix prefix;
    carried(&bytes, &inner);
    for (size_t length; (length = next_entry(&list)); list += length) {
        if (!read_prefix(list, length, &prefix))
            continue;
        const struct bytes *asked = prefix.bytes.bits == bytes.bits   ? &bytes
                                    : prefix.bytes.bits == inner.bits ? &inner
                                                                      : NULL;
        if (asked && begins_with(asked, prefix.bytes.at, prefix.bits))
            return true;
    }
    return false;
}

enum status call_address_check_list(const char *list, struct parse_error *reterr)
{
    const char *at = list;
    struct prefix prefix;
    for (size_t length; (length = next_entry(&at)); at += length) {
        if (!read_prefix(at, length, &prefix))
            return parse_fail(reterr, (int)(at - list) + 1,
                              "\"%.*s\" is not an address or a network like 10.0.0.0/8",
                              (int)(length < 60 ? length : 60), at);
    }
    return OK;
}

const char *call_address_text(const struct sockaddr *address, char buf[CALL_ADDRESS_TEXT])
{
    struct bytes bytes = bytes_of(address);
    if (!bytes.bits ||
        !inet_ntop(bytes.bits == 32 ? AF_INET : AF_INET6, bytes.at, buf, CALL_ADDRESS_TEXT))
        snprintf(buf, CALL_ADDRESS_TEXT, "?");
    return buf;
}

bool call_address_read(const char *text, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)ret;
    memset(ret, 0, sizeof(*ret));
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        ret->ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
        ret->ss_family = AF_INET6;
    return ret->ss_family != 0;
}
