/* An agent's side of live output of programs: reads wait here until the program, which has no port,
 * asks for questions (output_offer.h). Nothing is kept of the output. */
#ifndef PEAL_OUTPUT_RELAY_H
#define PEAL_OUTPUT_RELAY_H

#include "live_output.h"
#include "loop.h"

struct http_request;
struct output_relay;

MUST_CHECK enum status output_relay_new(struct loop *loop, struct output_relay **ret);

/* Reads that wait fail, offers are forgotten. Accepts NULL; returns NULL. */
struct output_relay *output_relay_free(struct output_relay *relay);

/* A read of the output of a run on the program read->node: read->done is called once, within 2 s,
 * perhaps at once. */
void output_relay_read(struct output_relay *relay, struct live_read *read);

/* The reader is gone: its `done` is not called any more. */
void output_relay_give_up(struct output_relay *relay, const struct live_read *read);

/* The program `node` has sent its answers, and waits for questions: answered with what is asked, or
 * after some seconds without. */
void output_relay_offer(struct output_relay *relay, const char *node, struct http_request *request);

#endif
