#include "secrets.h"

#include <stdlib.h>
#include <string.h>

#include "secret_file.h"

struct known_secrets {
    char *folder, *key_file;
    struct table by_name;
};

static const struct table_type by_name_type = {.key_at = offsetof(struct secret, name)};

enum status secrets_new(const char *folder, const char *key_file, struct known_secrets **ret)
{
    struct known_secrets *secrets = calloc(1, sizeof(*secrets));
    if (!secrets)
        return E_NOMEM;
    table_init(&secrets->by_name, &by_name_type);
    secrets->folder = folder ? strdup(folder) : NULL;
    secrets->key_file = key_file ? strdup(key_file) : NULL;
    if ((folder && !secrets->folder) || (key_file && !secrets->key_file)) {
        secrets_free(secrets);
        return E_NOMEM;
    }
    *ret = secrets;
    return OK;
}

struct known_secrets *secrets_free(struct known_secrets *secrets)
{
    struct secret *secret;
    if (!secrets)
        return NULL;
    for (size_t at = 0; (secret = table_next(&secrets->by_name, &at));)
        secret_release(secret);
    table_release_items(&secrets->by_name);
    free(secrets->folder);
    free(secrets->key_file);
    free(secrets);
    return NULL;
}

void secrets_take(struct known_secrets *secrets, const struct store_change *change)
{
    struct secret read;
    if (change->kind != STORE_CHANGE_DOC || strcmp(change->doc->kind, SECRET_DOC) != 0)
        return;
    const struct store_doc *doc = change->doc;
    struct secret *known = table_find(&secrets->by_name, doc->name);
    if (known) {
        table_remove(&secrets->by_name, known);
        secret_release(known);
        free(known);
    }
    if (!doc->json || secret_decode(doc->name, doc->json, &read) != OK)
        return;
    read.revision = doc->revision;
    if (!table_add(&secrets->by_name, &read, sizeof(read)))
        secret_release(&read);
}

const struct table *secrets_all(const struct known_secrets *secrets)
{
    return &secrets->by_name;
}

const struct secret *secrets_find(const struct known_secrets *secrets, const char *name)
{
    return table_find(&secrets->by_name, name);
}

const char *secrets_key_file(const struct known_secrets *secrets)
{
    return secrets->key_file;
}

/* ---- for a run ---- */

/* Why its value can't be had. */
static enum status lack(const struct secret *secret, enum status st, const char *reason,
                        struct strbuf *why)
{
    strbuf_addf(why, "secret %s: %s", secret->name, reason);
    return st;
}

static enum status stored_value(const struct known_secrets *secrets, const struct secret *secret,
                                char **ret, struct strbuf *why)
{
    struct secret_keys keys = {.count = 0};
    struct strbuf reason;
    size_t length;
    if (!secrets->key_file)
        return lack(secret, E_NOT_FOUND, "this node has no key file", why);
    strbuf_init(&reason);
    enum status st = secret_keys_load(secrets->key_file, &keys, &reason);
    if (st == OK) {
        st = secret_value(secret, &keys, ret, &length);
        secret_keys_release(&keys);
        if (st == E_NOT_FOUND)
            strbuf_addf(&reason, "the key file %s of this node lacks its key %s", secrets->key_file,
                        secret->key_id);
        else if (st != OK)
            strbuf_adds(&reason, "its value in the store was changed by somebody without the key");
    }
    if (st != OK)
        (void)lack(secret, st, reason.text, why);
    strbuf_release(&reason);
    return st;
}

/* E_NOT_FOUND without a word in *why: there is none of that name for this job. */
static enum status candidate_value(const struct known_secrets *secrets, const char *job_name,
                                   const char *name, char **ret, struct strbuf *why)
{
    size_t length;
    enum status st = E_NOT_FOUND;
    if (secrets->folder && secret_is_of(name, job_name))
        st = secret_file_read(secrets->folder, name, ret, &length, why);
    if (st != E_NOT_FOUND)
        return st;
    const struct secret *secret = secrets_find(secrets, name);
    if (!secret || !secret_serves(secret, job_name))
        return E_NOT_FOUND;
    return stored_value(secrets, secret, ret, why);
}

enum status secrets_value(const struct known_secrets *secrets, const char *job_name,
                          const char *name, char **ret, struct strbuf *why)
{
    char candidate[SECRET_NAME_SIZE];
    for (unsigned i = 0; secret_candidate(job_name, name, i, candidate); i++) {
        enum status st = candidate_value(secrets, job_name, candidate, ret, why);
        if (st != E_NOT_FOUND || why->length)
            return st;
    }
    strbuf_addf(why, "there is no secret %s for this job", name);
    return E_NOT_FOUND;
}

bool secrets_has(const struct known_secrets *secrets, const char *job_name, const char *name)
{
    char candidate[SECRET_NAME_SIZE], *value = NULL;
    for (unsigned i = 0; secret_candidate(job_name, name, i, candidate); i++) {
        struct strbuf why;
        size_t length;
        const struct secret *secret = secrets_find(secrets, candidate);
        if (secret && secret_serves(secret, job_name))
            return true;
        if (!secrets->folder || !secret_is_of(candidate, job_name))
            continue;
        strbuf_init(&why);
        enum status st = secret_file_read(secrets->folder, candidate, &value, &length, &why);
        strbuf_release(&why);
        if (st == OK) {
            explicit_bzero(value, length);
            free(value);
            return true;
        }
    }
    return false;
}
