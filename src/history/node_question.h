/* A question that each node answers from what it alone has, such as the messages that it sends. */
#ifndef PEAL_NODE_QUESTION_H
#define PEAL_NODE_QUESTION_H

#include "history.h"

/* On this node: the answer to a question of another one, both JSON. E_INVALID: it is no question.
 */
struct own_answer {
    enum status (*answer)(void *context, const char *question, size_t length, struct strbuf *out);
    void *context;
};

/* To all other nodes. */
struct node_question {
    const char *text; /* copied */
    char **answers;   /* JSON; freed by node_question_release */
    size_t count;
    struct history_absences absent; /* who did not answer, freed likewise */
    /* E_NOMEM: there are no answers. */
    void (*done)(struct node_question *question, enum status st);
    void *context;
};

struct node_asker {
    /* Calls question->done once, within 2 s, perhaps at once. NULL: there are no other nodes. */
    void (*ask)(void *context, struct node_question *question);
    void *context;
};

void node_question_release(struct node_question *question);

#endif
