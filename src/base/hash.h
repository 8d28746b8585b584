/* A stable hash: the same bytes give the same number on every machine and in every version of peal,
 * because placement, `H`, `~` and jitter are computed from it on every node. Not for keys that an
 * attacker may choose. */
#ifndef PEAL_HASH_H
#define PEAL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a over the bytes, then a finalizer that spreads every bit. Chain by passing the previous
 * result as `seed`; start with 0. */
uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t length);

/* The text and its terminator, so that ("ab", "c") and ("a", "bc") differ when chained. */
uint64_t hash_text(uint64_t seed, const char *text);

/* A number in [0, limit), limit > 0, evenly. */
uint64_t hash_below(uint64_t hash, uint64_t limit);

#endif
