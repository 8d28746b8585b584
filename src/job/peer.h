/* A node as other nodes see it: the content of its heartbeats, and what the store adds. */
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

/* What a node keeps to that older ones do not, and that they would break without a word. */
enum peer_knowledge {
    PEER_KNOWS_MAINTENANCE = 1,
    PEER_KNOWS_SPACE_LIMITS = 2, /* groups of namespaces (group/group.h) */
    PEER_KNOWS_WINDOWS = 4,      /* and time zones of calendars */
    PEER_KNOWS =
        PEER_KNOWS_MAINTENANCE | PEER_KNOWS_SPACE_LIMITS | PEER_KNOWS_WINDOWS, /* this version */
};

/* Why a node accepts no new runs: the first reason that applies. */
enum peer_refusal {
    PEER_ACCEPTS,
    PEER_NO_WORKER,  /* it only serves the API */
    PEER_STOPPING,   /* its agent is about to end */
    PEER_CLOCK,      /* its clock differs too much from the other nodes', or is not compared yet */
    PEER_NO_SPAWNER, /* nothing can be started there now */
    PEER_FULL,       /* max_running is reached */
    PEER_DOUBT,      /* its clock jumped, and no other node confirms the new time */
    PEER_OTHER,      /* a reason that only a newer peal knows */
    PEER_REFUSALS,
};

enum { PEER_LOAD_MAX = 9999 };

struct peer {
    /* From the node's heartbeat. */
    char name[64];      /* permanent id of the node */
    struct id instance; /* made at every start of its agent */
    uint64_t home;      /* hash of machine and data folder, which one agent at a time can lock */
    char address[128];  /* of its API for other machines; empty: none */
    bool has_history;   /* it has records that no other node has: in a file, or waiting on its disk
                           for the database */
    char history_address[64]; /* of its port for other nodes, for histories and output; empty: none
                               */
    char fingerprint[65];     /* SHA-256, in hex, of its certificate for other nodes */
    char version[32];         /* of peal */
    char spawner_version[32]; /* of its peal-spawn; empty: none, or not known */
    char labels[512];         /* "disk=ssd,zone=eu": sorted by name, each name once */
    char program[64];         /* whose process it is, and whose functions alone it runs; "": it is
                                 an agent */
    int program_version;      /* as that program counts */
    char lacks[256];          /* functions that it has not registered, see function/lacks.h */
    char via[64];             /* a program's: the agent that takes its records and passes its output
                                 on; "": none yet */
    char progress[512];       /* a program's: how far its calls are, see function/progress.h */
    bool stands;              /* a program's: it has seen no agent that can lead, so it may lead */
    unsigned roles;           /* enum peer_role; none of a program */
    int capacity;             /* weight in the placement of runs; at least 1 */
    int max_running;          /* 0: no limit */
    int running;              /* runs that it owns */
    int cpu_pressure;    /* in %: time in which processes waited for a processor, and for ... */
    int memory_pressure; /* ... memory, over the last 10 s; -1: not known, as of an older peal */
    int cpu_load;        /* load average of a minute per processor, in %; -1: not known, likewise */
    int memory_used;     /* in %, without what the kernel can free; -1: not known */
    unsigned knows;      /* enum peer_knowledge; 0: an older peal */
    enum peer_refusal refusal;
    char refusal_word[32];    /* PEER_OTHER: the reason as the node sent it */
    int64_t started_ms;       /* start of its agent, by its own clock */
    int64_t wall_ms, boot_ms; /* its clocks at the heartbeat */
    int64_t skew_ms;          /* of its wall clock against the cluster's, as the node measures it */
    int64_t lag_ms; /* watch lag: how long its last heartbeat took to come back; -1: not known */

    /* From the store. */
    int64_t beats_ms; /* how often it shows signs of life while it has begun runs; 0: not more often
                         than always, as an older peal */
    bool is_alive;    /* false: its lease has expired, or it has left */
    int64_t joined;   /* smaller: joined earlier */
};

/* A process of a program that embeds the library. Older versions, which do not know programs, take
 * it for a node that runs nothing, since it has no PEER_WORKER. */
static inline bool peer_is_program(const struct peer *peer)
{
    return peer->program[0] != '\0';
}

static inline bool peer_is_agent_worker(const struct peer *peer)
{
    return (peer->roles & PEER_WORKER) && !peer_is_program(peer);
}

/* Jobs of an agent, or functions of its program. */
static inline bool peer_runs_jobs(const struct peer *peer)
{
    return (peer->roles & PEER_WORKER) || peer_is_program(peer);
}

/* A worker whose agent is not about to end may lead; a program only where no such agent is. */
static inline bool peer_can_lead(const struct peer *peer)
{
    return (peer_is_agent_worker(peer) || (peer_is_program(peer) && peer->stands)) &&
           peer->refusal != PEER_STOPPING;
}

/* What is free of the node, by its heartbeat: its room for runs times the share of time in which
 * nothing waited for processor or memory. More than 0, at most 1, and in coarse steps, so that
 * nodes that have seen different heartbeats mostly get the same. Half if it tells no pressure. */
double peer_free_share(const struct peer *peer);

static inline struct incarnation peer_incarnation(const struct peer *peer)
{
    return (struct incarnation){peer->instance, peer->home};
}

/* Who owns a run or a ledger entry in the store: decided by incarnation. The node's name decides
 * only for records of an older peal, which have no incarnation. */
enum whose {
    WHOSE_OTHERS, /* another node, perhaps under the same name */
    WHOSE_FORMER, /* an earlier agent of this home, which has ended: we hold the folder's lock */
    WHOSE_OURS,   /* this incarnation */
};
enum whose peer_whose(const struct peer *self, const char *node, const struct incarnation *owner);

/* Is the node, which has the owner's name, the same incarnation or a later one of the same home?
 * True for an owner of an older peal, which has no home. */
bool peer_goes_on_as(const struct peer *peer, const struct incarnation *owner);

const char *peer_refusal_name(enum peer_refusal refusal); /* "full"; "" for ACCEPTS */
/* The peer's reason, also one that only a newer peal knows. */
const char *peer_refusal_word(const struct peer *peer);
const char *peer_refusal_text(enum peer_refusal refusal); /* for people */

/* The heartbeat as one line of JSON, without the name, which is its key in the store. */
MUST_CHECK enum status peer_encode(const struct peer *peer, struct strbuf *out);
/* Ignores unknown fields: a cluster may have nodes of several versions. E_CORRUPT. */
MUST_CHECK enum status peer_decode(const char *name, const char *json, size_t length,
                                   struct peer *ret);

/* Inserts "zone=eu" or "zone" into the sorted `labels`, or replaces the label of the same name.
 * Names and values consist of [A-Za-z0-9._/-]; a name is not empty. E_INVALID; E_TOO_LARGE. */
MUST_CHECK enum status peer_add_label(char labels[512], const char *label);

#endif
