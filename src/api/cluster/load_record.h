/* What the nodes did over the last 24 hours: processor load, memory in use and running jobs, as
 * this agent has read them from heartbeats. In memory, since its start. Pure.
 *
 * All nodes share one time axis of LOAD_SAMPLES samples at most. A sample begins as one look of
 * LOAD_LOOK_S; whenever the axis is full, pairs of samples become one, up to LOAD_LOOKS_MAX looks
 * in each. From then on the oldest sample is dropped for each new one. */
#ifndef PEAL_LOAD_RECORD_H
#define PEAL_LOAD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "status.h"
#include "table.h"

enum {
    LOAD_LOOK_S = 15,
    LOAD_SAMPLES = 360,
    LOAD_LOOKS_MAX = 16, /* of a sample: four minutes; all samples together: a day */
    LOAD_NODES_MAX = 2000,
};

enum load_kind {
    LOAD_CPU,     /* load average per processor in %, the mean of a sample */
    LOAD_MEMORY,  /* in use, in %, the mean */
    LOAD_RUNNING, /* runs, the most of a sample */
    LOAD_KINDS,
};

struct load_node {
    char name[64];
    int16_t samples[LOAD_SAMPLES][LOAD_KINDS]; /* -1: not known */
    int32_t sums[LOAD_KINDS];                  /* of the sample that is under way */
    uint8_t counts[LOAD_KINDS];
};

struct load_record {
    struct table nodes; /* of load_node */
    size_t count;       /* of samples */
    int looks;          /* of each sample ... */
    int looks_done;     /* ... and of the one that is under way */
    struct boot_ms looked;
};

void load_record_init(struct load_record *record);
void load_record_release(struct load_record *record);

/* To be called before the notes of a look. Time in which nobody looked, as while the machine slept,
 * becomes samples in which nothing is known. */
void load_record_begin(struct load_record *record, struct boot_ms now);

/* One node in this look; -1: not known. Out of memory, or with too many nodes, it is left out. */
void load_record_note(struct load_record *record, const char *node, const int values[LOAD_KINDS]);

/* After the notes. Forgets nodes of which nothing is known any more. */
void load_record_end(struct load_record *record);

/* NULL: nothing is known of it. */
const struct load_node *load_record_find(const struct load_record *record, const char *node);

/* The samples from `from` to before `to` as one; -1: not known. */
int load_node_value(const struct load_node *node, enum load_kind kind, size_t from, size_t to);

#endif
