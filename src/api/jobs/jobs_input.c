/* What a request hands over for one run: fields of its body, over what the run had that is run
 * again. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "change.h"
#include "definition/selector.h"
#include "document/utf8.h"
#include "duration.h"
#include "function/run_limits.h"
#include "jobs/jobs.h"
#include "note.h"
#include "params/run_body.h"
#include "params/run_input.h"
#include "runs/trace_headers.h"
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

/* ---- the file of the run ---- */

bool run_input_has_room(struct call *call, size_t bytes)
{
    enum { INPUTS_BYTES_MAX = 64 << 20 }; /* of the inputs of all open runs */
    if (engine_input_bytes(call->api->ports.engine) + bytes <= INPUTS_BYTES_MAX)
        return true;
    call_header(call, "Retry-After", "10");
    call_fail(call, 503, "the inputs of open runs fill their limit of %d MiB; try again later",
              INPUTS_BYTES_MAX >> 20);
    return false;
}

/* "input": a text, or {"data": BASE64, "type": "application/json"}. False: the call has failed. */
static bool decode_input(struct call *call, const json_t *value, struct run_body *ret)
{
    const json_t *data = json_object_get(value, "data"), *type = json_object_get(value, "type");
    size_t known = data && type ? 2 : 1;
    enum status st = OK;
    if (json_is_string(value)) {
        ret->length = json_string_length(value);
        ret->bytes = malloc(ret->length + 1);
        if (ret->bytes)
            memcpy(ret->bytes, json_string_value(value), ret->length + 1);
        st = ret->bytes ? OK : E_NOMEM;
    } else if (!json_is_string(data) || (type && !json_is_string(type)) ||
               json_object_size(value) != known) {
        call_fail_at(call, "/input",
                     "input: expected a text, or {\"data\", \"type\"} with base64 as data");
        return false;
    } else {
        st = run_body_from_base64(json_string_value(data), json_string_length(data), &ret->bytes,
                                  &ret->length);
        run_body_clean(type ? json_string_value(type) : "", ret->type, sizeof(ret->type));
    }
    if (st == E_INVALID)
        call_fail_at(call, "/input/data", "input.data: is not base64");
    else if (st != OK)
        call_fail(call, 500, "out of memory");
    return st == OK;
}

/* In the place of what the run before had. */
static bool take_input(struct call *call, const struct job *definition, const struct run_body *body,
                       struct run_input *inout)
{
    struct input_error why = {0};
    enum status st = input_check_body(definition, &why);
    snprintf(why.field, sizeof(why.field), "input");
    if (definition->kind == JOB_HTTP)
        call_fail_at(call, "/input", "input: an HTTP call has no file for it; use parameters");
    else if (body->length > RUN_BODY_MAX)
        call_fail_at(call, "/input", "input: is larger than %d KiB", RUN_BODY_MAX >> 10);
    else if (call_fail_input(call, st, &why) && run_input_has_room(call, body->length)) {
        json_decref(inout->body);
        inout->body = run_body_encode(body);
        if (inout->body)
            return true;
        call_fail(call, 500, "out of memory");
    }
    return false;
}

static bool read_input(struct call *call, const struct job *definition, struct run_input *inout)
{
    struct run_body body = {.bytes = NULL};
    const json_t *value = json_object_get(call->body, "input");
    if (!value || json_is_null(value))
        return true;
    bool is_good = decode_input(call, value, &body) && take_input(call, definition, &body, inout);
    free(body.bytes);
    return is_good;
}

/* Who may only run a job must not say what runs: PATH or LD_PRELOAD of another run would. It is the
 * same for what a run before had, since that was allowed for that run alone. */
static bool may_define(struct call *call, const struct job *definition,
                       const struct run_input *input)
{
    bool is_plain = !json_object_size(input->env) && input->timeout_s < 0;
    return is_plain || call_may_on(call, RIGHT_DEFINE, definition->name);
}

bool run_input_read(struct call *call, const struct job *definition, const char *before,
                    const json_t *resume, char **ret)
{
    struct run_input input = input_decode(before);
    json_decref(input.resume);
    input.resume = json_incref((json_t *)resume);
    json_decref(input.tracestate);
    input.tracestate = call_tracestate(call);
    bool is_good = read_params(call, definition, &input) && read_env(call, &input) &&
                   read_timeout(call, &input) && may_define(call, definition, &input) &&
                   read_input(call, definition, &input);
    enum status st = is_good ? input_encode(&input, ret) : OK;
    input_release(&input);
    if (st == E_TOO_LARGE)
        call_fail(call, 422, "what is handed over to the run is larger than %d bytes together",
                  resume ? INPUT_DOC_MAX : INPUT_JSON_MAX);
    else if (st != OK)
        call_fail(call, 500, "out of memory");
    return is_good && st == OK;
}

/* ---- the node ---- */

/* As it is now; NULL: it is not alive. */
static const struct peer *live_peer(const struct call *call, const char *name,
                                    const struct known_peer *known)
{
    const struct peer *self = engine_peers(call->api->ports.engine)->self;
    if (strcmp(self->name, name) == 0)
        return self;
    return known && known->peer.is_alive ? &known->peer : NULL;
}

/* The label of a limit that the node can't enforce; NULL: there is none. */
static const char *lacks_controller(const struct job *definition, const struct peer *peer)
{
    unsigned need = limits_need(&definition->limits);
    for (int i = 0; i < CONTROLLERS; i++) {
        const char *label = controller_label((enum run_controller)i);
        if (need & 1u << i && !selector_matches(label, peer->labels))
            return label;
    }
    return NULL;
}

bool run_node_read(struct call *call, const struct job *definition, struct run *run)
{
    const json_t *value = json_object_get(call->body, "node");
    const char *name = json_string_value(value);
    if (!value || json_is_null(value))
        return true;
    const struct known_peer *known =
        name ? peers_find(engine_peers(call->api->ports.engine), name) : NULL;
    const struct peer *peer = name ? live_peer(call, name, known) : NULL;
    if (!name || !*name)
        call_fail_at(call, "/node", "node: expected the name of a node");
    else if (!peer)
        call_fail_at(call, "/node",
                     known ? "node: %.63s is away" : "node: there is no node %.63s; see peal nodes",
                     name);
    else if (known && known->is_drained)
        call_fail_at(call, "/node", "node: %.63s is drained", name);
    else if (!peer_runs_jobs(peer))
        call_fail_at(call, "/node", "node: %.63s runs no jobs", name);
    else if (definition->kind == JOB_FUNCTION &&
             strcmp(peer->program, definition->function.program) != 0)
        call_fail_at(call, "/node", "node: %.63s is not a process of the program %.63s", name,
                     definition->function.program);
    else if (definition->kind != JOB_FUNCTION && peer_is_program(peer))
        call_fail_at(call, "/node", "node: %.63s runs the functions of its program only", name);
    else if (definition->where && !selector_matches(definition->where, peer->labels))
        call_fail_at(call, "/node", "node: %.63s does not have the labels %.200s", name,
                     definition->where);
    else if (lacks_controller(definition, peer))
        call_fail_at(call, "/node", "node: %.63s does not have the labels %.200s", name,
                     lacks_controller(definition, peer));
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

static void add_words(struct strbuf *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_words(struct strbuf *words, const char *format, ...)
{
    va_list args;
    if (words->length)
        strbuf_adds(words, ", ");
    va_start(args, format);
    strbuf_addv(words, format, args);
    va_end(args);
}

/* A value of a parameter: its beginning, on one line. */
static void clean_value(const char *text, char *ret, size_t size)
{
    size_t used = 0, length = text ? strlen(text) : 0;
    while (used < length) {
        size_t next = utf8_length(text + used, length - used);
        if (used + next >= size)
            break;
        used += next;
    }
    for (size_t i = 0; i < used; i++)
        ret[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    ret[used] = '\0';
}

/* Values of variables are not on record; those of parameters are, as with the run. */
void run_input_note(struct call *call, const struct run *run, const char *text)
{
    struct run_input input = input_decode(text);
    struct strbuf words;
    const char *name;
    json_t *value;
    strbuf_init(&words);
    if (*run->pinned)
        add_words(&words, "on %s", run->pinned);
    json_object_foreach (json_object_get(call->body, "params"), name, value) {
        char chosen[41];
        clean_value(json_string_value(json_object_get(input.params, name)), chosen, sizeof(chosen));
        add_words(&words, "param %.40s=%s", name, chosen);
    }
    json_object_foreach (input.env, name, value) {
        add_words(&words, "env %.40s", name);
    }
    (void)value;
    if (input.timeout_s >= 0)
        add_words(&words, "timeout %llds", (long long)input.timeout_s);
    if (input.body)
        add_words(&words, "input of %lld bytes", run_body_length(input.body));
    char detail[sizeof(((struct change_record *)0)->detail)];
    clean_value(words.text, detail, sizeof(detail));
    if (*detail)
        note_detail(call, "%s", detail);
    strbuf_release(&words);
    input_release(&input);
}
