#include "peer.h"

#include <ctype.h>
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
    [PEER_DOUBT] = {"clock_doubt", "its clock jumped, and is not trusted yet"},
    [PEER_OTHER] = {"newer", "it takes nothing new, for a reason that only a newer peal knows"},
};

_Static_assert(sizeof(refusals) / sizeof(refusals[0]) == PEER_REFUSALS, "each has its words");

const char *peer_refusal_name(enum peer_refusal refusal)
{
    return refusals[refusal < PEER_REFUSALS ? refusal : PEER_OTHER].name;
}

const char *peer_refusal_word(const struct peer *peer)
{
    bool has_word = peer->refusal == PEER_OTHER && *peer->refusal_word;
    return has_word ? peer->refusal_word : peer_refusal_name(peer->refusal);
}

const char *peer_refusal_text(enum peer_refusal refusal)
{
    return refusals[refusal < PEER_REFUSALS ? refusal : PEER_OTHER].text;
}

/* ---- load ---- */

/* In eighths, rounded; 1/16 instead of nothing. */
static double coarse(double share)
{
    int eighths = (int)(share * 8 + 0.5);
    return eighths < 1 ? 1.0 / 16 : eighths > 8 ? 1 : eighths / 8.0;
}

double peer_free_share(const struct peer *peer)
{
    if (peer->cpu_pressure < 0)
        return 0.5;
    double running = peer->running > 0 ? peer->running : 0;
    double capacity = peer->capacity > 0 ? peer->capacity : 1;
    double room =
        peer->max_running > 0 ? 1 - running / peer->max_running : capacity / (capacity + running);
    int waits =
        peer->cpu_pressure > peer->memory_pressure ? peer->cpu_pressure : peer->memory_pressure;
    return coarse(room) * coarse(1 - waits / 100.0);
}

/* ---- ownership ---- */

/* A record of an older peal has only the node's name. */
static bool is_same_home(uint64_t home, const char *name, const char *node,
                         const struct incarnation *owner)
{
    return owner->home ? owner->home == home : strcmp(name, node) == 0;
}

enum whose peer_whose(const struct peer *self, const char *node, const struct incarnation *owner)
{
    if (!is_same_home(self->home, self->name, node, owner))
        return WHOSE_OTHERS;
    return id_compare(&owner->instance, &self->instance) == 0 ? WHOSE_OURS : WHOSE_FORMER;
}

bool peer_goes_on_as(const struct peer *peer, const struct incarnation *owner)
{
    return !owner->home || owner->home == peer->home;
}

/* ---- labels ---- */

static bool is_label_char(char c)
{
    return isalnum((unsigned char)c) || strchr("._/-", c);
}

/* The length of the label's name; 0: not a valid label. */
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
