#include "document/spot.h"

#include <stdio.h>
#include <string.h>

/* /limits/memory: '~' and '/' inside a name are written ~0 and ~1 (RFC 6901). */
static void add_pointer(const struct spot *spot, struct strbuf *out)
{
    if (!spot->up)
        return;
    add_pointer(spot->up, out);
    if (!spot->name) {
        strbuf_addf(out, "/%zu", spot->index);
        return;
    }
    strbuf_addc(out, '/');
    for (const char *c = spot->name; *c; c++) {
        if (*c == '~' || *c == '/')
            strbuf_adds(out, *c == '~' ? "~0" : "~1");
        else
            strbuf_addc(out, *c);
    }
}

/* limits.memory, command[2]: for messages. */
static void add_label(const struct spot *spot, struct strbuf *out)
{
    if (!spot->up)
        return;
    add_label(spot->up, out);
    if (spot->name)
        strbuf_addf(out, "%s%.60s", spot->up->up ? "." : "", spot->name);
    else
        strbuf_addf(out, "[%zu]", spot->index);
}

/* Truncates a long text at the end of a character. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length >= size) {
        length = size - 1;
        while (length && ((unsigned char)from[length] & 0xC0) == 0x80)
            length--;
    }
    memcpy(to, from, length);
    to[length] = '\0';
}

/* `message` is the part after the field's name. */
static void set_hint(struct job_error *err, const char *message)
{
    const char *hint = message_hint(message);
    copy_text(err->hint, sizeof(err->hint), hint ? hint : "");
}

static void set(struct job_error *err, const struct spot *spot, int line, int column,
                const char *format, va_list args) __attribute__((format(printf, 5, 0)));

static void set(struct job_error *err, const struct spot *spot, int line, int column,
                const char *format, va_list args)
{
    struct strbuf text;
    strbuf_init(&text);
    add_label(spot, &text);
    strbuf_adds(&text, text.length ? ": " : "");
    size_t label_length = text.length;
    strbuf_addv(&text, format, args);
    set_hint(err, text.text + label_length);
    err->text_column = 0;
    copy_text(err->message, sizeof(err->message), text.text);
    strbuf_release(&text);
    spot_point(err, spot);
    err->line = line;
    err->column = column;
}

static void set_at(struct job_error *err, const struct spot *spot, int line, int column,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

static void set_at(struct job_error *err, const struct spot *spot, int line, int column,
                   const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(err, spot, line, column, format, args);
    va_end(args);
}

void spot_set(struct job_error *err, const struct spot *spot, const char *format, ...)
{
    if (!err)
        return;
    va_list args;
    va_start(args, format);
    set(err, spot, spot->node->line, spot->node->column, format, args);
    va_end(args);
}

void spot_point(struct job_error *err, const struct spot *spot)
{
    struct strbuf text;
    if (!err)
        return;
    strbuf_init(&text);
    add_pointer(spot, &text);
    copy_text(err->path, sizeof(err->path), text.text);
    strbuf_release(&text);
}

void spot_set_inside(struct job_error *err, const struct spot *spot,
                     const struct parse_error *inside)
{
    const struct node *node = spot->node;
    if (!err)
        return;
    if (inside->column == 0)
        set_at(err, spot, node->line, node->column, "%s", inside->message);
    else if (node->exact)
        set_at(err, spot, node->line, node->text_column + inside->column - 1, "%s",
               inside->message);
    else
        set_at(err, spot, node->line, node->column, "%s (at column %d of the text)",
               inside->message, inside->column);
    set_hint(err, inside->message);
    err->text_column = inside->column;
}

void spot_set_tree(struct job_error *err, const struct parse_error *inside)
{
    struct node nowhere = {.line = inside->line, .column = inside->column};
    struct spot root = {.node = &nowhere};
    spot_set(err, &root, "%s", inside->message);
}
