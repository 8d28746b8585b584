/* What a request hands over for one run: fields of its body, over what the run had that is run
 * again. */
#include <stdlib.h>
#include <string.h>

#include "jobs/jobs.h"
#include "params/run_input.h"
#include "server.h"

static bool fail_param(struct call *call, enum status st, const struct input_error *why)
{
    struct job_error error = {0};
    char *message = error.message; /* translated by its parts */
    snprintf(error.path, sizeof(error.path), "/params%s%.63s", *why->name ? "/" : "", why->name);
    snprintf(message, sizeof(error.message), "params%s%.63s: %.160s", *why->name ? "." : "",
             why->name, why->why);
    return call_check(call, st, &error);
}

/* The parameters of the run before, with those of the body in their place; NULL: out of memory, or
 * the call has failed. */
static json_t *given_params(struct call *call, const char *before)
{
    json_t *old = before ? json_loads(before, 0, NULL) : NULL;
    json_t *given = json_copy(json_object_get(old, "params"));
    json_t *fresh = json_object_get(call->body, "params");
    json_decref(old);
    if (!given)
        given = json_object();
    if (fresh && !json_is_object(fresh)) {
        call_fail_at(call, "/params", "params: expected a map of names and values");
        json_decref(given);
        return NULL;
    }
    if (given && fresh && json_object_update(given, fresh) != 0) {
        json_decref(given);
        given = NULL;
    }
    if (!given)
        call_fail(call, 500, "out of memory");
    return given;
}

bool run_input_read(struct call *call, const struct job *definition, const char *before, char **ret)
{
    struct input_error why = {0};
    json_t *chosen = NULL;
    json_t *given = given_params(call, before);
    if (!given)
        return false;
    enum status st = input_choose_params(definition, given, &chosen, &why);
    if (st == OK)
        st = input_encode(chosen, ret);
    json_decref(given);
    json_decref(chosen);
    if (st == E_TOO_LARGE) {
        call_fail_at(call, "/params", "params: are larger than %d bytes together", INPUT_JSON_MAX);
        return false;
    }
    return fail_param(call, st, &why);
}

json_t *run_input_show(json_t *run, const char *input)
{
    json_t *document = input ? json_loads(input, 0, NULL) : NULL;
    json_t *params = json_object_get(document, "params");
    if (run && json_object_set(run, "params", params ? params : json_null()) != 0) {
        json_decref(run);
        run = NULL;
    }
    json_decref(document);
    return run;
}
