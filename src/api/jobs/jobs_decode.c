/* Converts a definition as people type it to JSON: YAML is decoded here, by the decoder of job
 * files, so that clients need no YAML parser. */
#include <string.h>

#include "definition/job_codec.h"
#include "handlers.h"
#include "server.h"

/* Errors of the definition are part of a 200: the user is still typing. */
void decode_job(struct call *call)
{
    const json_t *text = json_object_get(call->body, "text");
    struct job_error error = {0};
    json_t *definition = NULL;
    if (!json_is_string(text)) {
        call_fail_at(call, "/text", "text: expected the text of a job, as in a job file");
        return;
    }
    enum status st =
        job_read_text(json_string_value(text), json_string_length(text), call->api->default_tz,
                      call->api->ports.zones, &definition, &error);
    if (call_check(call, st, &error)) {
        json_t *errors = json_array();
        if (error.message[0])
            json_array_append_new(errors, job_error_item(call, error.path, &error));
        call_reply(call, 200, json_pack("{s:o, s:o}", "definition", definition, "errors", errors));
    }
}
