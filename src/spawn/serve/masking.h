/* The output of one run whose secrets are masked, on its way to the files (output.h). Runs without
 * secrets have none of it.
 *
 * All that its masks are made of lies in a sealed memfd: the values, and what each stream holds
 * back. Whoever has the descriptor goes on where this process was, also if that was killed: an
 * operation is begun there, and done there, with one store each. What was begun and not done is
 * done again (masking_finish), without what the files have of it already: the same bytes have the
 * same masks. */
#ifndef PEAL_SERVE_MASKING_H
#define PEAL_SERVE_MASKING_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/output.h"
#include "spawn_message.h"
#include "status.h"

struct masking;

/* Of the run, for the values of its last variables. E_IO, and errno: there is no memory of that
 * kind. */
MUST_CHECK enum status masking_new(const struct spawn_request *request, struct masking **ret);

/* Accepts NULL; returns NULL. Wipes the values. */
struct masking *masking_free(struct masking *masking);

/* Where the output goes. */
struct masking_target {
    struct output *output;
    int folder_fd;
    const char *id;
    int64_t wall_ms;
};

/* To be called before bytes are taken from the stream ... */
void masking_begin(struct masking *masking, const struct masking_target *target,
                   enum spawn_stream stream);

/* ... with which this does as output_append, but for what it holds back. */
void masking_append(struct masking *masking, const struct masking_target *target, const char *bytes,
                    size_t length);

/* Nothing more is read of a stream: it is over, or goes on unread. */
void masking_end(struct masking *masking, const struct masking_target *target,
                 enum spawn_stream stream, bool is_over);

/* ---- for another process that goes on ---- */

/* Its descriptor, which stays its own: close-on-exec, unless the caller changes that. */
int masking_fd(const struct masking *masking);

/* Is that the descriptor of one? Of the run with this id. */
bool masking_is_at(int fd, char ret_id[SPAWN_ID_MAX + 1]);

/* The descriptor becomes its own, on success. E_CORRUPT: it is none, or not sound. */
MUST_CHECK enum status masking_restore(int fd, struct masking **ret);

/* What the other process had begun, and not done. `bytes` are those that it had taken; NULL: there
 * are none. The output ends where its files do. */
void masking_finish(struct masking *masking, const struct masking_target *target, const char *bytes,
                    size_t length);

#endif
