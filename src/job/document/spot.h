/* Where in a job the decoder is, from the inside out, and how a mistake there is told. Spots live
 * on the stack of whoever goes down the tree. */
#ifndef PEAL_SPOT_H
#define PEAL_SPOT_H

#include "definition/job_codec.h"
#include "document/node.h"

struct spot {
    const struct spot *up;   /* NULL: the job itself */
    const char *name;        /* of the field; NULL: an element of a list */
    size_t index;            /* of that element */
    const struct node *node; /* what stands there */
};

/* Fill *err (may be NULL) with the place, the path and the message, the field's name in front. */
void spot_set(struct job_error *err, const struct spot *spot, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a mistake inside the text there, at a column of that text. */
void spot_set_inside(struct job_error *err, const struct spot *spot,
                     const struct parse_error *inside);

/* A mistake of the tree itself, which has no fields yet. */
void spot_set_tree(struct job_error *err, const struct parse_error *inside);

/* The path alone, after one of the others: the message names the field itself. */
void spot_point(struct job_error *err, const struct spot *spot);

/* So that `return spot_fail(...)` reads well: always E_INVALID. */
#define spot_fail(err, ...) (spot_set((err), __VA_ARGS__), status_invalid())

#endif
