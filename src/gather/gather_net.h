/* This node and the others on the port between nodes: its certificate, the connections to the
 * others, and what it serves to them. What goes over it: questions to histories (history_gather.h),
 * and output of runs. */
#ifndef PEAL_GATHER_NET_H
#define PEAL_GATHER_NET_H

#include "gather_link.h"
#include "history.h"
#include "live_output.h"
#include "loop.h"
#include "node_question.h"
#include "program/records_taken.h"
#include "state/peers.h"

struct gather_net;

/* Connections to one node: an answer of one lane does not wait for those of another. */
enum gather_lane { LANE_HISTORY, LANE_OUTPUT, GATHER_LANES };

MUST_CHECK enum status gather_net_new(struct loop *loop, struct gather_net **ret);

/* Requests for output that are under way fail; histories must have been answered. Accepts NULL;
 * returns NULL. */
struct gather_net *gather_net_free(struct gather_net *net);

struct loop *gather_net_loop(const struct gather_net *net);

/* The fingerprint of this node's certificate, to be announced. */
const char *gather_net_fingerprint(const struct gather_net *net);

/* The other nodes, which must outlive the net. NULL, as before the first call: there are none. */
void gather_net_set_peers(struct gather_net *net, const struct peers *peers);
const struct peers *gather_net_peers(const struct gather_net *net);

/* What the others may read here, from now on; NULL, or without `read`: nothing. Programs may hand
 * their records to that history, and offer their output as soon as output is served. */
void gather_net_serve_history(struct gather_net *net, struct history *own);
void gather_net_serve_output(struct gather_net *net, struct live_output output);

/* What this node answers when it is asked for its messages. */
void gather_net_serve_messages(struct gather_net *net, struct own_answer messages);

/* Who is told of the records of programs. */
void gather_net_observe_records(struct gather_net *net, struct records_observer observer);

/* Serves that on `fd`, a listening socket, which is taken over. E_NOMEM. */
MUST_CHECK enum status gather_net_listen(struct gather_net *net, int fd);

/* ---- asking others ---- */

/* Why a node can't be asked; "": it can. */
const char *gather_net_why_not(const struct gather_net *net, enum gather_lane lane,
                               const struct known_peer *known);

/* As gather_link_ask. Anything but OK: *ret_why says why, as the rest of a sentence after the name
 * of the node. E_VERSION: it opens no port. */
MUST_CHECK enum status gather_net_ask(struct gather_net *net, enum gather_lane lane,
                                      const char *node, const char *path, const char *body,
                                      gather_ask_done *done, void *context, struct gather_ask **ret,
                                      const char **ret_why);

/* Whom to ask for the output of a node's runs: itself, or the agent of a program; "": nobody. */
const char *gather_net_via(const struct gather_net *net, const char *node);

/* The live output of other nodes. */
struct live_elsewhere gather_net_output(struct gather_net *net);

/* The messages of all other nodes that send some. */
struct node_asker gather_net_messages(struct gather_net *net);

#endif
