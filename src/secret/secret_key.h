/* The keys that secrets are encrypted with, and the file that has them: the same on every node of a
 * cluster. Each line is a key, "peal-key-1 ID BASE64"; the first one encrypts, all of them decrypt.
 * AES-256-GCM; the name, the version and whatever else is stored beside the value are authenticated
 * with it, so that nobody can move a value elsewhere without the key. */
#ifndef PEAL_SECRET_KEY_H
#define PEAL_SECRET_KEY_H

#include <stddef.h>

#include "status.h"
#include "strbuf.h"

enum {
    KEY_BYTES = 32,
    KEY_ID_SIZE = 17, /* 16 hexadecimal digits of a digest of the key */
    KEYS_MAX = 4,
    SEAL_NONCE = 12,
    SEAL_TAG = 16,
};

struct secret_key {
    char id[KEY_ID_SIZE];
    unsigned char bytes[KEY_BYTES];
};

struct secret_keys {
    struct secret_key items[KEYS_MAX];
    size_t count;
};

/* Wipes. */
void secret_keys_release(struct secret_keys *keys);

/* E_NOT_FOUND: there is no such file. E_INVALID, E_IO: *why says what is wrong with it; it must
 * belong to root or the user of this process, and be closed to all others. */
MUST_CHECK enum status secret_keys_load(const char *path, struct secret_keys *ret,
                                        struct strbuf *why);

/* Writes a file with a new key, mode 0600, in front of those that *keys has: it may be empty, and
 * has the new one afterwards. E_INVALID: there are KEYS_MAX. E_IO: *why. */
MUST_CHECK enum status secret_keys_add(const char *path, struct secret_keys *keys,
                                       struct strbuf *why);

/* Writes the file with the first key alone. */
MUST_CHECK enum status secret_keys_keep_first(const char *path, struct secret_keys *keys,
                                              struct strbuf *why);

/* NULL: not there. */
const struct secret_key *secret_keys_find(const struct secret_keys *keys, const char *id);

/* `ret` has room for `length` + SEAL_TAG bytes; the nonce is random. E_IO: no randomness. */
MUST_CHECK enum status secret_seal(const struct secret_key *key, const char *about,
                                   size_t about_length, const char *value, size_t length,
                                   unsigned char nonce[SEAL_NONCE], unsigned char *ret);

/* `ret` has room for `length` - SEAL_TAG bytes. E_CORRUPT: it was changed, or belongs to something
 * else. */
MUST_CHECK enum status secret_open(const struct secret_key *key, const char *about,
                                   size_t about_length, const unsigned char nonce[SEAL_NONCE],
                                   const unsigned char *sealed, size_t length, char *ret);

#endif
