/* Replaces the values of secrets in a stream of output, before it reaches a file: each stretch of
 * bytes that occurrences of values cover becomes SECRET_MASK, however the stream is cut into reads.
 *
 * `struct masks` is an Aho-Corasick automaton over the forms of all values (mask_forms.h), shared
 * by the streams of a run. A stream holds back what may be the beginning of a value: at most one
 * byte less than the longest form. The time is linear in the bytes of the stream. Pure. */
#ifndef PEAL_SERVE_MASKER_H
#define PEAL_SERVE_MASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define SECRET_MASK "********"

struct masks;

MUST_CHECK enum status masks_new(struct masks **ret);

/* Accepts NULL; returns NULL. Values are wiped. */
struct masks *masks_free(struct masks *masks);

/* Adds one form of a value. E_NOMEM: the masks are not usable any more. */
MUST_CHECK enum status masks_add(struct masks *masks, const char *bytes, size_t length);

/* After the last masks_add, before the first masker. */
MUST_CHECK enum status masks_finish(struct masks *masks);

size_t masks_longest(const struct masks *masks); /* bytes of the longest form */

/* From `from` to before `to`, as positions in the stream. */
struct masked_part {
    uint64_t from, to;
};

/* One stream. */
struct masker {
    const struct masks *masks;
    uint32_t node;      /* of the automaton: the longest beginning of a form that ends here */
    uint64_t position;  /* bytes fed */
    uint64_t told;      /* bytes that were decided: handed on, or masked */
    uint64_t masked_to; /* the end of the last part whose mask was handed on */
    char *held;         /* a ring of the last bytes, those from `told` on are not decided */
    size_t held_size;   /* a power of two */
    struct masked_part *parts; /* a ring, in order and apart: covered, and not handed on yet */
    size_t part_first, part_count, part_size;
};

MUST_CHECK enum status masker_init(struct masker *masker, const struct masks *masks);
void masker_release(struct masker *masker); /* wipes what is held */

/* Takes what is decided; up to MASKER_PIECE bytes at a time. */
typedef void masker_sink(void *context, const char *bytes, size_t length);
enum { MASKER_PIECE = 4096 };

void masker_feed(struct masker *masker, const char *bytes, size_t length, masker_sink *sink,
                 void *context);

/* The stream has ended: what is held is no value. */
void masker_end(struct masker *masker, masker_sink *sink, void *context);

/* No more of the stream is read, though it goes on: what is held may be the beginning of a value,
 * and is masked. */
void masker_cut(struct masker *masker, masker_sink *sink, void *context);

/* ---- for another process that goes on ---- */

/* What is held, into `ret`, which has room for masks_longest() bytes; returns its length.
 * *ret_masked: 0, or 1 and how many of its bytes belong to the part whose mask was handed on last
 * and that reaches to it. */
size_t masker_save(const struct masker *masker, char *ret, size_t *ret_masked);

/* The same in a masker that was not fed yet. E_CORRUPT: nothing can be held like that. */
MUST_CHECK enum status masker_restore(struct masker *masker, const char *held, size_t length,
                                      size_t masked);

#endif
