/* The audit trail: changes of a call are recorded after the store has them and before the client is
 * answered, so that every acknowledged change is recorded. A handler notes each change, and writes
 * them before it answers:
 *
 *     note_job(call, CHANGE_PAUSE, &job);
 *     note_write(call, reply);
 *
 * Or it makes the record before the store is asked, which writes both together (note_for_store);
 * from there it goes to the history by itself, see trail.h.
 *
 * A history that is away does not delay the answer: with a spool the record is on disk in any case;
 * a history that can't write, or takes longer than two seconds, and out of memory cause a warning
 * in the answer (X-Peal-Warning) and a line in the log. */
#ifndef PEAL_NOTE_H
#define PEAL_NOTE_H

#include "call.h"
#include "change.h"

/* A changed job, and its definitions as stored; NULL: none. */
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

/* The same, but the definitions are taken over, and freed. */
void note_job_over(struct call *call, enum change_action action, const struct noted_job *job);

/* Appends the record of a change that is about to be made, for the store to write together with it
 * (store_put_job), and a NUL; *ret_id is its id. `detail` may be NULL. False: it is too large, or
 * too many wait for the history, or the like: it is to be noted when the change is made. */
bool note_for_store(struct call *call, enum change_action action, const struct noted_job *job,
                    const char *detail, struct strbuf *out, struct id *ret_id);

/* Drops what was noted: it is not done after all. */
void note_drop(struct call *call);

/* A detail of the last noted change. */
void note_detail(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the noted changes, then continues. */
void note_write(struct call *call, call_then *then);

/* Begins to write the noted changes, while others may be noted; `done` is called once they are
 * written, at once if there are none. Only if no earlier ones are being written: call->writing. */
void note_begin(struct call *call, call_then *done);

/* The call ends: drops changes that were not written. */
void note_release(struct call *call);

#endif
