/* Connects the ends of runs, and the API's metrics, with the exporter of OpenTelemetry. */
#ifndef PEAL_AGENT_OTLP_H
#define PEAL_AGENT_OTLP_H

#include "agent_log.h"
#include "config/agent_config.h"
#include "loop.h"
#include "otlp.h"
#include "ports.h"
#include "state/catalog.h"

struct api;

struct agent_otlp {
    struct otlp *otlp; /* NULL: no collector is configured */
    struct agent_log *log;
    const struct catalog *catalog; /* NULL: not known yet */
    const struct api *api;         /* likewise */
    void (*wake)(void *context);   /* asks for a turn */
    void *context;
};

/* `log`, `wake` and `context` are set by the caller before. */
MUST_CHECK enum status agent_otlp_init(struct agent_otlp *self, const struct agent_config *config,
                                       struct loop *loop, const char *node, int64_t started_ms);
void agent_otlp_release(struct agent_otlp *self);

/* Do runs have spans? */
bool agent_otlp_has_traces(const struct agent_config *config);

struct record_observer agent_otlp_observer(struct agent_otlp *self);
void agent_otlp_add(struct agent_otlp *self, const struct history_record *records, size_t count);

/* What waits is sent; true: nothing does, or the time for it is over. */
bool agent_otlp_stop(struct agent_otlp *self);

#endif
