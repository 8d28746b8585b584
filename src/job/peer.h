/* A node as the others know it: what it says of itself, again and again, and what the store knows
 * of it besides. */
#ifndef PEAL_PEER_H
#define PEAL_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "id.h"
#include "run.h"
#include "strbuf.h"

enum peer_role {
    PEER_API = 1,    /* serves HTTP */
    PEER_WORKER = 2, /* schedules and runs */
};

/* Why a node takes nothing new. The first that applies. */
enum peer_refusal {
    PEER_ACCEPTS,
    PEER_NO_WORKER,  /* it only serves the API */
    PEER_STOPPING,   /* its agent ends */
    PEER_CLOCK,      /* its clock is too far from the others', or not compared yet */
    PEER_NO_SPAWNER, /* nothing can be started there now */
    PEER_FULL,       /* it runs as much as it may */
    PEER_DOUBT,      /* its clock jumped, and nobody confirms what it shows */
    PEER_OTHER,      /* a newer peal says something that this one has no word for */
    PEER_REFUSALS,
};

struct peer {
    /* What it says of itself. */
    char name[64];      /* its id, which stays */
    struct id instance; /* made at every start of its agent */
    uint64_t home;      /* of its machine and data folder: only one agent at a time can have it */
    char address[128];  /* of its API for other machines; empty: it has none */
    bool has_history;   /* it keeps a history of its own, which no other node has */
    char history_address[64]; /* where other nodes ask for it; empty: nowhere */
    char fingerprint[65];     /* SHA-256, in hex, of the certificate that it shows to other nodes */
    char version[32];         /* of peal */
    char spawner_version[32]; /* of the peal-spawn that it runs; empty: none, or it is not known */
    char labels[512];         /* "disk=ssd,zone=eu": by name, each once */
    unsigned roles;           /* enum peer_role */
    int capacity;             /* its weight when work is shared out; 1 at least */
    int max_running;          /* 0: no limit */
    int running;              /* runs that it owns */
    enum peer_refusal refusal;
    char refusal_word[32];    /* OTHER: what it says, as it is */
    int64_t started_ms;       /* when its agent started, by its clock */
    int64_t wall_ms, boot_ms; /* its clocks when it said all this */
    int64_t skew_ms; /* how far its wall clock is from the cluster's, by its own reckoning */
    int64_t lag_ms;  /* how long its word before this took to come back to it; -1: not known */

    /* What the store adds. */
    bool is_alive;  /* false: its lease has run out, or it has left */
    int64_t joined; /* smaller: it is there for longer */
};

/* A worker, and not about to end. */
static inline bool peer_can_lead(const struct peer *peer)
{
    return (peer->roles & PEER_WORKER) && peer->refusal != PEER_STOPPING;
}

/* The life that it is in now. */
static inline struct incarnation peer_incarnation(const struct peer *peer)
{
    return (struct incarnation){peer->instance, peer->home};
}

/* Whose something in the store is, by the life that it belongs to and never by a name alone. */
enum whose {
    WHOSE_OTHERS, /* also under this node's name */
    WHOSE_FORMER, /* an earlier agent's of this home. It has ended, or the folder would be locked */
    WHOSE_OURS,   /* of this very life */
};
enum whose peer_whose(const struct peer *self, const char *node, const struct incarnation *owner);

/* Does the node, whose name the owner has, live on as that owner: in the same life, or in the next
 * one of the same home? */
bool peer_goes_on_as(const struct peer *peer, const struct incarnation *owner);

const char *peer_refusal_name(enum peer_refusal refusal); /* "full"; "" for ACCEPTS */
/* The same of a peer, whose word may be one of a newer peal. */
const char *peer_refusal_word(const struct peer *peer);
const char *peer_refusal_text(enum peer_refusal refusal); /* for people */

/* What the node says of itself, as one line of JSON; the name is the key that it is kept under. */
MUST_CHECK enum status peer_encode(const struct peer *peer, struct strbuf *out);
/* Unknown fields are passed over: nodes of several versions live together. E_CORRUPT. */
MUST_CHECK enum status peer_decode(const char *name, const char *json, size_t length,
                                   struct peer *ret);

/* "zone=eu" or "zone" into `labels`, in its place by name, instead of an older one of that name.
 * Names and values are of [A-Za-z0-9._/-], a name is not empty. E_INVALID; E_TOO_LARGE. */
MUST_CHECK enum status peer_add_label(char labels[512], const char *label);

#endif
