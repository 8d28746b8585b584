#include "agent_otlp.h"

#include "api.h"
#include "version.h"

/* ---- runs ---- */

/* The start delay, of the first attempt at a tick of the schedule. */
static int64_t late_ms(const struct agent_otlp *self, const struct run *run)
{
    if (run->cause != CAUSE_TICK || run->attempt > 1 || !run->started_ms)
        return -1;
    const struct catalog_job *job =
        self->catalog ? catalog_by_uid(self->catalog, &run->job_uid) : NULL;
    int64_t due_ms = run->tick_ms + (job ? catalog_job_jitter_ms(job) : 0);
    return run->started_ms > due_ms ? run->started_ms - due_ms : 0;
}

void agent_otlp_add(struct agent_otlp *self, const struct history_record *records, size_t count)
{
    for (size_t i = 0; self->otlp && i < count; i++) {
        const struct run *run = records[i].run;
        if (run)
            otlp_add_run(self->otlp, run, &(struct span_about){.late_ms = late_ms(self, run)});
    }
}

static void recorded(void *context, const struct history_record *records, size_t count)
{
    agent_otlp_add(context, records, count);
}

struct record_observer agent_otlp_observer(struct agent_otlp *self)
{
    return (struct record_observer){self->otlp ? recorded : NULL, self};
}

/* ---- from init to release ---- */

static void print_metrics(void *context, struct strbuf *out)
{
    const struct agent_otlp *self = context;
    if (self->api)
        api_print_metrics(self->api, out);
}

static void log_event(void *context, const char *event, const char *particulars)
{
    const struct agent_otlp *self = context;
    agent_log_write(self->log, event, particulars);
}

static void ended(void *context)
{
    const struct agent_otlp *self = context;
    self->wake(self->context);
}

bool agent_otlp_has_traces(const struct agent_config *config)
{
    return config->otlp_endpoint && !config->no_traces;
}

enum status agent_otlp_init(struct agent_otlp *self, const struct agent_config *config,
                            struct loop *loop, const char *node, int64_t started_ms)
{
    struct otlp_config otlp = {
        .endpoint = config->otlp_endpoint,
        .headers = config->otlp_headers,
        .node = node,
        .version = PEAL_VERSION,
        .started_ms = started_ms,
        .has_traces = !config->no_traces,
        .metrics_every_s = config->otlp_metrics_s,
        .print_metrics = print_metrics,
        .log = log_event,
        .ended = ended,
        .context = self,
        .sender = {.ca_file = config->notify_ca, .agent = "peal/" PEAL_VERSION},
    };
    return config->otlp_endpoint ? otlp_new(loop, &otlp, &self->otlp) : OK;
}

void agent_otlp_release(struct agent_otlp *self)
{
    self->otlp = otlp_free(self->otlp);
}

bool agent_otlp_stop(struct agent_otlp *self)
{
    if (self->otlp)
        otlp_stop(self->otlp);
    return !self->otlp || otlp_is_idle(self->otlp);
}
