/* What a backend of coord.h provides, and the texts that both write. */
#ifndef PEAL_COORD_BACKEND_H
#define PEAL_COORD_BACKEND_H

#include "coord.h"
#include "strbuf.h"

/* Names and ids are valid when they arrive here. */
struct coord_ops {
    enum status (*claim)(struct coord *coord, const struct coord_want *want, coord_notify *notify,
                         void *context, struct coord_claim **ret);
    void (*release)(struct coord_claim *claim);
    void (*claim_free)(struct coord_claim *claim);
    int64_t (*held_until_boot_ms)(const struct coord_claim *claim);
    enum status (*look)(struct coord *coord, enum coord_kind kind, const char *name,
                        coord_seen *seen, void *context);
    enum status (*watch)(struct coord *coord, enum coord_kind kind, const char *name,
                         coord_changed *changed, void *context, struct coord_watch **ret);
    void (*watch_free)(struct coord_watch *watch);
    enum status (*select)(struct coord *coord, const char *service, const char *id, int64_t hold_ms,
                          coord_chosen *chosen, void *context);
    void (*free)(struct coord *coord);
};

/* The first members of a backend's structs. */
struct coord {
    const struct coord_ops *ops;
};
struct coord_claim {
    struct coord *coord;
};
struct coord_watch {
    struct coord *coord;
};

/* "locks", "elections": folders of files and of keys. */
const char *coord_folder(enum coord_kind kind);

/* A name without slashes, which no other name has, for a file or a part of a key; and back. */
void coord_name_encode(const char *name, char ret[COORD_NAME_SIZE]);
void coord_name_decode(const char *text, size_t length, char ret[COORD_NAME_SIZE]);

/* This process, now. */
void coord_holder_self(const char *id, struct coord_holder *ret);

/* A holder as one line of JSON. E_CORRUPT. */
void coord_holder_print(const struct coord_holder *holder, struct strbuf *out);
MUST_CHECK enum status coord_holder_parse(const char *text, size_t length,
                                          struct coord_holder *ret);

#endif
