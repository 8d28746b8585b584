/* The history of a program, which has none that others could read: appends go to the history of an
 * agent of the cluster, over its port for other nodes. OK means that the agent has them on disk, or
 * in its database. Handing over what an agent has taken already is harmless, since records replace
 * those of the same id. While there is no agent, appends fail with E_UNREACHABLE: a spool goes
 * before it (history_spool.h).
 *
 * It can't be read: reads are answered with E_UNREACHABLE. */
#ifndef PEAL_HISTORY_HANDOVER_H
#define PEAL_HISTORY_HANDOVER_H

#include "gather_tls.h"
#include "history.h"
#include "loop.h"
#include "program/agent_choice.h"

/* `tls` and `choice` must outlive it. E_NOMEM. */
MUST_CHECK enum status history_handover_new(struct loop *loop, struct gather_tls *tls,
                                            struct agent_choice *choice, struct history_wake wake,
                                            struct history **ret);

#endif
