/* What a call has changed goes on record after the store has it and before the client is told, so
 * that every change which was acknowledged is there. A handler notes each change, and has all of
 * them written before it answers:
 *
 *     note_job(call, CHANGE_PAUSE, &job);
 *     note_write(call, reply);
 *
 * A history that is away does not hold the answer up: behind a spool the line is on disk in any
 * case; one that can't write at all, or takes longer than two seconds, costs a warning in the
 * answer (X-Peal-Warning) and a line in the log, not the answer. So does being out of memory. */
#ifndef PEAL_NOTE_H
#define PEAL_NOTE_H

#include "call.h"
#include "change.h"

/* A job that was changed, and its definitions as the store has them; NULL: none. */
struct noted_job {
    const struct id *uid;
    const char *name;
    int64_t revision;
    const char *before, *after;
};

/* A document that was changed, likewise; without texts if those may hold secrets. */
struct noted_doc {
    enum change_target kind;
    const char *name;
    int64_t revision;
    const char *before, *after;
};

/* Everything is copied. */
void note_job(struct call *call, enum change_action action, const struct noted_job *job);
void note_doc(struct call *call, enum change_action action, const struct noted_doc *doc);
void note_run(struct call *call, enum change_action action, const struct run *run);
void note_other(struct call *call, enum change_action action, enum change_target kind,
                const char *target);

/* Words about what was noted last. */
void note_detail(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes what was noted, then goes on. */
void note_write(struct call *call, call_then *then);

/* The call ends: what was noted and not written is forgotten. */
void note_release(struct call *call);

#endif
