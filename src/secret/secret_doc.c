#include "secret_doc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "params/run_body.h"

enum { FORMAT = 1 };

void secret_release(struct secret *secret)
{
    job_names_free(secret->shares);
    free(secret->sealed);
    *secret = (struct secret){.name = ""};
}

const char *secret_value_complaint(const char *value, size_t length)
{
    if (length == 0)
        return "a secret can't be empty";
    if (length > SECRET_VALUE_MAX)
        return "a secret has at most 16 KiB";
    return memchr(value, '\0', length) ? "a secret can't hold a zero byte: a variable can't" : NULL;
}

bool secret_serves(const struct secret *secret, const char *job_name)
{
    if (secret_is_of(secret->name, job_name))
        return true;
    for (size_t i = 0; secret->shares && secret->shares[i]; i++)
        if (strcmp(secret->shares[i], "*") == 0 ||
            namespace_has_job(secret->shares[i], strlen(secret->shares[i]), job_name))
            return true;
    return false;
}

/* ---- the document ---- */

static char *base64_of(const void *bytes, size_t length)
{
    return run_body_base64(bytes, length);
}

char *secret_encode(const struct secret *secret)
{
    char *nonce = base64_of(secret->nonce, SEAL_NONCE);
    char *data = base64_of(secret->sealed, secret->sealed_length);
    json_t *shares = json_array();
    for (size_t i = 0; secret->shares && secret->shares[i]; i++)
        json_array_append_new(shares, json_string(secret->shares[i]));
    json_t *value = nonce && data && shares
                        ? json_pack("{s:i, s:I, s:I, s:s, s:O, s:s, s:s, s:s}", "format", FORMAT,
                                    "version", (json_int_t)secret->version, "set_ms",
                                    (json_int_t)secret->set_ms, "by", secret->by, "share", shares,
                                    "key", secret->key_id, "nonce", nonce, "data", data)
                        : NULL;
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    json_decref(shares);
    free(nonce);
    free(data);
    return text;
}

static enum status read_shares(const json_t *list, char ***ret)
{
    size_t count = json_array_size(list), i;
    json_t *item;
    if (!json_is_array(list) || count > SECRET_SHARES_MAX)
        return E_CORRUPT;
    if (count == 0)
        return OK;
    char **shares = calloc(count + 1, sizeof(*shares));
    enum status st = shares ? OK : E_NOMEM;
    json_array_foreach (list, i, item) {
        const char *text = json_string_value(item);
        if (st == OK && !text)
            st = E_CORRUPT;
        if (st == OK && !(shares[i] = strdup(text)))
            st = E_NOMEM;
    }
    if (st == OK)
        *ret = shares;
    else
        job_names_free(shares);
    return st;
}

static enum status read_bytes(const json_t *value, char **ret, size_t *ret_length)
{
    const char *text = json_string_value(value);
    enum status st =
        text ? run_body_from_base64(text, json_string_length(value), ret, ret_length) : E_CORRUPT;
    return st == E_INVALID ? E_CORRUPT : st;
}

static enum status read_value(const json_t *document, struct secret *ret)
{
    char *nonce = NULL, *data = NULL;
    size_t nonce_length = 0, length = 0;
    enum status st = read_bytes(json_object_get(document, "nonce"), &nonce, &nonce_length);
    if (st == OK)
        st = read_bytes(json_object_get(document, "data"), &data, &length);
    if (st == OK &&
        (nonce_length != SEAL_NONCE || length <= SEAL_TAG || length > SECRET_VALUE_MAX + SEAL_TAG))
        st = E_CORRUPT;
    if (st == OK) {
        memcpy(ret->nonce, nonce, SEAL_NONCE);
        ret->sealed = (unsigned char *)data;
        ret->sealed_length = length;
        data = NULL;
    }
    free(nonce);
    free(data);
    return st;
}

/* Copies a text that fits. */
static bool read_text(const json_t *document, const char *name, char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(document, name));
    return text && snprintf(ret, size, "%s", text) < (int)size;
}

enum status secret_decode(const char *name, const char *json, struct secret *ret)
{
    struct secret secret = {.name = ""};
    json_t *document = json_loads(json, 0, NULL);
    secret.version = json_integer_value(json_object_get(document, "version"));
    secret.set_ms = json_integer_value(json_object_get(document, "set_ms"));
    bool is_good = json_integer_value(json_object_get(document, "format")) == FORMAT &&
                   !secret_name_complaint(name) && strlen(name) < sizeof(secret.name) &&
                   secret.version > 0 && read_text(document, "by", secret.by, sizeof(secret.by)) &&
                   read_text(document, "key", secret.key_id, sizeof(secret.key_id));
    enum status st = is_good ? OK : E_CORRUPT;
    if (st == OK)
        st = read_shares(json_object_get(document, "share"), &secret.shares);
    if (st == OK)
        st = read_value(document, &secret);
    json_decref(document);
    if (st != OK) {
        secret_release(&secret);
        return st;
    }
    snprintf(secret.name, sizeof(secret.name), "%s", name);
    *ret = secret;
    return OK;
}

/* ---- the value ---- */

/* All that is beside the value, each part with its length: no two secrets have the same. */
static void print_about(const struct secret *secret, struct strbuf *out)
{
    strbuf_addf(out, "peal secret %d\n%zu:%s\n%lld\n%lld\n%zu:%s\n%s\n", FORMAT,
                strlen(secret->name), secret->name, (long long)secret->version,
                (long long)secret->set_ms, strlen(secret->by), secret->by, secret->key_id);
    for (size_t i = 0; secret->shares && secret->shares[i]; i++)
        strbuf_addf(out, "%zu:%s\n", strlen(secret->shares[i]), secret->shares[i]);
}

enum status secret_set_value(struct secret *secret, const struct secret_keys *keys,
                             const char *value, size_t length)
{
    struct strbuf about;
    unsigned char *sealed = malloc(length + SEAL_TAG);
    if (!sealed)
        return E_NOMEM;
    memcpy(secret->key_id, keys->items[0].id, KEY_ID_SIZE);
    strbuf_init(&about);
    print_about(secret, &about);
    enum status st = strbuf_status(&about);
    if (st == OK)
        st = secret_seal(&keys->items[0], about.text, about.length, value, length, secret->nonce,
                         sealed);
    strbuf_release(&about);
    if (st != OK) {
        free(sealed);
        return st;
    }
    free(secret->sealed);
    secret->sealed = sealed;
    secret->sealed_length = length + SEAL_TAG;
    return OK;
}

enum status secret_value(const struct secret *secret, const struct secret_keys *keys, char **ret,
                         size_t *ret_length)
{
    const struct secret_key *key = secret_keys_find(keys, secret->key_id);
    struct strbuf about;
    if (!key)
        return E_NOT_FOUND;
    size_t length = secret->sealed_length - SEAL_TAG;
    char *value = malloc(length + 1);
    if (!value)
        return E_NOMEM;
    strbuf_init(&about);
    print_about(secret, &about);
    enum status st = strbuf_status(&about);
    if (st == OK)
        st = secret_open(key, about.text, about.length, secret->nonce, secret->sealed,
                         secret->sealed_length, value);
    strbuf_release(&about);
    value[length] = '\0';
    if (st == OK && secret_value_complaint(value, length))
        st = E_CORRUPT;
    if (st != OK) {
        explicit_bzero(value, length);
        free(value);
        return st;
    }
    *ret = value;
    *ret_length = length;
    return OK;
}
