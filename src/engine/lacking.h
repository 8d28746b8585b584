/* The functions of its program that this process was asked for, and has not registered: said in its
 * heartbeats (function/lacks.h), so that a tick that no process can run does not wait for one.
 * Noted where a tick or a run is due, so that nobody has to look through all jobs. */
#ifndef PEAL_LACKING_H
#define PEAL_LACKING_H

#include "function/lacks.h"
#include "ports.h"
#include "state/catalog.h"

struct lacking_job {
    struct id uid;
    uint32_t function; /* hash of its name; each once */
};

/* Zeroed: none. */
struct lacking {
    struct lacking_job jobs[LACKS_MAX];
    size_t count;
    bool has_more; /* than are kept */
    bool is_news;  /* not printed yet */
};

/* May this process run the job, which is none but an agent's or one of its program? Notes it, if it
 * has not the function. */
bool lacking_can_run(struct lacking *lacking, const struct engine_ports *ports,
                     const struct catalog_job *job);

/* Forgets what it has meanwhile, and what no job asks for any more. */
void lacking_look(struct lacking *lacking, const struct engine_ports *ports,
                  const struct catalog *catalog);

/* The text for the heartbeat. */
void lacking_print(struct lacking *lacking, char *ret, size_t size);

#endif
