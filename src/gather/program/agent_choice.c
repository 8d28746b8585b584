#include "program/agent_choice.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"

enum { SILENT_FOR_MS = 2000, OLD_FOR_MS = 60000, LOOK_EVERY_MS = 100 };

static bool is_avoided(const struct agent_choice *choice, const char *node, struct boot_ms now)
{
    for (size_t i = 0; i < AGENTS_AVOIDED; i++) {
        if (now.ms < choice->avoided[i].until.ms && strcmp(choice->avoided[i].node, node) == 0)
            return true;
    }
    return false;
}

static bool can_take(const struct agent_choice *choice, const struct known_peer *known,
                     struct boot_ms now)
{
    const struct peer *peer = &known->peer;
    return peer->is_alive && !peer_is_program(peer) && *peer->history_address &&
           *peer->fingerprint && !is_avoided(choice, peer->name, now);
}

struct search {
    const struct agent_choice *choice;
    struct boot_ms now;
    const struct known_peer *best;
    uint64_t weight;
};

static bool look(void *context, const struct known_peer *known)
{
    struct search *search = context;
    const char *self = search->choice->peers->self->name;
    uint64_t weight = hash_text(hash_text(0, self), known->peer.name);
    if (can_take(search->choice, known, search->now) &&
        (!search->best || weight > search->weight)) {
        search->best = known;
        search->weight = weight;
    }
    return true;
}

const struct known_peer *agent_choose(struct agent_choice *choice)
{
    struct search search = {.choice = choice, .now = clock_now().boot};
    if (!choice->peers || !peers_am_alive(choice->peers))
        return NULL; /* nobody knows this program's certificate yet */
    const struct known_peer *last = *choice->node ? peers_find(choice->peers, choice->node) : NULL;
    if (last && can_take(choice, last, search.now))
        return last;
    if (search.now.ms < choice->look_at.ms)
        return NULL;
    peers_each(choice->peers, look, &search);
    if (!search.best)
        choice->look_at.ms = search.now.ms + LOOK_EVERY_MS;
    snprintf(choice->node, sizeof(choice->node), "%s", search.best ? search.best->peer.name : "");
    return search.best;
}

void agent_avoid(struct agent_choice *choice, const char *node, enum status why)
{
    struct avoided_agent *avoided = &choice->avoided[choice->next++ % AGENTS_AVOIDED];
    snprintf(avoided->node, sizeof(avoided->node), "%s", node);
    avoided->until.ms = clock_now().boot.ms + (why == E_VERSION ? OLD_FOR_MS : SILENT_FOR_MS);
}
