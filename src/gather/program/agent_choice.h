/* Which agent takes a program's records and passes its output on: one that is alive and has a port
 * for other nodes. The same for as long as it answers; which one it is spreads the programs over
 * the agents. */
#ifndef PEAL_AGENT_CHOICE_H
#define PEAL_AGENT_CHOICE_H

#include "clock.h"
#include "state/peers.h"

enum { AGENTS_AVOIDED = 8 };

struct agent_choice {
    const struct peers *peers; /* NULL: not known yet */
    char node[64];             /* the last one chosen; "": none */
    struct avoided_agent {
        char node[64];
        struct boot_ms until;
    } avoided[AGENTS_AVOIDED];
    size_t next;            /* of `avoided` to be overwritten */
    struct boot_ms look_at; /* there was none: not looked for before */
};

/* NULL: there is none. Valid until the next turn. */
const struct known_peer *agent_choose(struct agent_choice *choice);

/* It did not answer, or (E_VERSION) knows no programs: others go first for a while. */
void agent_avoid(struct agent_choice *choice, const char *node, enum status why);

#endif
