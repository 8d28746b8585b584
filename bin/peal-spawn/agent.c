/* What the agent asks of the spawner, and is told: serve/agent_link.h with runs. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "spawner.h"

#define MESSAGES_PER_TURN 32 /* each may be a start, which costs a tenth of a millisecond */

void agent_report(struct spawner *s, struct run *run, enum report what)
{
    if (run->early && what == REPORT_KNOWN)
        run->early->is_told = true;
    if (!run->is_forgotten)
        agent_link_report(&s->link, &run->reported, what);
}

static struct spawn_run told(const struct reported *reported)
{
    const struct run *run =
        (const struct run *)(const void *)((const char *)reported - offsetof(struct run, reported));
    struct spawn_run info = run->info;
    if (run->state != RUN_ENDED)
        info.reason = SPAWN_NOT_ENDED; /* perhaps decided, but not ended yet */
    return info;
}

static struct spawn_hello hello(const void *context)
{
    const struct spawner *s = context;
    return (struct spawn_hello){
        .features = (s->cgroups.base_fd >= 0 ? SPAWN_HAS_CGROUP : 0u) |
                    (geteuid() == 0 ? SPAWN_CAN_SWITCH : 0u) | SPAWN_KNOWS_JOBS |
                    SPAWN_KNOWS_OUTPUT | SPAWN_KNOWS_FRAMES | SPAWN_KNOWS_TIMES |
                    SPAWN_KNOWS_VALUES | SPAWN_KNOWS_SECRETS | SPAWN_KNOWS_SHARE |
                    s->cgroups.limited.can * SPAWN_LIMITS_MEMORY |
                    (s->is_stopping ? SPAWN_IS_STOPPING : 0u),
        .runs = s->runs.known,
    };
}

static enum status greeted(void *context, const struct spawn_hello *agent)
{
    struct spawner *s = context;
    (void)agent;
    start_batch(s);
    for (struct run *run = run_first(&s->runs); run; run = run_next(run)) {
        run->reported.pending = 0;
        agent_report(s, run, REPORT_KNOWN);
    }
    return OK;
}

static enum status take_start(void *context, const struct spawn_message *message, int fd)
{
    struct spawner *s = context;
    struct spawn_request request;
    void *block;
    enum status st = spawn_decode_start(message, &request, &block);
    if (st != OK)
        return st;
    if ((request.stdin_bytes != NULL) != (fd >= 0)) {
        free(block);
        return E_CORRUPT;
    }
    if (request.at_boot_us <= clock_boot_us()) {
        start_add(s, &request, block, fd);
        return OK;
    }
    free(block);
    return early_add(s, message, fd);
}

static void take_kill(void *context, const struct spawn_kill *order)
{
    struct spawner *s = context;
    start_batch(s);
    struct run *run = run_by_id(&s->runs, order->id);
    if (run)
        life_stop(s, run, SPAWN_KILLED, order->signal ? (int)order->signal : SIGTERM,
                  order->grace_ms >= 0 ? order->grace_ms : run->grace_ms);
}

static void take_ack(void *context, const char *id)
{
    struct spawner *s = context;
    struct run *run = run_by_id(&s->runs, id);
    if (run)
        life_forget(s, run);
}

static void take_upgrade(void *context)
{
    struct spawner *s = context;
    s->wants_upgrade = true;
}

static void packet_read(void *context)
{
    start_batch(context);
}

static void replaced(void *context)
{
    early_orphan(context);
}

const struct agent_link_type agent_type = {
    .build = &spawner_build,
    .messages_per_turn = MESSAGES_PER_TURN,
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
