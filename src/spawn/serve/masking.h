/* The output of one run whose secrets are masked, on its way to the files (output.h). In memory
 * only; runs without secrets have none of it. */
#ifndef PEAL_SERVE_MASKING_H
#define PEAL_SERVE_MASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/output.h"
#include "status.h"

struct masking;

/* One value; borrowed. */
struct masked_value {
    const char *bytes;
    size_t length;
};

MUST_CHECK enum status masking_new(const struct masked_value *values, size_t count,
                                   struct masking **ret);

/* Accepts NULL; returns NULL. Wipes the values. */
struct masking *masking_free(struct masking *masking);

/* Where the output goes. */
struct masking_target {
    struct output *output;
    int folder_fd;
    const char *id;
    int64_t wall_ms;
};

/* As output_append, of what is not held back. */
void masking_append(struct masking *masking, const struct masking_target *target,
                    enum spawn_stream stream, const char *bytes, size_t length);

/* Nothing more is read of a stream: it is over, or goes on unread. */
void masking_end(struct masking *masking, const struct masking_target *target,
                 enum spawn_stream stream, bool is_over);

/* The whole state as a sealed memfd for the next image of this process, or -1 and errno; and back.
 * The descriptor stays the caller's. */
int masking_save(const struct masking *masking);
MUST_CHECK enum status masking_restore(int fd, struct masking **ret);

#endif
