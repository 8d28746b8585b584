/* A graph of steps as text: a line for each step, in an order in which they can run, and beside it
 * lines from each step down to those that wait for it. Lines to the same step are joined. Pure. */
#ifndef PEAL_GRAPH_DRAW_H
#define PEAL_GRAPH_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

enum graph_colour { GRAPH_PLAIN, GRAPH_GOOD, GRAPH_BAD, GRAPH_BUSY, GRAPH_FAINT };

struct graph_node {
    const char *label; /* without control characters */
    const char *note;  /* behind it; "": none */
    enum graph_colour colour;
    bool is_hollow; /* not reached yet */
};

struct graph_edge {
    size_t from, to; /* indexes of nodes */
};

struct graph {
    const struct graph_node *nodes;
    size_t node_count;
    const struct graph_edge *edges;
    size_t edge_count;
    bool is_ascii;   /* no other characters */
    bool has_colour; /* ANSI sequences */
};

/* Nodes of a cycle, which a workflow never has, come last, without lines. E_NOMEM. */
MUST_CHECK enum status graph_draw(const struct graph *graph, struct strbuf *out);

#endif
