/* Secrets: seen by who may define a job that may use them, changed by admins of their namespace.
 * Values come in, and never go out. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "documents/documents.h"
#include "runs/encode.h"
#include "secrets.h"
#include "server.h"

struct secret_edit {
    struct doc_edit doc;
    struct secret secret; /* as it is to be; of a delete: as it was */
};

static void release_edit(void *state)
{
    struct secret_edit *edit = state;
    secret_release(&edit->secret);
}

/* ---- showing ---- */

static json_t *encode(const struct secret *secret, int64_t revision)
{
    json_t *shares = json_array();
    for (size_t i = 0; secret->shares && secret->shares[i]; i++)
        json_array_append_new(shares, json_string(secret->shares[i]));
    return json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:s}", "name", secret->name, "revision",
                     (json_int_t)revision, "version", (json_int_t)secret->version, "set_at",
                     json_time(secret->set_ms), "set_by", json_words_or_null(secret->by), "share",
                     shares, "key", secret->key_id);
}

static json_t *show(const struct call *call, const void *item)
{
    const struct secret *secret = item;
    (void)call;
    return encode(secret, secret->revision);
}

static const struct table *all_secrets(const struct call *call)
{
    static const struct table none;
    const struct known_secrets *secrets = call->api->ports.secrets;
    return secrets ? secrets_all(secrets) : &none;
}

/* May the caller define a job in the namespace? "*": in any. */
static bool may_define_in(const struct call *call, const char *space)
{
    char job_name[NAMESPACE_SIZE + 2];
    if (strcmp(space, "*") == 0)
        return scope_may_somewhere(&call->principal.scope, RIGHT_DEFINE);
    snprintf(job_name, sizeof(job_name), "%s/x", space);
    return scope_may(&call->principal.scope, RIGHT_DEFINE, job_name);
}

static bool sees(const struct call *call, const void *item)
{
    const struct secret *secret = item;
    if (scope_may(&call->principal.scope, RIGHT_DEFINE, secret->name))
        return true;
    for (size_t i = 0; secret->shares && secret->shares[i]; i++)
        if (may_define_in(call, secret->shares[i]))
            return true;
    return false;
}

/* ---- editing ---- */

static bool may(struct call *call)
{
    const char *complaint = secret_name_complaint(call->argument);
    if (!call->api->ports.secrets) {
        call_fail(call, 503, "this agent keeps no secrets");
        return false;
    }
    if (complaint) {
        call_fail_at(call, "/name", "name: \"%.63s\" %s", call->argument,
                     message_in(call->language, complaint));
        return false;
    }
    return call->is_safe || call_may_on(call, RIGHT_ADMIN, call->argument);
}

/* False: the call has failed. */
static bool read_shares(struct call *call, struct secret *secret)
{
    const json_t *list = json_object_get(call->body, "share");
    json_t *item;
    size_t i, count = json_array_size(list);
    if (!list)
        return true;
    job_names_free(secret->shares);
    secret->shares = NULL;
    bool is_good = json_is_array(list) && count <= SECRET_SHARES_MAX;
    json_array_foreach (list, i, item) {
        const char *text = json_string_value(item);
        is_good = is_good && text && (strcmp(text, "*") == 0 || !namespace_complaint(text));
    }
    if (!is_good) {
        call_fail_at(call, "/share",
                     "share: expected a list of up to %d namespaces; \"*\" is all of them",
                     SECRET_SHARES_MAX);
        return false;
    }
    secret->shares = count ? calloc(count + 1, sizeof(*secret->shares)) : NULL;
    bool is_kept = !count || secret->shares;
    for (i = 0; secret->shares && is_kept && i < count; i++)
        is_kept = (secret->shares[i] = strdup(json_string_value(json_array_get(list, i)))) != NULL;
    if (!is_kept)
        call_fail(call, 500, "out of memory");
    return is_kept;
}

/* All but the value. False: the call has failed. */
static bool copy_secret(struct call *call, const struct secret *from, struct secret *ret)
{
    size_t count = 0;
    *ret = (struct secret){.version = from ? from->version : 0, .set_ms = from ? from->set_ms : 0};
    snprintf(ret->name, sizeof(ret->name), "%s", call->argument);
    if (from)
        memcpy(ret->by, from->by, sizeof(ret->by));
    while (from && from->shares && from->shares[count])
        count++;
    ret->shares = count ? calloc(count + 1, sizeof(*ret->shares)) : NULL;
    bool is_kept = !count || ret->shares;
    for (size_t i = 0; i < count && is_kept; i++)
        is_kept = (ret->shares[i] = strdup(from->shares[i]));
    if (!is_kept)
        call_fail(call, 500, "out of memory");
    return is_kept;
}

/* False: the call has failed. */
static bool load_keys(struct call *call, struct secret_keys *ret)
{
    struct strbuf why;
    const char *path = secrets_key_file(call->api->ports.secrets);
    strbuf_init(&why);
    enum status st = secret_keys_load(path, ret, &why);
    if (st == E_NOT_FOUND)
        call_fail(call, 409,
                  "node %s has no key to encrypt secrets with: peal secret init makes one, for all "
                  "nodes",
                  call->api->node);
    else if (st != OK)
        call_fail(call, 500, "%s", why.length ? why.text : status_text(st));
    strbuf_release(&why);
    return st == OK;
}

static bool fail_open(struct call *call, const struct secret *secret, enum status st)
{
    if (st == E_NOT_FOUND)
        call_fail(call, 409, "node %s lacks the key %s, which \"%s\" is encrypted with",
                  call->api->node, secret->key_id, secret->name);
    else if (st == E_CORRUPT)
        call_fail(call, 409,
                  "the value of \"%s\" in the store was changed by somebody without the key; set "
                  "it again",
                  secret->name);
    else
        call_fail(call, 500, "%s", status_text(st));
    return false;
}

/* With the value of the body. False: the call has failed. */
static bool set_value(struct call *call, struct secret *secret, const struct secret_keys *keys)
{
    const json_t *given = json_object_get(call->body, "value");
    const char *value = json_string_value(given);
    const char *complaint = value ? secret_value_complaint(value, json_string_length(given)) : NULL;
    if (!value || complaint) {
        call_fail_at(call, "/value", "value: %s",
                     message_in(call->language, complaint ? complaint : "expected a text"));
        return false;
    }
    secret->version++;
    secret->set_ms = call->now_ms;
    snprintf(secret->by, sizeof(secret->by), "%s", call->principal.name);
    enum status st = secret_set_value(secret, keys, value, json_string_length(given));
    if (st != OK)
        call_fail(call, 500, "%s", status_text(st));
    return st == OK;
}

/* The value that it has, with the current key. False: the call has failed. */
static bool keep_value(struct call *call, const struct secret *from, struct secret *secret,
                       const struct secret_keys *keys)
{
    char *value = NULL;
    size_t length = 0;
    enum status st = secret_value(from, keys, &value, &length);
    if (st != OK)
        return fail_open(call, from, st);
    st = secret_set_value(secret, keys, value, length);
    explicit_bzero(value, length);
    free(value);
    if (st != OK)
        call_fail(call, 500, "%s", status_text(st));
    return st == OK;
}

/* Nothing would change: neither who may use it, nor the key. */
static bool is_current(const struct call *call, const struct secret *secret,
                       const struct secret_keys *keys)
{
    return !json_object_get(call->body, "share") && strcmp(secret->key_id, keys->items[0].id) == 0;
}

static bool prepare_change(struct call *call, const struct secret *from)
{
    struct secret_edit *edit = call->state;
    struct secret_keys keys = {.count = 0};
    bool is_put = edit->doc.action == DOC_PUT;
    bool is_done = copy_secret(call, from, &edit->secret) && read_shares(call, &edit->secret) &&
                   load_keys(call, &keys);
    if (is_done)
        is_done = is_put ? set_value(call, &edit->secret, &keys)
                         : keep_value(call, from, &edit->secret, &keys);
    if (is_done) /* else the edit is gone with its call */
        edit->doc.is_same = !is_put && from && is_current(call, from, &keys);
    secret_keys_release(&keys);
    if (!is_done)
        return false;
    edit->doc.json = secret_encode(&edit->secret);
    edit->doc.detail = strdup(is_put ? "value" : "key, or who may use it");
    return true;
}

static bool prepare(struct call *call, const void *item)
{
    struct secret_edit *edit = call->state;
    secret_release(&edit->secret);
    if (edit->doc.action == DOC_DELETE)
        return copy_secret(call, item, &edit->secret);
    return prepare_change(call, item);
}

static void reply(struct call *call, int status)
{
    const struct secret_edit *edit = call->state;
    bool is_delete = edit->doc.action == DOC_DELETE;
    call->revision = is_delete ? edit->doc.revision : edit->doc.put.revision;
    call_reply(call, status, encode(&edit->secret, call->revision));
}

const struct doc_kind secret_docs = {
    .name = SECRET_DOC,
    .target = TARGET_SECRET,
    .created = CHANGE_SECRET_CREATE,
    .changed = CHANGE_SECRET_CHANGE,
    .deleted = CHANGE_SECRET_DELETE,
    .has_revision = true,
    .edit_size = sizeof(struct secret_edit),
    .revision_at = offsetof(struct secret, revision),
    .may = may,
    .all = all_secrets,
    .sees = sees,
    .show = show,
    .prepare = prepare,
    .reply = reply,
    .release = release_edit,
};
