/* Reads the live output of runs on other nodes. The reader asks for the next piece when it has room
 * for it, and nothing is kept between two pieces on either node: a slow reader takes no memory. */
#ifndef PEAL_GATHER_OUTPUT_H
#define PEAL_GATHER_OUTPUT_H

#include <sys/queue.h>

#include "gather_net.h"

struct gather_output;
TAILQ_HEAD(gather_output_list, gather_output);

void gather_output_init(struct gather_output_list *reads);

/* As live_elsewhere.read; it is in `reads` until it is answered. */
void gather_output_read(struct gather_net *net, struct gather_output_list *reads,
                        struct live_read *read);

/* Fails all of them. */
void gather_output_give_up(struct gather_output_list *reads);

#endif
