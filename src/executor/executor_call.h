/* The executor of HTTP calls, on top of peal-call, which is started with the first of them. It
 * comes and goes without the engine: what happens then to its runs is told as their ends, and kills
 * are repeated. */
#ifndef PEAL_EXECUTOR_CALL_H
#define PEAL_EXECUTOR_CALL_H

#include "executor.h"
#include "executor_news.h"
#include "spawn_client.h"

struct executor_call;
struct known_secrets;

struct executor_call_config {
    const char *folder;              /* peal-call's, in the data folder */
    const char *user;                /* whom peal-call becomes, if this is root; NULL: nobody */
    const char *node;                /* is told to jobs */
    const char *allow;               /* addresses that calls may reach besides public ones */
    struct spawn_launcher *launcher; /* outlives the executor; NULL: this process starts it */
    const char *program;             /* peal-call; NULL: beside this executable */
    struct executor_news news;
    const struct known_secrets *secrets; /* outlive the executor; NULL: none */
};

/* Texts are copied. `wake` asks for a turn of the engine. Where there have been calls before,
 * peal-call is started at once: it may know of some. */
MUST_CHECK enum status executor_call_new(struct loop *loop,
                                         const struct executor_call_config *config,
                                         void (*wake)(void *context), void *context,
                                         struct executor_call **ret);
struct executor_call *executor_call_free(struct executor_call *executor);

/* Has peal-call told of all calls from before this agent, or was there never one? */
bool executor_call_is_settled(const struct executor_call *executor);

bool executor_call_has(const struct executor_call *executor, const struct id *run_id);

/* STARTED again for every call that is under way: the engine expects news of all runs after the
 * spawner was gone. */
void executor_call_tell_again(struct executor_call *executor);

/* Another list of addresses, for the calls from now on. E_NOMEM. */
MUST_CHECK enum status executor_call_set_allow(struct executor_call *executor, const char *allow);

/* What version peal-call is; NULL: there has been no call yet. */
const struct spawner_info *executor_call_caller(const struct executor_call *executor);

struct executor *executor_call_port(struct executor_call *executor);

#endif
