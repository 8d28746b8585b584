/* What became of messages: those that wait on this node, and the last ones of each channel that
 * were sent or given up. The latter are kept in the journal, so that they outlive the agent. */
#ifndef PEAL_MESSAGE_LOG_H
#define PEAL_MESSAGE_LOG_H

#include <jansson.h>

#include "notifier.h"

/* The last ones of each channel that are kept; and of those that an answer lists at most. */
enum { MESSAGES_KEPT = 100, MESSAGES_MAX = 1000 };

enum message_state {
    MESSAGE_WAITING,
    MESSAGE_HELD, /* by the channel's `quiet` */
    MESSAGE_SENT,
    MESSAGE_GIVEN_UP,
    MESSAGE_MUTED, /* a mute of its job has taken it */
    MESSAGE_STATES,
};

#define MESSAGE_STATE_WORDS "waiting, held, sent, given_up, muted"

/* A list with commas, as 1 << enum message_state. E_NOT_FOUND: *ret_unknown begins with a word that
 * is no state, of *ret_length bytes. */
MUST_CHECK enum status message_states_parse(const char *text, unsigned *ret,
                                            const char **ret_unknown, size_t *ret_length);

struct message_query {
    const char *channel, *job; /* NULL: of all */
    unsigned states;           /* 1 << enum message_state; 0: in all of them */
    size_t limit;              /* the newest so many */
};

/* {"items": [{"id", "node", "channel", "job", "run", "event", "state", "tries", "answer",
 * "held_back", "made_ms", "ended_ms", "next_try_ms"}], "channels": [{"channel", "node", "state",
 * "sent", "failed", "given_up", "muted", "waiting", "held", "sent_ms", "failed_ms", "error"}]}: the
 * messages newest first, the channels by name; a time of 0: none. NULL: out of memory. */
json_t *message_list(const struct notifier *notifier, const struct message_query *query,
                     struct now now);

/* The query as a question to other nodes, and their answer to it. E_INVALID: it is none. */
json_t *message_question(const struct message_query *query);
MUST_CHECK enum status message_answer(const struct notifier *notifier, const char *question,
                                      size_t length, struct strbuf *out);

#endif
