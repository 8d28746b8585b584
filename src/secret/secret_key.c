#include "secret_key.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "params/run_body.h"

#define KEY_WORD "peal-key-1"

enum { FILE_MAX = 4096, KEY_BASE64 = 44 };

void secret_keys_release(struct secret_keys *keys)
{
    explicit_bzero(keys, sizeof(*keys));
}

const struct secret_key *secret_keys_find(const struct secret_keys *keys, const char *id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->items[i].id, id) == 0)
            return &keys->items[i];
    return NULL;
}

static bool name_key(struct secret_key *key)
{
    static const char salt[] = "peal secret key";
    unsigned char digest[EVP_MAX_MD_SIZE], bytes[sizeof(salt) + KEY_BYTES];
    memcpy(bytes, salt, sizeof(salt));
    memcpy(bytes + sizeof(salt), key->bytes, KEY_BYTES);
    bool is_done = EVP_Digest(bytes, sizeof(bytes), digest, NULL, EVP_sha256(), NULL) == 1;
    explicit_bzero(bytes, sizeof(bytes));
    for (size_t i = 0; i + 1 < KEY_ID_SIZE; i += 2)
        snprintf(key->id + i, 3, "%02x", digest[i / 2]);
    return is_done;
}

/* ---- reading ---- */

/* False: the line is no key. */
static bool read_line(const char *line, struct secret_key *ret)
{
    char id[KEY_ID_SIZE], text[KEY_BASE64 + 1], *bytes = NULL;
    size_t length = 0;
    int end = 0;
    bool is_good = sscanf(line, KEY_WORD " %16[0-9a-f] %44s %n", id, text, &end) == 2 &&
                   !line[end] && run_body_from_base64(text, strlen(text), &bytes, &length) == OK &&
                   length == KEY_BYTES;
    if (is_good) {
        memcpy(ret->bytes, bytes, KEY_BYTES);
        is_good = name_key(ret) && strcmp(ret->id, id) == 0;
    }
    if (bytes)
        explicit_bzero(bytes, length);
    free(bytes);
    explicit_bzero(text, sizeof(text));
    return is_good;
}

static enum status read_lines(const char *path, char *text, struct secret_keys *ret,
                              struct strbuf *why)
{
    char *rest = NULL;
    int number = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        number++;
        if (*line == '#')
            continue;
        if (ret->count == KEYS_MAX || !read_line(line, &ret->items[ret->count])) {
            strbuf_addf(why, "line %d of the key file %s is no key, or one too many", number, path);
            return E_INVALID;
        }
        ret->count++;
    }
    if (!ret->count)
        strbuf_addf(why, "the key file %s has no key", path);
    return ret->count ? OK : E_INVALID;
}

static bool is_guarded(int fd, struct stat *about)
{
    return fstat(fd, about) == 0 && S_ISREG(about->st_mode) && !(about->st_mode & 077) &&
           (about->st_uid == 0 || about->st_uid == geteuid());
}

enum status secret_keys_load(const char *path, struct secret_keys *ret, struct strbuf *why)
{
    char text[FILE_MAX + 1];
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *ret = (struct secret_keys){.count = 0};
    if (fd < 0) {
        int error = errno;
        strbuf_addf(why, "can't read the key file %s: %s", path, strerror(error));
        return error == ENOENT ? E_NOT_FOUND : E_IO;
    }
    if (!is_guarded(fd, &about)) {
        close(fd);
        strbuf_addf(
            why,
            "the key file %s is not a file of root or of the agent's user that is closed to "
            "all others (mode 0600)",
            path);
        return E_INVALID;
    }
    ssize_t length = read(fd, text, FILE_MAX);
    close(fd);
    if (length < 0) {
        strbuf_addf(why, "can't read the key file %s", path);
        return E_IO;
    }
    text[length] = '\0';
    enum status st = read_lines(path, text, ret, why);
    explicit_bzero(text, sizeof(text));
    if (st != OK)
        secret_keys_release(ret);
    return st;
}

/* ---- writing ---- */

static void print_keys(const struct secret_keys *keys, struct strbuf *out)
{
    strbuf_reserve(out, FILE_MAX); /* no copies are left behind */
    strbuf_adds(out,
                "# The first key encrypts the secrets of this cluster, all of them decrypt.\n");
    for (size_t i = 0; i < keys->count; i++) {
        char *text = run_body_base64(keys->items[i].bytes, KEY_BYTES);
        strbuf_addf(out, KEY_WORD " %s %s\n", keys->items[i].id, text ? text : "");
        out->failed = out->failed || !text;
        if (text)
            explicit_bzero(text, strlen(text));
        free(text);
    }
}

/* In place of the file, all at once. */
static enum status write_file(const char *path, const struct strbuf *text, struct strbuf *why)
{
    struct strbuf temporary;
    strbuf_init(&temporary);
    strbuf_addf(&temporary, "%s.new", path);
    int fd = open(temporary.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_done = fd >= 0 && fchmod(fd, 0600) == 0 &&
                   write(fd, text->text, text->length) == (ssize_t)text->length && fsync(fd) == 0 &&
                   rename(temporary.text, path) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (!is_done) {
        strbuf_addf(why, "can't write the key file %s: %s", path, strerror(error));
        unlink(temporary.text);
    }
    strbuf_release(&temporary);
    return is_done ? OK : E_IO;
}

static enum status write_keys(const char *path, const struct secret_keys *keys, struct strbuf *why)
{
    struct strbuf text;
    strbuf_init(&text);
    print_keys(keys, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = write_file(path, &text, why);
    strbuf_wipe(&text);
    return st;
}

enum status secret_keys_add(const char *path, struct secret_keys *keys, struct strbuf *why)
{
    struct secret_keys next = {.count = 1};
    if (keys->count == KEYS_MAX) {
        strbuf_addf(why, "the key file %s has %d keys already: drop the old ones first", path,
                    KEYS_MAX);
        return E_INVALID;
    }
    if (RAND_priv_bytes(next.items[0].bytes, KEY_BYTES) != 1 || !name_key(&next.items[0])) {
        strbuf_adds(why, "there are no random bytes for a key");
        return E_IO;
    }
    memcpy(next.items + 1, keys->items, keys->count * sizeof(next.items[0]));
    next.count += keys->count;
    enum status st = write_keys(path, &next, why);
    if (st == OK)
        *keys = next;
    secret_keys_release(&next);
    return st;
}

enum status secret_keys_keep_first(const char *path, struct secret_keys *keys, struct strbuf *why)
{
    struct secret_keys first = {.items = {keys->items[0]}, .count = 1};
    enum status st = write_keys(path, &first, why);
    if (st == OK)
        *keys = first;
    secret_keys_release(&first);
    return st;
}

/* ---- encryption ---- */

enum status secret_seal(const struct secret_key *key, const char *about, size_t about_length,
                        const char *value, size_t length, unsigned char nonce[SEAL_NONCE],
                        unsigned char *ret)
{
    int used = 0;
    if (RAND_bytes(nonce, SEAL_NONCE) != 1)
        return E_IO;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context)
        return E_NOMEM;
    bool is_done =
        EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key->bytes, nonce) == 1 &&
        EVP_EncryptUpdate(context, NULL, &used, (const unsigned char *)about, (int)about_length) ==
            1 &&
        EVP_EncryptUpdate(context, ret, &used, (const unsigned char *)value, (int)length) == 1 &&
        EVP_EncryptFinal_ex(context, ret + used, &used) == 1 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, SEAL_TAG, ret + length) == 1;
    EVP_CIPHER_CTX_free(context);
    return is_done ? OK : E_NOMEM;
}

enum status secret_open(const struct secret_key *key, const char *about, size_t about_length,
                        const unsigned char nonce[SEAL_NONCE], const unsigned char *sealed,
                        size_t length, char *ret)
{
    unsigned char tag[SEAL_TAG];
    int used = 0;
    if (length < SEAL_TAG)
        return E_CORRUPT;
    size_t size = length - SEAL_TAG;
    memcpy(tag, sealed + size, SEAL_TAG);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context)
        return E_NOMEM;
    bool is_done =
        EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key->bytes, nonce) == 1 &&
        EVP_DecryptUpdate(context, NULL, &used, (const unsigned char *)about, (int)about_length) ==
            1 &&
        EVP_DecryptUpdate(context, (unsigned char *)ret, &used, sealed, (int)size) == 1 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, SEAL_TAG, tag) == 1 &&
        EVP_DecryptFinal_ex(context, (unsigned char *)ret + used, &used) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_done)
        explicit_bzero(ret, size);
    return is_done ? OK : E_CORRUPT;
}
