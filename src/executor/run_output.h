/* The output of runs, from the files of the spawner and of peal-call. */
#ifndef PEAL_RUN_OUTPUT_H
#define PEAL_RUN_OUTPUT_H

#include "live_output.h"
#include "ports.h"

struct spawn_packs;

struct run_output {
    const char *spawn_folder, *call_folder; /* outlive it */
    struct spawn_packs *packs;              /* of peal-call */
};

/* The folders outlive it. E_NOMEM. */
MUST_CHECK enum status run_output_init(struct run_output *output, const char *spawn_folder,
                                       const char *call_folder);
void run_output_release(struct run_output *output);

struct output_source run_output_source(struct run_output *output);
struct live_output run_output_live(struct run_output *output);

#endif
