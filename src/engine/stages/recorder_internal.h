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

void recorder_send_finishes(struct recorder *recorder, struct now now);
void recorder_send_forgets(struct recorder *recorder, struct now now);

#endif
