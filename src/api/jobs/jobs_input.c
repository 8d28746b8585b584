/* What a request hands over for one run: fields of its body, over what the run had that is run
 * again. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/selector.h"
#include "duration.h"
#include "jobs/jobs.h"
#include "note.h"
#include "params/run_body.h"
#include "params/run_input.h"
#include "server.h"

enum { TIMEOUT_MAX_S = 365 * 86400 };

bool call_fail_input(struct call *call, enum status st, const struct input_error *why)
{
    struct job_error error = {0};
    char *message = error.message; /* translated by its parts */
    snprintf(error.path, sizeof(error.path), "/%s%s%.63s", why->field, *why->name ? "/" : "",
             why->name);
    snprintf(message, sizeof(error.message), "%s%s%.63s: %.160s", why->field, *why->name ? "." : "",
             why->name, why->why);
    return call_check(call, st, &error);
}

/* ---- fields of the body ---- */

/* Those of the body in the place of those before. False: the call has failed. */
static bool merge(struct call *call, const char *field, json_t **inout)
{
    json_t *fresh = json_object_get(call->body, field);
    json_t *merged = *inout ? json_copy(*inout) : json_object();
    json_decref(*inout);
    *inout = merged;
    if (merged && (!fresh || json_object_update(merged, fresh) == 0))
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

static bool read_params(struct call *call, const struct job *definition, struct run_input *inout)
{
    struct input_error why = {0};
    json_t *fresh = json_object_get(call->body, "params"), *chosen = NULL;
    if (fresh && !json_is_object(fresh)) {
        call_fail_at(call, "/params", "params: expected a map of names and values");
        return false;
    }
    if (!merge(call, "params", &inout->params))
        return false;
    enum status st = input_choose_params(definition, inout->params, &chosen, &why);
    json_decref(inout->params);
    inout->params = chosen;
    return call_fail_input(call, st, &why);
}

static bool read_env(struct call *call, struct run_input *inout)
{
    struct input_error why = {0};
    json_t *fresh = json_object_get(call->body, "env");
    if (!fresh)
        return true;
    return call_fail_input(call, input_check_env(fresh, &why), &why) &&
           merge(call, "env", &inout->env);
}

static bool read_timeout(struct call *call, struct run_input *inout)
{
    struct parse_error inside = {0};
    const json_t *value = json_object_get(call->body, "timeout");
    const char *text = json_string_value(value);
    if (!value)
        return true;
    if (!text)
        call_fail_at(call, "/timeout", "timeout: expected a duration like 90s");
    else if (duration_parse(text, 1, &inout->timeout_s, &inside) != OK)
        call_fail_at(call, "/timeout", "timeout: %s", inside.message);
    else if (inout->timeout_s > TIMEOUT_MAX_S)
        call_fail_at(call, "/timeout", "timeout: is longer than 365d");
    else
        return true;
    return false;
}

/* Who may only run a job must not say what runs: PATH or LD_PRELOAD of another run would. It is the
 * same for what a run before had, since that was allowed for that run alone. */
static bool may_define(struct call *call, const struct job *definition,
                       const struct run_input *input)
{
    bool is_plain = !json_object_size(input->env) && input->timeout_s < 0;
    return is_plain || call_may_on(call, RIGHT_DEFINE, definition->name);
}

bool run_input_read(struct call *call, const struct job *definition, const char *before, char **ret)
{
    struct run_input input = input_decode(before);
    bool is_good = read_params(call, definition, &input) && read_env(call, &input) &&
                   read_timeout(call, &input) && may_define(call, definition, &input);
    enum status st = is_good ? input_encode(&input, ret) : OK;
    input_release(&input);
    if (st == E_TOO_LARGE)
        call_fail(call, 422, "what is handed over to the run is larger than %d bytes together",
                  INPUT_JSON_MAX);
    else if (st != OK)
        call_fail(call, 500, "out of memory");
    return is_good && st == OK;
}

/* ---- the node ---- */

static bool is_alive(const struct call *call, const char *name, const struct known_peer *known)
{
    const struct peers *peers = engine_peers(call->api->ports.engine);
    return strcmp(peers->self->name, name) == 0 || (known && known->peer.is_alive);
}

static const struct peer *peer_of(const struct call *call, const char *name,
                                  const struct known_peer *known)
{
    const struct peers *peers = engine_peers(call->api->ports.engine);
    return strcmp(peers->self->name, name) == 0 ? peers->self : &known->peer;
}

bool run_node_read(struct call *call, const struct job *definition, struct run *run)
{
    const json_t *value = json_object_get(call->body, "node");
    const char *name = json_string_value(value);
    if (!value || json_is_null(value))
        return true;
    const struct known_peer *known =
        name ? peers_find(engine_peers(call->api->ports.engine), name) : NULL;
    if (!name || !*name)
        call_fail_at(call, "/node", "node: expected the name of a node");
    else if (!is_alive(call, name, known))
        call_fail_at(call, "/node",
                     known ? "node: %.63s is away" : "node: there is no node %.63s; see peal nodes",
                     name);
    else if (known && known->is_drained)
        call_fail_at(call, "/node", "node: %.63s is drained", name);
    else if (!(peer_of(call, name, known)->roles & PEER_WORKER))
        call_fail_at(call, "/node", "node: %.63s runs no jobs", name);
    else if (definition->where &&
             !selector_matches(definition->where, peer_of(call, name, known)->labels))
        call_fail_at(call, "/node", "node: %.63s does not have the labels %.200s", name,
                     definition->where);
    else {
        snprintf(run->pinned, sizeof(run->pinned), "%s", name);
        return true;
    }
    return false;
}

/* ---- what is shown ---- */

/* The values of variables are for those who may define the job. */
static json_t *shown_env(const struct call *call, const char *job_name, json_t *env)
{
    const char *name;
    json_t *value;
    if (!env || scope_may(&call->principal.scope, RIGHT_DEFINE, job_name))
        return json_incref(env);
    json_t *masked = json_object();
    json_object_foreach (env, name, value) {
        (void)value;
        json_object_set_new(masked, name, json_string(SECRET_MASK));
    }
    return masked;
}

static json_t *shown_timeout(const struct run_input *input)
{
    struct strbuf text;
    if (input->timeout_s < 0)
        return json_null();
    strbuf_init(&text);
    duration_print(input->timeout_s, &text);
    json_t *shown = json_string(text.text);
    strbuf_release(&text);
    return shown;
}

/* What is known of a body, without its bytes. */
static json_t *shown_body(const json_t *body)
{
    static const char *const names[] = {"type", "source", "event", "delivery"};
    if (!body)
        return json_null();
    json_t *shown = json_pack("{s:I}", "size", (json_int_t)run_body_length(body));
    for (size_t i = 0; shown && i < sizeof(names) / sizeof(names[0]); i++) {
        json_t *value = json_object_get(body, names[i]);
        json_object_set(shown, names[i], json_is_string(value) ? value : json_null());
    }
    return shown;
}

json_t *run_input_show(const struct call *call, const char *job_name, json_t *run, const char *text)
{
    struct run_input input = input_decode(text);
    json_t *env = shown_env(call, job_name, input.env);
    json_t *more = json_pack(
        "{s:O, s:O, s:o, s:o}", "params", input.params ? input.params : json_null(), "env",
        env ? env : json_null(), "timeout", shown_timeout(&input), "input", shown_body(input.body));
    json_decref(env);
    input_release(&input);
    if (run && more && json_object_update(run, more) == 0) {
        json_decref(more);
        return run;
    }
    json_decref(more);
    json_decref(run);
    return NULL;
}

void run_input_note(struct call *call, const struct run *run, const char *text)
{
    struct run_input input = input_decode(text);
    struct strbuf words;
    const char *name;
    json_t *value;
    strbuf_init(&words);
    if (*run->pinned)
        strbuf_addf(&words, "on %s", run->pinned);
    json_object_foreach (input.env, name, value) {
        (void)value;
        strbuf_addf(&words, "%senv %.40s", words.length ? ", " : "", name);
    }
    if (input.timeout_s >= 0)
        strbuf_addf(&words, "%stimeout %llds", words.length ? ", " : "",
                    (long long)input.timeout_s);
    if (words.length)
        note_detail(call, "%s", words.text);
    strbuf_release(&words);
    input_release(&input);
}
