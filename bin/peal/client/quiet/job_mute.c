#include "client/quiet/job_mute.h"

#include <stdio.h>
#include <string.h>

#include "cli/text_width.h"
#include "duration.h"
#include "text/tr.h"

const struct option_row mute_options[] = {
    OPTION_DURATION(mute_request, for_s, "for", "for so long: 90m, 2h, 3d"),
    OPTION_WHEN(mute_request, until, "until", "until this time"),
    OPTION_TEXT(mute_request, reason, 0, "reason", "TEXT", "why, for those who ask later"),
    OPTION_GROUP(mute_request, base, client_options),
    {0},
};

/* ---- showing ---- */

static void add_time(const json_t *mute, const char *key, struct strbuf *out)
{
    int64_t at_ms = answer_time(mute, key);
    struct strbuf at;
    strbuf_init(&at);
    when_print_full(at_ms, &at);
    strbuf_adds(out, at.text);
    strbuf_release(&at);
}

static void add_active(const json_t *mute, bool is_ack, struct strbuf *out)
{
    strbuf_adds(out, tr(is_ack ? TR("acknowledged") : TR("muted")));
    if (answer_time(mute, "until") != NO_TIME) {
        strbuf_addc(out, ' ');
        strbuf_adds(out, tr("until"));
        strbuf_addc(out, ' ');
        add_time(mute, "until", out);
    } else if (is_ack) {
        strbuf_addc(out, ' ');
        strbuf_adds(out, tr("until it succeeds"));
    }
}

static void add_over(const json_t *mute, bool is_ack, struct strbuf *out)
{
    const char *by = answer_text(mute, "ended_by");
    bool has_recovered = strcmp(answer_text(mute, "ended"), "recovered") == 0;
    strbuf_adds(out, tr(has_recovered ? TR("acknowledgement ended with a success:")
                        : is_ack      ? TR("acknowledgement ended:")
                                      : TR("mute ended:")));
    strbuf_addc(out, ' ');
    add_time(mute, "ended_at", out);
    if (*by)
        strbuf_addf(out, tr(", by %s"), by);
}

void mute_print(const json_t *mute, struct strbuf *out)
{
    const char *by = answer_text(mute, "by"), *reason = answer_text(mute, "reason");
    bool is_ack = strcmp(answer_text(mute, "kind"), "ack") == 0;
    bool is_active = json_is_true(json_object_get(mute, "active"));
    if (is_active)
        add_active(mute, is_ack, out);
    else
        add_over(mute, is_ack, out);
    if (is_active && *by)
        strbuf_addf(out, tr(", by %s"), by);
    if (!*reason)
        return;
    strbuf_adds(out, tr(": "));
    text_print_safe(reason, strlen(reason), out);
}

/* ---- doing ---- */

static json_t *body_of(const struct mute_request *request)
{
    struct strbuf span;
    strbuf_init(&span);
    if (request->for_s)
        duration_print(request->for_s, &span);
    const char *until = request->until.text;
    json_t *body = json_pack("{s:s*, s:s*, s:s*}", "for", span.length ? span.text : NULL, "until",
                             *until ? until : NULL, "reason", request->reason);
    strbuf_release(&span);
    return body;
}

static enum exit_code mute_one(struct client *client, const struct mute_request *request,
                               const char *name, const json_t *body)
{
    struct strbuf text;
    json_t *answer = NULL;
    enum exit_code code =
        client_job_action(client, name, request->base.command->name, body, &answer);
    if (code == EXIT_OK) {
        strbuf_init(&text);
        mute_print(answer, &text);
        fprintf(stderr, tr("%s: %s"), name, text.text);
        fputc('\n', stderr);
        strbuf_release(&text);
    }
    json_decref(answer);
    return code;
}

enum exit_code job_mute_run(struct client *client, void *place)
{
    const struct mute_request *request = place;
    bool has_body = request->base.command->options == mute_options;
    json_t *body = has_body ? body_of(request) : NULL;
    enum exit_code worst = has_body && !body ? cli_fail(E_NOMEM) : EXIT_OK;
    for (int i = 0; i < request->names.count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = mute_one(client, request, request->names.items[i], body);
        if (code != EXIT_OK)
            worst = code;
    }
    json_decref(body);
    return worst;
}
