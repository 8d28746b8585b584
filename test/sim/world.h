/* What the nodes share, and the way to it: the store. It is played more than once, and a program is
 * linked with one of them:
 *
 *   wire/           the product's store in etcd and its etcd client, over a network and an etcd
 *                   that are played: all of the product is there
 *   redis/, pg/     the same over the product's clients of Redis and PostgreSQL
 *   memory_world.c  the store in memory, behind lines that are slow, are cut and lose answers: what
 *                   the engine may meet of any store, some four times as fast */
#ifndef PEAL_SIM_WORLD_H
#define PEAL_SIM_WORLD_H

#include "cluster.h"

const char *world_name(void);
bool world_has_days(void);     /* else lives of days take too long: too much is asked in silence */
bool world_counts_deeds(void); /* all of them are in node->deeds */

void world_init(struct cluster *cluster);
void world_release(struct cluster *cluster); /* after all nodes; ends all that is under way */
void world_add_node(struct node *node);

/* The store of an agent that starts. Not OK: *why. */
MUST_CHECK enum status world_open(struct node *node, struct store_wake wake, struct store **ret,
                                  struct strbuf *why);
/* Its agent is killed, and its store freed next. */
void world_forget(struct node *node);
/* Its agent has ended in order. */
void world_stop(struct node *node);

/* Its machine stood still for a while: what it was listening to may be silent now. */
void world_thaw(struct node *node);

/* What is the world's of the faults. */
void world_break(struct cluster *cluster, const struct fault *fault, uint64_t *random);
void world_mend(struct cluster *cluster, const struct fault *fault);
void world_mend_all(struct cluster *cluster);

/* All jobs are deleted: is there nothing else? False: *left says what. */
bool world_is_at_rest(struct cluster *cluster, struct strbuf *left);

size_t world_messages(const struct cluster *cluster);

#endif
