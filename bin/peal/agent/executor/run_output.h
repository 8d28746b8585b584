/* The output of runs, from the files of the spawner and of peal-call. */
#ifndef PEAL_RUN_OUTPUT_H
#define PEAL_RUN_OUTPUT_H

#include "api.h"
#include "ports.h"

struct run_output {
    const char *spawn_folder, *call_folder; /* outlive it */
};

struct output_source run_output_source(struct run_output *output);
struct live_output run_output_live(struct run_output *output);

#endif
