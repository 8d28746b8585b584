#include "peer.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} refusals[] = {
    [PEER_ACCEPTS] = {"", "takes new runs"},
    [PEER_NO_WORKER] = {"api", "only serves the API"},
    [PEER_STOPPING] = {"stopping", "its agent is about to end"},
    [PEER_CLOCK] = {"clock",
                    "its clock is too far from the other nodes', or not compared with theirs yet"},
    [PEER_NO_SPAWNER] = {"spawner", "its spawner can't be reached, so nothing can be started"},
    [PEER_FULL] = {"full", "it runs as much as it may (max_running)"},
};

const char *peer_refusal_name(enum peer_refusal refusal)
{
    return refusals[refusal].name;
}

const char *peer_refusal_text(enum peer_refusal refusal)
{
    return refusals[refusal].text;
}

/* ---- as JSON ---- */

enum status peer_encode(const struct peer *peer, struct strbuf *out)
{
    char instance[ID_TEXT + 1], home[20];
    id_format(&peer->instance, instance);
    snprintf(home, sizeof(home), "%016llx", (unsigned long long)peer->home);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s, s:I, s:I, "
                  "s:I, s:I, s:I}",
                  "instance", instance, "home", home, "address", peer->address, "has_history",
                  peer->has_history, "history_address", peer->history_address, "fingerprint",
                  peer->fingerprint, "version", peer->version, "labels", peer->labels, "roles",
                  (int)peer->roles, "capacity", peer->capacity, "max_running", peer->max_running,
                  "running", peer->running, "refusal", peer_refusal_name(peer->refusal),
                  "started_ms", (json_int_t)peer->started_ms, "wall_ms", (json_int_t)peer->wall_ms,
                  "boot_ms", (json_int_t)peer->boot_ms, "skew_ms", (json_int_t)peer->skew_ms,
                  "lag_ms", (json_int_t)peer->lag_ms);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text)
        return E_NOMEM;
    strbuf_adds(out, text);
    free(text);
    return strbuf_status(out);
}

/* A reason that a newer version has and this one does not know is a reason all the same. */
static enum peer_refusal refusal_by_name(const char *name)
{
    for (int i = 0; i < PEER_REFUSALS; i++)
        if (strcmp(name, refusals[i].name) == 0)
            return (enum peer_refusal)i;
    return PEER_STOPPING;
}

static void copy_text(const json_t *json, const char *key, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(json, key));
    snprintf(to, size, "%s", text ? text : "");
}

static int64_t number(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

enum status peer_decode(const char *name, const char *text, size_t length, struct peer *ret)
{
    char instance[64], home[20], refusal[32];
    struct peer peer = {0};
    json_t *json = json_loadb(text, length, 0, NULL);
    enum status st = E_CORRUPT;
    if (!json_is_object(json) || strlen(name) >= sizeof(peer.name))
        goto out;
    copy_text(json, "instance", instance, sizeof(instance));
    if (id_parse(instance, &peer.instance) != OK)
        goto out;
    snprintf(peer.name, sizeof(peer.name), "%s", name);
    copy_text(json, "home", home, sizeof(home));
    peer.home = strtoull(home, NULL, 16);
    copy_text(json, "address", peer.address, sizeof(peer.address));
    peer.has_history = json_is_true(json_object_get(json, "has_history"));
    copy_text(json, "history_address", peer.history_address, sizeof(peer.history_address));
    copy_text(json, "fingerprint", peer.fingerprint, sizeof(peer.fingerprint));
    copy_text(json, "version", peer.version, sizeof(peer.version));
    copy_text(json, "labels", peer.labels, sizeof(peer.labels));
    peer.roles = (unsigned)number(json, "roles");
    int64_t capacity = number(json, "capacity");
    peer.capacity = capacity < 1 ? 1 : capacity > 1000000 ? 1000000 : (int)capacity;
    peer.max_running = (int)number(json, "max_running");
    peer.running = (int)number(json, "running");
    copy_text(json, "refusal", refusal, sizeof(refusal));
    peer.refusal = refusal_by_name(refusal);
    peer.started_ms = number(json, "started_ms");
    peer.wall_ms = number(json, "wall_ms");
    peer.boot_ms = number(json, "boot_ms");
    peer.skew_ms = number(json, "skew_ms");
    peer.lag_ms = json_object_get(json, "lag_ms") ? number(json, "lag_ms") : -1;
    *ret = peer;
    st = OK;
out:
    json_decref(json);
    return st;
}

/* ---- labels ---- */

static bool is_label_char(char c)
{
    return isalnum((unsigned char)c) || strchr("._/-", c);
}

/* The length of the name, or 0: not a label. */
static size_t check_label(const char *label)
{
    size_t name_length = strcspn(label, "=");
    for (const char *at = label; *at; at++)
        if (!is_label_char(*at) && at != label + name_length)
            return 0;
    return name_length;
}

enum status peer_add_label(char labels[512], const char *label)
{
    size_t name_length = check_label(label);
    struct strbuf out;
    bool is_placed = false;
    if (!name_length)
        return E_INVALID;
    strbuf_init(&out);
    for (const char *at = labels; *at;) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=,");
        int order = strncmp(at, label, name < name_length ? name : name_length);
        if (order == 0)
            order = (name > name_length) - (name < name_length);
        if (order >= 0 && !is_placed) {
            strbuf_addf(&out, "%s%s", out.length ? "," : "", label);
            is_placed = true;
        }
        if (order != 0)
            strbuf_addf(&out, "%s%.*s", out.length ? "," : "", (int)length, at);
        at += length + (at[length] == ',');
    }
    if (!is_placed)
        strbuf_addf(&out, "%s%s", out.length ? "," : "", label);
    enum status st = strbuf_status(&out);
    if (st == OK && out.length >= 512)
        st = E_TOO_LARGE;
    if (st == OK)
        memcpy(labels, out.text, out.length + 1);
    strbuf_release(&out);
    return st;
}
