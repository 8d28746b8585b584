/* A program's side of live output: it has no port, so it offers its output to an agent, which
 * answers when somebody wants to read. One request is open while runs are; nothing is sent that
 * nobody has asked for. */
#ifndef PEAL_OUTPUT_OFFER_H
#define PEAL_OUTPUT_OFFER_H

#include "gather_tls.h"
#include "live_output.h"
#include "loop.h"
#include "program/agent_choice.h"

struct output_offer;

/* All must outlive it. E_NOMEM. */
MUST_CHECK enum status output_offer_new(struct loop *loop, struct gather_tls *tls,
                                        struct agent_choice *choice, struct live_output output,
                                        struct output_offer **ret);
struct output_offer *output_offer_free(struct output_offer *offer);

/* Whether there is something to read here; to be told in every turn. */
void output_offer_set(struct output_offer *offer, bool has_output);

#endif
