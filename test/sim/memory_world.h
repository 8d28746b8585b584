/* The world of the store in memory: each node has a line to it. */
#ifndef PEAL_SIM_MEMORY_WORLD_H
#define PEAL_SIM_MEMORY_WORLD_H

#include "world.h"

enum line_cut { LINE_UP = 1, LINE_DOWN = 2 }; /* towards the store, from it */

struct parcel;
TAILQ_HEAD(parcels, parcel);

/* What an agent takes for its store. Requests go up and answers come down, each in order; what
 * changes is heard after a while; the store hears of the node now and then, and forgets it after 5
 * s of silence. */
struct line {
    struct store base; /* first */
    struct node *node;
    struct store *view; /* of all there is; it stays when the agent goes */
    struct store_wake wake;
    bool is_open;

    unsigned cuts; /* enum line_cut */
    int64_t latency_ms, lag_ms;
    bool is_stuck;     /* nothing is heard that was not asked for */
    int loses_answers; /* per mille */
    bool is_armed;     /* with the next begin all is lost for a while */
    bool is_given_up;  /* cut for so long that it was noticed */
    struct task give_up;

    struct parcels parcels; /* the agent's, oldest first */
    struct parcels late;    /* nobody's any more, on their way up */
    int64_t up_at_ms, down_at_ms;

    struct task hear, unstick;
    bool is_loaded;
    size_t heard; /* of world.told; at the end of which all that may be heard is: */
    size_t told_until, hear_until;

    struct peer self; /* what it has said last */
    struct peer said; /* what of it was passed on */
    bool has_said;
    struct task say, repeat, keep, expire;
    bool has_joined; /* and is not gone yet; at most one of those who share a name has */
    bool is_kept;    /* its signs of life arrive, one every half second, the first at: */
    int64_t kept_since_ms;
    int64_t kept_until_ms; /* else; the node itself is sure for a little less */
    int64_t last_kept_ms;  /* of the last of them */
    int64_t suspected_ms;  /* when another node last found it silent */
};

struct world {
    struct store *eye; /* what the oracle sees */
    struct line lines[NODES_MAX];
    bool is_away, is_full;
    size_t told; /* changes, each to all lines */
    size_t messages;
};

/* ---- memory_line.c ---- */

void line_init(struct line *line, struct node *node);
void line_release(struct line *line);
void line_open(struct line *line, struct store_wake wake);
/* The agent is gone. Of what is on its way up, a part still arrives. */
void line_abandon(struct line *line);
void line_set_cuts(struct line *line, unsigned cuts);
/* The connection breaks: what was asked and not answered is unknown. */
void line_reset(struct line *line);
void line_hear(struct line *line); /* what has changed, after a while */
/* Nothing is lost or held back any more. */
void line_unstick(struct line *line);

/* ---- memory_presence.c ---- */

void line_init_presence(struct line *line);
void line_arrive(struct line *line); /* its agent starts, and has said nothing yet */
void line_depart(struct line *line); /* it says no more; for a while it counts as alive */
bool line_is_cut(const struct line *line);
bool line_is_there(const struct line *line); /* for the store */
bool line_is_shut_out(const struct line *line);
/* The line, the store or the machine has changed: do the node's signs of life arrive? */
void line_look(struct line *line);
void line_lose_lease(struct line *line);
void line_suspect(struct line *line, const char *name); /* another node */
enum status line_announce(struct line *line, const struct peer *self);
bool line_leads(const struct line *line); /* and is sure of it */
/* For the others it stays until it counts as gone, like one that was killed. */
void line_keep_place(struct line *line);

/* ---- memory_world.c ---- */

/* All items of a request, or the first few; and the oracle sees each. */
enum status world_apply(struct line *line, struct store_request *request, size_t count);

/* ---- memory_request.c ---- */

/* A copy of the request, of all that it points to, and of nobody to answer to. */
struct store_request *request_copy(const struct store_request *request);
struct store_request *request_free(struct store_request *request); /* a copy */
/* The one item at `index`, as a request of its own. */
struct store_request request_item(const struct store_request *request, size_t index);

#endif
