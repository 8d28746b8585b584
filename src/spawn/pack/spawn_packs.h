/* The agent's view of peal-call's packs (spawn_pack.h): which outputs are in them, and which packs
 * are not needed any more. */
#ifndef PEAL_SPAWN_PACKS_H
#define PEAL_SPAWN_PACKS_H

#include "pack/spawn_pack.h"

struct spawn_packs;

/* `folder` is peal-call's; it need not be there yet. NULL: out of memory. */
struct spawn_packs *spawn_packs_new(const char *folder);
struct spawn_packs *spawn_packs_free(struct spawn_packs *packs);

/* Is it known to be in a pack? Looks at no file. */
bool spawn_packs_know(const struct spawn_packs *packs, const char *id);

/* Finds the output of a run, also if it was packed since the last look. False: it is in no pack. */
bool spawn_packs_read(struct spawn_packs *packs, const char *id, struct spawn_pack_entry *ret,
                      char bytes[SPAWN_PACK_BYTES]);

/* The output of a run is not needed any more, whether it is there or not. */
void spawn_packs_take(struct spawn_packs *packs, const char *id);

#endif
