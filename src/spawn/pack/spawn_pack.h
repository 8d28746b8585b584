/* Packs: the outputs of short calls, many in a file.
 *
 * To make a file for each of thousands of calls in a second costs more than the calls themselves.
 * So peal-call appends the output of a call that has answered in one go, with little, to a pack: in
 * `out/pack` of its folder, named by a number of 16 hexadecimal digits, which grows by one from
 * pack to pack. All others have files of their own (spawn_record.h); no output is in both.
 *
 * A pack is a sequence of entries, each a spawn_pack_entry and then `length` bytes of stdout. The
 * last pack is appended to by peal-call alone, until it makes the next one. An entry that is not
 * whole is the last of its pack: peal-call was killed, and begins another pack. The agent sets
 * is_taken of an entry that it needs no more, and removes a pack that is not the last one when all
 * of its entries are taken. */
#ifndef PEAL_SPAWN_PACK_H
#define PEAL_SPAWN_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "spawn_message.h"
#include "status.h"

#define SPAWN_PACK_FOLDER "pack" /* in the folder of output files */
#define SPAWN_PACK_MAGIC  0x6b636170u
#define SPAWN_PACK_BYTES  4096      /* of output in an entry, at most */
#define SPAWN_PACK_MAX    (1 << 20) /* bytes of a pack after which the next one is made */
#define SPAWN_PACK_NAME   17        /* with its terminator */

struct spawn_pack_entry {
    uint32_t magic;
    uint32_t length;
    char id[SPAWN_ID_MAX + 8]; /* of the run, with zeroes behind it */
    int64_t wall_ms;           /* of the output */
    uint64_t checksum;         /* of all before it, and of the bytes */
    uint64_t is_taken;
};

void spawn_pack_name(uint64_t number, char name[SPAWN_PACK_NAME]);

/* The numbers of the packs in the folder of them, ascending; to be freed. */
MUST_CHECK enum status spawn_pack_list(int folder_fd, uint64_t **ret, size_t *ret_count);

/* Fills the entry of these bytes, at most SPAWN_PACK_BYTES; the id must be valid. */
void spawn_pack_fill(struct spawn_pack_entry *entry, const char *id, const char *bytes,
                     size_t length, int64_t wall_ms);

/* The entry at `offset`, with its bytes. E_NOT_FOUND: there is no whole one. */
MUST_CHECK enum status spawn_pack_read(int fd, uint64_t offset, struct spawn_pack_entry *ret,
                                       char bytes[SPAWN_PACK_BYTES]);
static inline uint64_t spawn_pack_end(uint64_t offset, const struct spawn_pack_entry *entry)
{
    return offset + sizeof(*entry) + entry->length;
}

/* Sets is_taken of the entry at `offset`. False: errno. */
bool spawn_pack_take(int fd, uint64_t offset);

#endif
