/* Every start request becomes a call, so that its end (also "could not start") is kept and reported
 * like any other. The requests of a packet make a batch: all of their ids are written to the
 * journal before the first request is sent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"
#include "clock.h"

#define OWN_FDS  64
#define CALL_FDS 4 /* a connection, two files of output, and its masks */
#define BODY_MAX (64u << 20)

static bool is_late(const struct call *call)
{
    return call->deadline_boot_ms && clock_now().boot.ms >= call->deadline_boot_ms;
}

static bool has_fds_left(const struct caller *caller)
{
    return CALL_FDS * (rlim_t)caller->active + OWN_FDS <= caller->limit.rlim_cur;
}

/* The body, from its descriptor. False: it can't be read. */
static bool read_body(struct call *call, size_t length, int fd)
{
    size_t done = 0;
    call->body = length <= BODY_MAX ? malloc(length + 1) : NULL;
    call->body_length = length;
    while (call->body && done < length) {
        ssize_t got = pread(fd, call->body + done, length - done, (off_t)done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return call->body != NULL;
}

/* False: the call has ended. */
static bool prepare(struct caller *caller, struct call *call, const struct spawn_request *request,
                    int body_fd)
{
    char why[256];
    const char *word;
    struct call_request asked;
    if (caller->is_stopping) {
        call->info.step = SPAWN_STEP_SPAWNER;
        calls_stop(caller, call, SPAWN_START_FAILED, NULL);
    } else if (is_late(call)) {
        calls_stop(caller, call, SPAWN_EXPIRED, NULL);
    } else if (!has_fds_left(caller)) {
        calls_finish(caller, call, CALL_NO_START, EMFILE,
                     "too many calls for peal-call's limit of open files");
    } else if (call_request_read(request->argv, &asked, &word) != OK) {
        snprintf(why, sizeof(why), "this peal-call does not know how: %.100s", word);
        calls_finish(caller, call, CALL_NO_START, EINVAL, why);
    } else if (body_fd >= 0 && !read_body(call, request->stdin_length, body_fd)) {
        calls_finish(caller, call, CALL_NO_START, errno, "the body of the request can't be read");
    } else if (request->secret_count && masking_new(request, &call->masking) != OK) {
        calls_finish(caller, call, CALL_NO_START, errno, "its secrets could not be masked");
    } else if (!transfer_prepare(call, &asked, why, sizeof(why))) {
        calls_finish(caller, call, CALL_NO_START, EINVAL, why);
    } else {
        return true;
    }
    return false;
}

void start_add(struct caller *caller, const struct spawn_request *request, int body_fd)
{
    struct call *call = table_find(&caller->calls, request->id);
    if (call) {
        agent_report(caller, call, REPORT_KNOWN);
        return;
    }
    call = calls_new(caller, request->id);
    if (!call) {
        serve_log("event=start_refused run=%s reason=\"out of memory\"", request->id);
        agent_link_drop(&caller->link); /* it reconnects, and sees that it is unknown */
        return;
    }
    TAILQ_INSERT_TAIL(&caller->starting, call, line);
    call->deadline_boot_ms = request->deadline_boot_ms;
    call->timeout_ms = request->timeout_ms;
    output_init(&call->output, request->head_bytes, request->tail_bytes);
    if (!prepare(caller, call, request, body_fd))
        return;
    struct now now = clock_now();
    call->info.started_boot_ms = now.boot.ms;
    call->info.started_wall_ms = now.wall.ms;
    call->timeout_at_boot_ms = call->timeout_ms ? now.boot.ms + call->timeout_ms : 0;
}

/* From here on these ids are never sent again. Returns an errno. */
static int write_ids(struct caller *caller)
{
    struct call *call;
    calls_write_journal(caller);
    TAILQ_FOREACH (call, &caller->starting, line) {
        struct journal_record record = {
            .info = call->info,
            .timeout_at_boot_ms = call->timeout_at_boot_ms,
            .head_bytes = call->output.head_limit,
            .tail_bytes = call->output.tail_limit,
        };
        if (journal_append(&caller->journal, JOURNAL_STARTING, &record) != OK)
            return errno;
    }
    return journal_write(&caller->journal) == OK ? 0 : errno;
}

/* The last look at the deadline: nothing was sent before. */
void start_begin(struct caller *caller, struct call *call)
{
    if (is_late(call)) {
        calls_stop(caller, call, SPAWN_EXPIRED, NULL);
        return;
    }
    call->state = CALL_UNDER_WAY;
    if (!transfer_send(caller, call))
        calls_finish(caller, call, CALL_NO_START, ENOMEM, "out of memory");
}

void start_batch(struct caller *caller)
{
    struct call *call;
    if (TAILQ_EMPTY(&caller->starting))
        return;
    int error = write_ids(caller);
    while ((call = TAILQ_FIRST(&caller->starting))) {
        if (error) {
            calls_finish(caller, call, CALL_NO_START, error,
                         "peal-call's journal can't be written");
            continue;
        }
        TAILQ_REMOVE(&caller->starting, call, line);
        call->state = CALL_WAITING;
        agent_report(caller, call, REPORT_STARTED);
        calls_set_due(caller, call, call->timeout_at_boot_ms);
        if (lookups_enter(&caller->lookups, call))
            start_begin(caller, call);
    }
}
