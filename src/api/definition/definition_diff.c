#include "definition/definition_diff.h"

#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_text.h"
#include "runs/encode.h"
#include "server.h"
#include "text_diff.h"

json_t *show_definition(const char *stored, enum secrets secrets)
{
    json_error_t error = {0};
    struct strbuf text;
    strbuf_init(&text);
    definition_text_write(&text, stored, secrets);
    json_t *definition =
        strbuf_status(&text) == OK ? json_loadb(text.text, text.length, 0, &error) : NULL;
    bool is_damaged = !definition && strbuf_status(&text) == OK &&
                      json_error_code(&error) != json_error_out_of_memory;
    strbuf_release(&text);
    return is_damaged ? json_null() : definition;
}

/* ---- line by line ---- */

static enum status print_yaml(const struct call *call, const json_t *definition, struct strbuf *out)
{
    const struct api *api = call->api;
    struct job *job = NULL;
    struct job_error error;
    enum status st =
        job_decode_json(definition, false, api->default_tz, api->ports.zones, &job, &error);
    if (st == OK)
        st = job_encode_yaml(job, out);
    job_free(job);
    return st;
}

json_t *definition_text_diff(const struct call *call, const char *from_name, const json_t *from,
                             const char *to_name, const json_t *to)
{
    struct strbuf old, new, diff;
    json_t *text = NULL;
    strbuf_init(&old);
    strbuf_init(&new);
    strbuf_init(&diff);
    enum status st = print_yaml(call, from, &old);
    if (st == OK)
        st = print_yaml(call, to, &new);
    if (st == OK)
        st = text_diff(from_name, old.text, to_name, new.text, &diff);
    if (st == OK)
        text = json_words(diff.text);
    else if (st != E_NOMEM)
        text = json_null();
    strbuf_release(&old);
    strbuf_release(&new);
    strbuf_release(&diff);
    return text;
}
