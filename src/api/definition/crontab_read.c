/* Reads a crontab as `peal import crontab` does, so that it can be pasted into a form: the jobs
 * that it becomes, and what could not be converted. Nothing is written. */
#include "auth/visible.h"
#include "crontab/crontab.h"
#include "handlers.h"
#include "server.h"
#include "text/parsed.h"

static json_t *note_item(const struct call *call, const struct crontab_note *note)
{
    struct strbuf text;
    strbuf_init(&text);
    (void)message_translate(call->language, note->text, &text);
    json_t *item = json_pack("{s:i, s:i, s:s, s:s}", "line", note->line, "column", note->column,
                             "severity", crontab_severity_name(note->severity), "text", text.text);
    strbuf_release(&text);
    return item;
}

static json_t *answer_of(const struct call *call, const struct crontab *crontab)
{
    json_t *items = json_array(), *notes = json_array();
    for (size_t i = 0; i < crontab->jobs.count; i++)
        json_array_append_new(items, job_encode_json(crontab->jobs.items[i], false));
    for (size_t i = 0; i < crontab->note_count; i++)
        json_array_append_new(notes, note_item(call, &crontab->notes[i]));
    return json_pack("{s:o, s:o}", "items", items, "notes", notes);
}

/* A zone that is not known is told with the first line that needs it. */
void import_jobs(struct call *call)
{
    const json_t *text = json_object_get(call->body, "text");
    const json_t *zone = json_object_get(call->body, "timezone");
    if (!json_is_string(text)) {
        call_fail_at(call, "/text", "text: expected the text of a crontab");
        return;
    }
    if (zone && !json_is_string(zone)) {
        call_fail_at(call, "/timezone", "timezone: expected the name of a time zone");
        return;
    }
    struct crontab_options options = {
        .system = json_is_true(json_object_get(call->body, "system")),
        .default_tz = zone ? json_string_value(zone) : call->api->default_tz,
    };
    struct parse_error why = {0};
    struct crontab crontab;
    crontab_init(&crontab);
    enum status st = crontab_import(json_string_value(text), json_string_length(text), &options,
                                    call->api->ports.zones, &crontab, &why);
    if (st == OK)
        call_reply(call, 200, answer_of(call, &crontab));
    else if (st == E_INVALID || st == E_TOO_LARGE)
        call_fail_at(call, "/text", "%s", why.message);
    else
        call_fail(call, 500, "out of memory");
    crontab_release(&crontab);
}
