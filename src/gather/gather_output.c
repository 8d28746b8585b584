#include "gather_output.h"

#include <stdlib.h>

#include "gather_wire.h"
#include "gather_words.h"

enum { ANSWER_WITHIN_MS = 2000 };

/* One request. */
struct gather_output {
    struct gather_output_list *reads;
    struct live_read *read;
    struct gather_ask *ask; /* NULL: not under way */
    enum status st;         /* of a request that could not be sent */
    struct loop_timer *timer;
    TAILQ_ENTRY(gather_output) entry;
};

void gather_output_init(struct gather_output_list *reads)
{
    TAILQ_INIT(reads);
}

static void finish(struct gather_output *output, enum status st, const char *why)
{
    struct live_read *read = output->read;
    TAILQ_REMOVE(output->reads, output, entry);
    loop_timer_free(output->timer);
    free(output);
    read->why = why;
    read->done(read, st);
}

static void answered(void *context, enum status st, const char *text, size_t length)
{
    struct gather_output *output = context;
    output->ask = NULL;
    if (st == OK)
        st = wire_decode_output(text, length, output->read);
    if (st == OK || st == E_NOMEM)
        finish(output, st, "");
    else if (st == E_VERSION)
        finish(output, st, NODE_IS_OLD);
    else
        finish(output, E_UNREACHABLE, NODE_IS_OUT_OF_REACH);
}

/* Silent for too long, or never asked. */
static void on_timer(void *context)
{
    struct gather_output *output = context;
    if (!output->ask) {
        finish(output, output->st, output->read->why);
        return;
    }
    gather_link_give_up(output->ask);
    finish(output, E_UNREACHABLE, NODE_IS_SILENT);
}

static void ask(struct gather_net *net, struct gather_output *output)
{
    struct live_read *read = output->read;
    struct strbuf question;
    const char *via = gather_net_via(net, read->node);
    strbuf_init(&question);
    enum status st = *via ? wire_encode_output_question(read, &question) : E_UNREACHABLE;
    if (!*via)
        read->why = NODE_HAS_NO_AGENT;
    if (st == OK)
        st = gather_net_ask(net, LANE_OUTPUT, via, WIRE_OUTPUT, question.text, answered, output,
                            &output->ask, &read->why);
    strbuf_release(&question);
    output->st = st == E_BUSY ? E_UNREACHABLE : st;
    loop_timer_set(output->timer, st == OK ? ANSWER_WITHIN_MS : 0);
}

void gather_output_read(struct gather_net *net, struct gather_output_list *reads,
                        struct live_read *read)
{
    struct gather_output *output = calloc(1, sizeof(*output));
    live_read_release(read);
    read->found = false;
    read->why = "";
    if (!output ||
        loop_timer_new_patient(gather_net_loop(net), on_timer, output, &output->timer) != OK) {
        free(output);
        read->done(read, E_NOMEM);
        return;
    }
    output->reads = reads;
    output->read = read;
    TAILQ_INSERT_TAIL(reads, output, entry);
    ask(net, output);
}

void gather_output_give_up(struct gather_output_list *reads)
{
    for (struct gather_output *output = TAILQ_FIRST(reads), *next; output; output = next) {
        next = TAILQ_NEXT(output, entry);
        if (output->ask)
            gather_link_give_up(output->ask);
        finish(output, E_UNREACHABLE, NODE_IS_AWAY);
    }
}
