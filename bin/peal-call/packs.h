/* Writes packs (spawn_pack.h): the outputs of the calls that end in a turn, together. */
#ifndef PEAL_CALLER_PACKS_H
#define PEAL_CALLER_PACKS_H

#include "pack/spawn_pack.h"
#include "strbuf.h"

struct packs {
    int folder_fd; /* -1: there are none */
    int fd;        /* the pack that is appended to; -1: none yet */
    uint64_t number;
    uint64_t size;
    struct strbuf gathered; /* entries that are not written yet */
};

/* In the folder of output files. A pack of an earlier process is not appended to. */
void packs_open(struct packs *packs, int output_fd);
void packs_close(struct packs *packs);

/* Calls `seen` with every entry, of all packs, that nobody has taken; true: it is taken now. */
typedef bool packs_seen(void *user, const struct spawn_pack_entry *entry, const char *bytes);
void packs_walk(const struct packs *packs, packs_seen *seen, void *user);

/* Gathers an entry. False: it can't be; it has to go to a file of its own. */
bool packs_add(struct packs *packs, const char *id, const char *bytes, size_t length,
               int64_t wall_ms);

/* Writes what was gathered. E_IO: none of it is in the pack, nor will be. */
MUST_CHECK enum status packs_write(struct packs *packs);

#endif
