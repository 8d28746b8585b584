#include "jobs/foreign/foreign_source.h"

#include <stdio.h>
#include <string.h>

#include "jobs/input_file.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

/* What the note says, in the language of the command. A refusal of dkron's converter is in the
 * words of the API, behind the name of a field. */
static void translate(struct foreign_note *note)
{
    size_t end = strlen(note->text), length = note->why ? strlen(note->why) : 0;
    if (!note->why)
        tr_parsed(note->text, sizeof(note->text));
    else if (length <= end && strcmp(note->text + end - length, note->why) == 0)
        snprintf(note->text + end - length, sizeof(note->text) - end + length, "%s", tr(note->why));
}

/* gocron.json:1:20: warning: task 12 "backup": ... */
static void tell_note(const char *place, struct foreign_note *note)
{
    struct strbuf text;
    strbuf_init(&text);
    translate(note);
    if (*note->id)
        strbuf_addf(&text, tr("task %s \"%s\": %s"), note->id, note->name, note->text);
    else if (*note->name)
        strbuf_addf(&text, tr("job \"%s\": %s"), note->name, note->text);
    else
        strbuf_adds(&text, note->text);
    fprintf(stderr, "%s:", place);
    if (note->line)
        fprintf(stderr, "%d:%d:", note->line, note->column);
    fputc(' ', stderr);
    /* TR("info"), TR("warning"), TR("error") */
    fprintf(stderr, tr("%s: %s"), tr(foreign_severity_name(note->severity)), text.text);
    fputc('\n', stderr);
    strbuf_release(&text);
}

void foreign_source_tell(struct foreign *foreign, const char *place)
{
    for (size_t i = 0; i < foreign->note_count; i++)
        tell_note(foreign->notes[i].file ? foreign->notes[i].file : place, &foreign->notes[i]);
}

static enum exit_code import_text(const struct foreign_request *request,
                                  const struct reading *reading, const char *place,
                                  const struct strbuf *text, struct foreign *foreign)
{
    struct parse_error err = {0};
    const struct foreign_options options = {.prefix = request->prefix,
                                            .default_tz = reading->default_tz.text};
    enum status st =
        request->read(text->text, text->length, &options, reading->zones, foreign, &err);
    if (st == E_INVALID || st == E_TOO_LARGE) {
        tr_parsed(err.message, sizeof(err.message));
        if (err.line)
            fprintf(stderr, "%s:%d:%d: %s\n", place, err.line, err.column, err.message);
        else
            cli_error("%s: %s", place, err.message);
        return EXIT_INVALID;
    }
    if (st == OK)
        foreign_source_tell(foreign, place);
    return cli_fail(st);
}

enum exit_code foreign_source_read(const struct foreign_request *request,
                                   const struct reading *reading, struct job_list *jobs,
                                   size_t *ret_lost)
{
    const char *place = strcmp(request->file, "-") == 0 ? "stdin" : request->file;
    struct strbuf text;
    struct foreign foreign;
    strbuf_init(&text);
    foreign_init(&foreign);
    enum exit_code code = input_file_read(request->file, &text);
    if (code == EXIT_OK)
        code = import_text(request, reading, place, &text, &foreign);
    if (code == EXIT_OK) {
        *jobs = foreign.jobs;
        *ret_lost = foreign.lost;
        job_list_init(&foreign.jobs);
    }
    foreign_release(&foreign);
    strbuf_release(&text);
    return code;
}
