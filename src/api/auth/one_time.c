#include "auth/one_time.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void secret_make(const struct entropy *entropy, char ret[SECRET_SIZE])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t bytes[SECRET_SIZE - 1];
    entropy->fill(entropy->context, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) /* 43 times 6 bits */
        ret[i] = digits[bytes[i] & 63];
    ret[SECRET_SIZE - 1] = '\0';
    OPENSSL_cleanse(bytes, sizeof(bytes));
}

static bool same_digest(const char digest[DIGEST_SIZE], const char *secret)
{
    char given[DIGEST_SIZE];
    secret_digest(secret, given);
    return CRYPTO_memcmp(digest, given, DIGEST_SIZE) == 0;
}

/* ---- setup ---- */

static enum status write_file(const char *path, const char *url, const char *secret)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return E_IO;
    bool is_written = dprintf(fd, "%s%s\n", url, secret) > 0;
    return close(fd) == 0 && is_written ? OK : E_IO;
}

enum status setup_open(struct one_time *one_time, const struct entropy *entropy, const char *file,
                       const char *url)
{
    char secret[SECRET_SIZE];
    char *copy = strdup(file);
    if (!copy)
        return E_NOMEM;
    secret_make(entropy, secret);
    enum status st = write_file(file, url, secret);
    if (st != OK) {
        free(copy);
        return st;
    }
    secret_digest(secret, one_time->setup_digest);
    OPENSSL_cleanse(secret, sizeof(secret));
    free(one_time->setup_file);
    one_time->setup_file = copy;
    return OK;
}

bool setup_is_open(const struct one_time *one_time)
{
    return one_time->setup_digest[0];
}

bool setup_matches(const struct one_time *one_time, const char *secret)
{
    return setup_is_open(one_time) && same_digest(one_time->setup_digest, secret);
}

void setup_close(struct one_time *one_time)
{
    if (one_time->setup_file)
        unlink(one_time->setup_file);
    free(one_time->setup_file);
    one_time->setup_file = NULL;
    one_time->setup_digest[0] = '\0';
}

void one_time_release(struct one_time *one_time)
{
    setup_close(one_time);
}

/* ---- links ---- */

void link_make(struct one_time *one_time, const struct entropy *entropy, const char *user,
               const char *name, struct boot_ms now, char ret_secret[SECRET_SIZE])
{
    struct login_link *link = &one_time->links[one_time->next_link++ % LINKS_MAX];
    *link = (struct login_link){.until_ms = now.ms + LINK_LIFE_MS};
    snprintf(link->user, sizeof(link->user), "%s", user);
    snprintf(link->name, sizeof(link->name), "%s", name);
    secret_make(entropy, ret_secret);
    secret_digest(ret_secret, link->digest);
}

bool link_use(struct one_time *one_time, const char *secret, struct boot_ms now,
              struct login_link *ret)
{
    for (size_t i = 0; i < LINKS_MAX; i++) {
        struct login_link *link = &one_time->links[i];
        if (link->until_ms <= now.ms || !same_digest(link->digest, secret))
            continue;
        *ret = *link;
        *link = (struct login_link){.until_ms = 0};
        return true;
    }
    return false;
}
