/* The recorder's parts, for the files that are the recorder:
 *
 *   recorder.c        ledger entries, records in the history, notifications
 *   recorder_store.c  ends into the store, recorded runs and entries out of it */
#ifndef PEAL_RECORDER_INTERNAL_H
#define PEAL_RECORDER_INTERNAL_H

#include "stages/recorder.h"

enum { RECORDER_RETRY_MS = 1000 };

enum entry_phase { ENTRY_NEW, ENTRY_RECORDING, ENTRY_RECORDED, ENTRY_FORGETTING };

struct pending_entry {
    struct ledger_entry entry;
    enum entry_phase phase;
    TAILQ_ENTRY(pending_entry) link;
};

/* ---- recorder_store.c ---- */

/* Looks at runs that have ended. To be called before recorder_finish_at. */
void recorder_look_at_ends(struct recorder *recorder, struct now now);

/* When the next ends and forgets are to be sent: a request follows the one before after a while,
 * with all that has come meanwhile. Ends that something waits for, and many of them, go at once.
 * In a burst of starts all but those wait for its end, a second at most. */
struct boot_ms recorder_finish_at(const struct recorder *recorder);
struct boot_ms recorder_forget_at(const struct recorder *recorder);

void recorder_send_finishes(struct recorder *recorder, struct now now);
void recorder_send_forgets(struct recorder *recorder, struct now now);

#endif
