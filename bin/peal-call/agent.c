/* What the agent asks of peal-call, and is told: serve/agent_link.h with calls. */
#include <stddef.h>
#include <stdlib.h>

#include "caller.h"

#define MESSAGES_PER_TURN 256

void agent_report(struct caller *caller, struct call *call, enum report what)
{
    agent_link_report(&caller->link, &call->reported, what);
}

static struct spawn_run told(const struct reported *reported)
{
    const char *call = (const char *)reported - offsetof(struct call, reported);
    return ((const struct call *)(const void *)call)->info;
}

static struct spawn_hello hello(const void *context)
{
    const struct caller *caller = context;
    return (struct spawn_hello){
        .features = SPAWN_KNOWS_JOBS | SPAWN_KNOWS_OUTPUT | SPAWN_KNOWS_FRAMES |
                    SPAWN_KNOWS_SECRETS | (caller->is_stopping ? SPAWN_IS_STOPPING : 0u),
        .runs = (uint32_t)caller->calls.count,
    };
}

static enum status greeted(void *context, const struct spawn_hello *agent)
{
    struct caller *caller = context;
    struct call *call;
    if (!(agent->features & SPAWN_KNOWS_FRAMES))
        return E_VERSION; /* there is no such agent that knows of HTTP calls */
    TAILQ_FOREACH (call, &caller->all, all) {
        call->reported.pending = 0;
        agent_report(caller, call, REPORT_KNOWN);
    }
    return OK;
}

static enum status take_start(void *context, const struct spawn_message *message, int fd)
{
    struct spawn_request request;
    void *block;
    enum status st = spawn_decode_start(message, &request, &block);
    if (st != OK)
        return st;
    if ((request.stdin_bytes != NULL) != (fd >= 0))
        st = E_CORRUPT;
    else
        start_add(context, &request, fd);
    free(block);
    return st;
}

static void take_kill(void *context, const struct spawn_kill *order)
{
    struct caller *caller = context;
    struct call *call = table_find(&caller->calls, order->id);
    if (call)
        calls_stop(caller, call, SPAWN_KILLED, NULL);
}

static void take_ack(void *context, const char *id)
{
    struct caller *caller = context;
    struct call *call = table_find(&caller->calls, id);
    if (call)
        calls_forget(caller, call);
}

static void take_upgrade(void *context)
{
    struct caller *caller = context;
    caller->wants_end = true;
}

/* Calls keep nothing of a packet: they are begun together, in the turn. */
static void packet_read(void *context)
{
    (void)context;
}

static void replaced(void *context)
{
    (void)context;
}

const struct agent_link_type agent_type = {
    .build = &caller_build,
    .messages_per_turn = MESSAGES_PER_TURN,
    .end_says_all = true,
    .hello = hello,
    .greeted = greeted,
    .start = take_start,
    .kill = take_kill,
    .ack = take_ack,
    .upgrade = take_upgrade,
    .packet_read = packet_read,
    .replaced = replaced,
    .told = told,
};
