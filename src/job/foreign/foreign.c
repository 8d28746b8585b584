#include "foreign/foreign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "document/utf8.h"
#include "foreign/foreign_build.h"

void foreign_init(struct foreign *foreign)
{
    *foreign = (struct foreign){.notes = NULL};
    job_list_init(&foreign->jobs);
}

void foreign_release(struct foreign *foreign)
{
    job_list_release(&foreign->jobs);
    free(foreign->notes);
    foreign_init(foreign);
}

const char *foreign_severity_name(enum foreign_severity severity)
{
    static const char *const names[] = {
        [FOREIGN_INFO] = "info", [FOREIGN_WARNING] = "warning", [FOREIGN_ERROR] = "error"};
    return names[severity];
}

/* Cut between two characters, if need be. */
static void copy_text(char *to, size_t size, const char *text)
{
    size_t used = 0, length = strlen(text);
    while (used < length) {
        size_t next = utf8_length(text + used, length - used);
        if (used + next >= size)
            break;
        used += next;
    }
    memcpy(to, text, used);
    to[used] = '\0';
}

static enum status add(struct foreign_build *build, const struct foreign_task *task,
                       const struct node *at, enum foreign_severity severity, const char *text)
{
    struct foreign *out = build->out;
    enum status st = array_grow(&out->notes, out->note_count, sizeof(*out->notes));
    if (st != OK)
        return st;
    struct foreign_note *note = &out->notes[out->note_count++];
    at = at || !task ? at : task->node;
    *note = (struct foreign_note){.file = build->file,
                                  .line = at ? at->line : 0,
                                  .column = at ? at->column : 0,
                                  .severity = severity};
    if (task) {
        memcpy(note->id, task->id, sizeof(note->id));
        copy_text(note->name, sizeof(note->name), task->name);
    }
    copy_text(note->text, sizeof(note->text), text);
    out->lost += severity == FOREIGN_ERROR;
    return OK;
}

enum status foreign_note(struct foreign_build *build, const struct foreign_task *task,
                         const struct node *at, enum foreign_severity severity, const char *format,
                         ...)
{
    va_list args;
    struct strbuf text;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = add(build, task, at, severity, text.text);
    strbuf_release(&text);
    return st;
}

enum status foreign_fail_field(struct foreign_build *build, const struct foreign_task *task,
                               const struct node *at, const char *field, const char *format, ...)
{
    va_list args;
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text, "%s: ", field);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = add(build, task, at, FOREIGN_ERROR, text.text);
    strbuf_release(&text);
    return st;
}

enum status foreign_refuse(struct foreign_build *build, const struct foreign_task *task,
                           const struct node *at, const char *field, const char *why)
{
    enum status st = foreign_fail_field(build, task, at, field, "%s", why);
    if (st == OK)
        build->out->notes[build->out->note_count - 1].why = why;
    return st;
}

static int compare_notes(const void *a, const void *b)
{
    const struct foreign_note *x = a, *y = b;
    if (x->file != y->file)
        return !x->file ? 1 : !y->file ? -1 : strcmp(x->file, y->file);
    int x_line = x->line ? x->line : INT32_MAX, y_line = y->line ? y->line : INT32_MAX;
    if (x_line != y_line)
        return (x_line > y_line) - (x_line < y_line);
    if (x->column != y->column)
        return (x->column > y->column) - (x->column < y->column);
    return strcmp(x->text, y->text);
}

void foreign_sort_notes(struct foreign *foreign)
{
    if (foreign->note_count)
        qsort(foreign->notes, foreign->note_count, sizeof(*foreign->notes), compare_notes);
}

enum status foreign_add(struct foreign_build *build, const struct foreign_task *task,
                        const json_t *definition, const struct foreign_origin *origin,
                        bool *ret_done)
{
    struct job_list *jobs = &build->out->jobs;
    struct job *job = NULL;
    struct job_error err = {0};
    *ret_done = false;
    enum status st = array_grow(&jobs->items, jobs->count, sizeof(struct job *));
    if (st == OK)
        st = job_decode_json(definition, false, build->options->default_tz, build->zones, &job,
                             &err);
    if (st == OK) {
        jobs->items[jobs->count++] = job;
        *ret_done = true;
    }
    if (st == OK || st == E_NOMEM)
        return st;
    return foreign_note(build, task, origin->at(task, err.path), FOREIGN_ERROR, "%s", err.message);
}

void foreign_plain(const char *text, struct strbuf *out)
{
    for (const char *next; (next = strstr(text, "${")); text = next + 2) {
        strbuf_add(out, text, (size_t)(next - text));
        strbuf_adds(out, "$${");
    }
    strbuf_adds(out, text);
}
