/* The queue of changes from a store to its owner; it holds copies. */
#ifndef PEAL_FEED_H
#define PEAL_FEED_H

#include "store.h"

struct feed_item;

/* Zeroed: empty. */
struct feed {
    struct feed_item *first, *last;
    bool failed;              /* out of memory: a change is missing */
    bool is_deaf;             /* drops all changes */
    struct store_place place; /* of changes that are added from now on */
};

/* Appends a deep copy of the change. */
void feed_add(struct feed *feed, const struct store_change *change);

void feed_add_run(struct feed *feed, enum store_change_kind kind, const struct run *run);
void feed_add_entry(struct feed *feed, const struct ledger_entry *entry);
void feed_add_gone(struct feed *feed, const struct id *id);

/* The change after that of *at (NULL: the first), which stays in the feed; NULL at its end. */
const struct store_change *feed_each(const struct feed *feed, const struct feed_item **at);

/* Appends all of `from`, which is empty afterwards. */
void feed_move(struct feed *to, struct feed *from);

void feed_release(struct feed *feed);

/* Takes the oldest change. *ret is valid until the next call with the same `held`, which the caller
 * keeps (NULL at first) and frees at the end with feed_item_free. */
bool feed_next(struct feed *feed, struct feed_item **held, struct store_change *ret);
struct feed_item *feed_item_free(struct feed_item *item);

#endif
