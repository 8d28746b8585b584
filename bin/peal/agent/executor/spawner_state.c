#include "executor/spawner_state.h"

#include <stdio.h>
#include <string.h>

#include "spawn_build.h"
#include "strbuf.h"
#include "text/message.h"
#include "timestamp.h"
#include "version.h"

enum { TEXT = 128 };

static const char stale_next[] =
    "install the peal-spawn of this version in the place of the old one, then peal restart; "
    "peal-spawn.log in its folder says what was wrong";

static const struct spawn_build own_build = {.version = PEAL_VERSION, .revision = PEAL_REVISION};

static void fill_detail(const struct spawner_info *spawner, enum language language,
                        struct spawner_state *ret)
{
    char its[TEXT], before[TEXT], agents[TEXT];
    build_text(&spawner->build, its, sizeof(its));
    build_text(&spawner->before, before, sizeof(before));
    build_text(&own_build, agents, sizeof(agents));
    switch (spawner->match) {
    case SPAWNER_UNKNOWN:
        snprintf(ret->detail, sizeof(ret->detail), "%s",
                 message_in(language, "is not connected yet"));
        break;
    case SPAWNER_SAME:
        snprintf(ret->detail, sizeof(ret->detail), message_in(language, "%s, as the agent"), its);
        break;
    case SPAWNER_UPGRADED:
        snprintf(ret->detail, sizeof(ret->detail),
                 message_in(language, "%s, upgraded from %s by this agent"), its, before);
        break;
    case SPAWNER_STALE:
        snprintf(ret->detail, sizeof(ret->detail),
                 message_in(language, "%s, not the agent's %s: it could not be upgraded, and goes "
                                      "on as it is"),
                 its, agents);
        break;
    case SPAWNER_NEWER:
        snprintf(ret->detail, sizeof(ret->detail),
                 message_in(language, "%s, newer than the agent's %s: left alone"), its, agents);
        break;
    }
}

void spawner_state_fill(const struct spawner_info *spawner, enum language language,
                        struct spawner_state *ret)
{
    *ret = (struct spawner_state){
        .pid = spawner->pid,
        .ok = spawner->match != SPAWNER_STALE && spawner->match != SPAWNER_NEWER,
    };
    snprintf(ret->version, sizeof(ret->version), "%s", spawner->build.version);
    snprintf(ret->revision, sizeof(ret->revision), "%s", spawner->build.revision);
    fill_detail(spawner, language, ret);
}

void spawner_death_tell(const struct spawner_death *death, enum language language,
                        struct spawner_state *state)
{
    struct strbuf at;
    size_t used = strlen(state->detail);
    if (!death->pid)
        return;
    strbuf_init(&at);
    timestamp_print_utc(death->at_ms / 1000, &at);
    if (strbuf_status(&at) == OK)
        snprintf(state->detail + used, sizeof(state->detail) - used,
                 message_in(language, "; the one before it, pid %d, died at %s"), (int)death->pid,
                 at.text);
    strbuf_release(&at);
}

/* ---- for the log ---- */

static void log_match(void *context, const struct spawner_info *spawner)
{
    struct agent_log *log = context;
    struct spawner_state state;
    spawner_state_fill(spawner, LANGUAGE_EN, &state);
    if (spawner->match == SPAWNER_UPGRADED)
        agent_log_event(log, "spawner_upgraded", "pid=%d detail=\"%s\"", (int)state.pid,
                        state.detail);
    else if (spawner->match == SPAWNER_STALE)
        agent_log_event(log, "spawner_not_upgraded", "pid=%d detail=\"%s\" next=\"%s\"",
                        (int)state.pid, state.detail, stale_next);
    else if (spawner->match == SPAWNER_NEWER)
        agent_log_event(log, "spawner_newer", "pid=%d detail=\"%s\"", (int)state.pid, state.detail);
}

static void log_death(void *context, const struct spawner_death *death, pid_t next, int runs)
{
    agent_log_event(context, "spawner_died",
                    "pid=%d next_pid=%d runs=%d detail=\"the spawner ended or was killed; the next "
                    "one has its runs\" next=\"peal-spawn.log in its folder has the signal\"",
                    (int)death->pid, (int)next, runs);
}

static void log_awaited(void *context)
{
    agent_log_event(context, "calls_awaited",
                    "detail=\"nothing starts before peal-call has told of earlier calls\" "
                    "next=\"peal-call.log in its folder, if that does not happen\"");
}

struct executor_news spawner_state_news(struct agent_log *log)
{
    return (struct executor_news){log_match, log_death, log_awaited, log};
}
