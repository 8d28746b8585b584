/* The connection to one other node: questions go one after the other, over one connection, which
 * stays open as long as both sides like. A node that is silent is not asked again for some seconds.
 */
#ifndef PEAL_GATHER_LINK_H
#define PEAL_GATHER_LINK_H

#include <stddef.h>

#include "gather_tls.h"
#include "loop.h"
#include "peer.h"

struct gather_link;
struct gather_ask;

MUST_CHECK enum status gather_link_new(struct loop *loop, struct gather_tls *tls, const char *node,
                                       struct gather_link **ret);

/* Nothing that was asked is answered any more. */
struct gather_link *gather_link_free(struct gather_link *link);

const char *gather_link_node(const struct gather_link *link);

/* OK: `text` is the answer, until `done` returns. Anything else: the node could not be reached, or
 * has refused (E_INVALID: it does not take this). Called once, from the loop. */
typedef void gather_ask_done(void *context, enum status st, const char *text, size_t length);

/* Where the node is, and its certificate, is as it announces in `peer`. `path` stays; `body` is
 * copied. E_BUSY: it was silent a moment ago, or too much waits for it already. */
MUST_CHECK enum status gather_link_ask(struct gather_link *link, const struct peer *peer,
                                       const char *path, const char *body, gather_ask_done *done,
                                       void *context, struct gather_ask **ret);

/* It has taken too long: `done` is not called any more. */
void gather_link_give_up(struct gather_ask *ask);

/* Has the last question been answered? True also of one that was never asked. */
bool gather_link_is_good(const struct gather_link *link);

#endif
