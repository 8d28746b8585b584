/* The position of the decoder in a job, as a chain from the inside out, and error messages with
 * that position. Spots live on the stack of the decoder. */
#ifndef PEAL_SPOT_H
#define PEAL_SPOT_H

#include "definition/job_codec.h"
#include "document/node.h"

struct spot {
    const struct spot *up;   /* NULL: the job itself */
    const char *name;        /* of the field; NULL: an item of a list */
    size_t index;            /* of that item */
    const struct node *node; /* the value */
};

/* Sets *err (may be NULL) to the position, the path, and the message after the field's name. */
void spot_set(struct job_error *err, const struct spot *spot, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for an error inside the value's text, at a column of that text. */
void spot_set_inside(struct job_error *err, const struct spot *spot,
                     const struct parse_error *inside);

/* A syntax error, before there are any fields. */
void spot_set_tree(struct job_error *err, const struct parse_error *inside);

/* Replaces the path alone, after spot_set with a message that names the field itself. */
void spot_point(struct job_error *err, const struct spot *spot);

/* For `return spot_fail(...)`: always E_INVALID. */
#define spot_fail(err, ...) (spot_set((err), __VA_ARGS__), status_invalid())

#endif
