/* Asks all other agents of the cluster the same, and collects their answers. */
#ifndef PEAL_GATHER_QUESTION_H
#define PEAL_GATHER_QUESTION_H

#include <sys/queue.h>

#include "gather_net.h"

struct gather_question;
TAILQ_HEAD(gather_question_list, gather_question);

void gather_question_init(struct gather_question_list *questions);

/* As node_asker.ask, a POST to `path`; it is in `questions` until it is answered. */
void gather_question_ask(struct gather_net *net, struct gather_question_list *questions,
                         const char *path, struct node_question *question);

/* Ends all of them with the answers that have come. */
void gather_question_give_up(struct gather_question_list *questions);

#endif
