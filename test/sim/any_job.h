/* Random numbers that a seed repeats, and jobs of every kind and policy made from them. */
#ifndef PEAL_SIM_ANY_JOB_H
#define PEAL_SIM_ANY_JOB_H

#include <stdint.h>

#include "strbuf.h"

/* `random` is the state of the stream; any number is a seed. */
uint64_t any_random(uint64_t *random);
int64_t any_below(uint64_t *random, int64_t limit); /* 0 <= result < limit */
bool any_chance(uint64_t *random, int percent);

/* A job as YAML. The version is the second word of its command. A dense one is mostly due every few
 * seconds; one of two `has_boots` runs when a node boots. */
void any_job_write(uint64_t *random, int64_t now_ms, const char *name, int version, bool is_dense,
                   bool has_boots, struct strbuf *yaml);

/* A workflow of a few steps: some of them fan-outs, with retries, joins and conditions of all
 * kinds. The words of a step's command: the version, then what the last step that it waits for has
 * written as `v`, and the name of that step; or only the version. */
void any_workflow_write(uint64_t *random, int64_t now_ms, const char *name, int version,
                        bool is_dense, bool has_groups, struct strbuf *yaml);

/* Groups of cluster_group.c and a priority, or nothing, for a job or a step. */
void any_groups_write(uint64_t *random, const char *indent, struct strbuf *yaml);

/* Which node is to go first, or nothing. */
void any_place_write(uint64_t *random, struct strbuf *yaml);

/* One that runs after one or two others. */
void any_after_write(uint64_t *random, const char *name, int version, const char *const others[2],
                     struct strbuf *yaml);

#endif
