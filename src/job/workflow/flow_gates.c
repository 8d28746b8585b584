/* Whether a step runs. Of a workflow that was used as a step there is no run; what it would have
 * been follows from the ends of steps, which do not change any more, and so every step of it finds
 * the same. */
#include <string.h>

#include "workflow/flow_internal.h"
#include "workflow/when.h"

enum { GATE_UNKNOWN, GATE_ASKED, GATE_OPEN, GATE_CLOSED };

static bool has_ended(const struct flow_lookup *lookup, int step, enum flow_on on)
{
    const struct flow_scope *scope = lookup->scope;
    const struct run *end = scope->end(scope->context, step);
    return end && run_state_is_in(flow_states(on), end->state);
}

/* Have the workflows that it waits for ended as required? *ret_not is the one that has not, or 0,
 * and *ret_state how it has ended. */
static enum status find_unmet(struct flow_lookup *lookup, const struct flow_gate *gate,
                              int *ret_not, enum run_state *ret_state)
{
    *ret_not = 0;
    for (size_t i = 0; i < gate->need_count; i++) {
        enum status st = flow_scope_state(lookup, gate->needs[i].of, ret_state);
        if (st != OK)
            return st;
        if (!run_state_is_in(flow_states(gate->needs[i].on), *ret_state)) {
            *ret_not = gate->needs[i].of;
            return OK;
        }
    }
    return OK;
}

/* `when`, in its scope. */
static enum status ask_when(const struct flow_lookup *lookup, const struct flow_gate *gate, int in,
                            bool *ret)
{
    struct flow_lookup around = *lookup;
    struct parse_error err = {0};
    *ret = true;
    if (!gate->when)
        return OK;
    around.in = in;
    enum status st = when_eval(gate->when, &(struct ref_values){flow_get, &around}, ret, &err);
    if (st == E_INVALID && *err.message)
        flow_say(lookup->why, lookup->size, "when:%d: %s", err.column, err.message);
    return st;
}

/* Did the workflow run, which is the scope? */
static enum status is_open(struct flow_lookup *lookup, int number, bool *ret)
{
    const struct flow_part *part = &lookup->flow->scopes[number];
    int met = 0, unmet = 0;
    enum run_state state;
    enum status st = OK;
    *ret = !number || lookup->gates[number] == GATE_OPEN;
    if (!number || lookup->gates[number] > GATE_ASKED)
        return OK;
    if (lookup->gates[number] == GATE_ASKED)
        return flow_fail(lookup->why, lookup->size, "workflow step %s waits for itself",
                         part->name);
    lookup->gates[number] = GATE_ASKED;
    for (size_t i = 0; i < part->gate.after_count; i++)
        met += has_ended(lookup, part->gate.after[i].of, part->gate.after[i].on);
    *ret = met >= part->gate.join;
    if (*ret)
        st = is_open(lookup, part->in, ret);
    if (st == OK && *ret) {
        st = find_unmet(lookup, &part->gate, &unmet, &state);
        *ret = !unmet;
    }
    if (st == OK && *ret)
        st = ask_when(lookup, &part->gate, part->in, ret);
    lookup->gates[number] = *ret ? GATE_OPEN : GATE_CLOSED;
    return st;
}

enum status flow_scope_state(struct flow_lookup *lookup, int scope, enum run_state *ret)
{
    const struct flow_part *part = &lookup->flow->scopes[scope];
    bool is_it_open;
    enum status st = is_open(lookup, scope, &is_it_open);
    if (st != OK)
        return st;
    *ret = is_it_open ? RUN_OK : RUN_SKIPPED;
    for (size_t i = 0; i < part->result_count && is_it_open; i++) {
        if (!has_ended(lookup, part->results[i], FLOW_ALWAYS)) {
            *ret = RUN_QUEUED;
            return OK;
        }
        if (!has_ended(lookup, part->results[i], FLOW_PASSED))
            *ret = RUN_FAILED;
    }
    return OK;
}

enum status flow_when(const struct flow *flow, int step, const struct flow_scope *scope, bool *ret,
                      char *why, size_t size)
{
    const struct flow_step *asked = &flow->steps[step];
    struct flow_lookup lookup;
    bool runs = false;
    int unmet = 0;
    enum run_state state = RUN_SKIPPED;
    flow_say(why, size, "%s", "");
    enum status st = flow_lookup_init(&lookup, flow, asked->scope, scope, why, size);
    if (st == OK)
        st = is_open(&lookup, asked->scope, &runs);
    if (st == OK && !runs)
        unmet = asked->scope;
    else if (st == OK)
        st = find_unmet(&lookup, &asked->gate, &unmet, &state);
    if (st == OK && unmet) {
        flow_say(why, size, "workflow step %s is %s", flow->scopes[unmet].name,
                 run_state_name(state));
        runs = false;
    } else if (st == OK) {
        st = ask_when(&lookup, &asked->gate, asked->scope, &runs);
    }
    flow_lookup_release(&lookup);
    if (st == OK)
        *ret = runs;
    return st;
}
