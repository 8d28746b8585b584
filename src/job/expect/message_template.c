#include "expect/message_template.h"

#include <stdio.h>
#include <string.h>

#include "definition/job_fields.h"

static const char *const names[FILL_FIELDS + 1] = {
    [FILL_OWN_TITLE] = "title",
    [FILL_FACTS] = "facts",
    [FILL_JOB] = "job",
    [FILL_EVENT] = "event",
    [FILL_STATE] = "state",
    [FILL_REASON] = "reason",
    [FILL_DETAIL] = "detail",
    [FILL_TICK] = "tick",
    [FILL_TICKS] = "ticks",
    [FILL_STARTED] = "started",
    [FILL_FINISHED] = "finished",
    [FILL_DURATION] = "duration",
    [FILL_EXIT_CODE] = "exit_code",
    [FILL_SIGNAL] = "signal",
    [FILL_ATTEMPT] = "attempt",
    [FILL_NODE] = "node",
    [FILL_RUN] = "run",
    [FILL_OUTPUT] = "output",
    [FILL_LINK] = "link",
    [FILL_HELD_BACK] = "held_back",
    [FILL_CHANNEL] = "channel",
};

static enum message_field find(const char *name, size_t length)
{
    int i = 0;
    while (i < FILL_FIELDS && (strlen(names[i]) != length || memcmp(names[i], name, length) != 0))
        i++;
    return (enum message_field)i;
}

const char *message_template_take(const char *at, struct message_piece *ret)
{
    *ret = (struct message_piece){.text = at, .field = FILL_FIELDS};
    if (at[0] == '$' && at[1] == '$') {
        ret->length = 1;
        return at + 2;
    }
    if (at[0] == '$' && at[1] == '{') {
        size_t length = strcspn(at + 2, "}");
        ret->name = at + 2;
        ret->name_length = length;
        ret->is_open = !at[2 + length];
        ret->field = find(at + 2, length);
        return at + 2 + length + !ret->is_open;
    }
    ret->length = 1 + strcspn(at + 1, "$");
    return at + ret->length;
}

enum status message_template_check(const char *text, struct parse_error *reterr)
{
    struct message_piece piece;
    for (const char *at = text, *next; *at; at = next) {
        next = message_template_take(at, &piece);
        if (!piece.name || (piece.field < FILL_FIELDS && !piece.is_open))
            continue;
        char name[40];
        int column = (int)(at - text) + 1;
        snprintf(name, sizeof(name), "%.*s", (int)(piece.name_length < 39 ? piece.name_length : 39),
                 piece.name);
        const char *near = word_nearest(names, name);
        if (piece.is_open)
            return parse_fail(reterr, column, "\"${%s\" has no }", name);
        if (near)
            return parse_fail(reterr, column, "there is no field ${%s}; did you mean ${%s}?", name,
                              near);
        return parse_fail(reterr, column, "there is no field ${%s}", name);
    }
    return OK;
}

const char *message_title_complaint(const char *text)
{
    bool has_more = strchr(text, '\n') != NULL;
    return has_more ? "must be a single line" : NULL;
}
