/* The output of an open run, wherever it is. Rights were checked by the caller's node, which asks
 * the run's node as a node, for nobody in particular. */
#include <stdio.h>
#include <string.h>

#include "auth/visible.h"
#include "jobs/jobs.h"
#include "runs/encode.h"
#include "runs/log.h"
#include "server.h"

int64_t printed_length(const struct output_chunk *chunks, size_t count)
{
    int64_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += chunks[i].gap_bytes + (int64_t)chunks[i].length;
    return length;
}

/* Is it on another node? A claimed run has printed nothing anywhere. */
static bool is_elsewhere(const struct call *call, const struct run *run)
{
    return *run->node && run->state != RUN_CLAIMED && !run_is_here(call, run);
}

static void read_here(struct call *call, call_then *then)
{
    const struct live_output *live = &call->api->ports.output;
    struct live_read *read = &call->output;
    enum status st = live->read ? live->read(live->context, &read->run_id, read->offset,
                                             read->limit, &read->chunks, &read->count)
                                : E_NOT_FOUND;
    read->found = st == OK;
    call->answer = st == E_NOMEM ? E_NOMEM : OK;
    then(call);
}

static void other_answered(struct live_read *read, enum status st)
{
    call_answer(read->context, st);
}

void call_read_output(struct call *call, const struct run *run, int64_t offset, size_t limit,
                      call_then *then)
{
    const struct live_elsewhere *elsewhere = &call->api->ports.elsewhere;
    struct live_read *read = &call->output;
    live_read_release(read);
    *read = (struct live_read){.run_id = run->id,
                               .offset = offset,
                               .limit = limit,
                               .done = other_answered,
                               .context = call};
    snprintf(read->node, sizeof(read->node), "%s", run->node);
    if (!elsewhere->read || !is_elsewhere(call, run)) {
        read_here(call, then);
        return;
    }
    call_wait(call, then);
    elsewhere->read(elsewhere->context, read);
}

bool output_is_gone(const struct call *call, const struct run *run)
{
    return call->answer == E_UNREACHABLE && run && run->state == RUN_LOST;
}

void fail_output(struct call *call)
{
    const struct live_read *read = &call->output;
    const struct run *run = call_open_run(call, &read->run_id);
    json_t *more = run ? json_pack("{s:o}", "run", encode_open_run(call, run)) : NULL;
    if (call->answer == E_UNREACHABLE)
        call_fail_with(call, 504, more,
                       "node %.63s, which has the output of run %s, %.80s; its output can be shown "
                       "when it answers again, or when the run is recorded as lost",
                       read->node, call->argument, message_in(call->language, read->why));
    else if (call->answer == E_VERSION)
        call_fail_with(call, 409, more,
                       "node %.63s, which has the output of run %s, %.80s: ask there, peal logs %s",
                       read->node, call->argument, message_in(call->language, read->why),
                       call->argument);
    else {
        json_decref(more);
        call_fail(call, 500, "out of memory");
    }
}
