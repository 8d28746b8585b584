#include "systemd/unit_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "strbuf.h"

static const struct table_type by_name = {.key_at = offsetof(struct unit, name),
                                          .is_pointer = true};

void unit_set_init(struct unit_set *set)
{
    *set = (struct unit_set){.units = NULL};
    table_init(&set->names, &by_name);
}

static void free_unit(struct unit *unit)
{
    for (size_t i = 0; i < unit->count; i++) {
        free(unit->lines[i].section);
        free(unit->lines[i].name);
        free(unit->lines[i].value);
    }
    free(unit->lines);
    free(unit->name);
    free(unit);
}

void unit_set_release(struct unit_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free_unit(set->units[i]);
    free(set->units);
    table_release(&set->names);
    unit_set_init(set);
}

const struct unit *unit_find(const struct unit_set *set, const char *name)
{
    return table_find(&set->names, name);
}

static enum status add_unit(struct unit_set *set, const char *name, size_t length,
                            struct unit **ret)
{
    enum status st = array_grow(&set->units, set->count, sizeof(*set->units));
    struct unit *unit = st == OK ? calloc(1, sizeof(*unit)) : NULL;
    if (!unit)
        return E_NOMEM;
    unit->name = strndup(name, length);
    if (!unit->name || table_insert(&set->names, unit) != OK) {
        free_unit(unit);
        return E_NOMEM;
    }
    set->units[set->count++] = unit;
    *ret = unit;
    return OK;
}

/* ---- which unit a path is of ---- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length > size && strncmp(text + length - size, end, size) == 0;
}

static bool is_unit_name(const char *name, size_t length)
{
    return ends_with(name, length, ".timer") || ends_with(name, length, ".service");
}

/* The last part of a path, from `begin`; *ret_length is its length. */
static const char *last_part(const char *path, size_t length, size_t *ret_length)
{
    size_t begin = length;
    while (begin && path[begin - 1] != '/')
        begin--;
    *ret_length = length - begin;
    return path + begin;
}

/* "backup.timer" of DIR/backup.timer and of DIR/backup.timer.d/NAME.conf. NULL: of neither form. */
static const char *unit_of_path(const char *path, size_t length, size_t *ret_length)
{
    size_t size;
    const char *part = last_part(path, length, &size);
    if (is_unit_name(part, size)) {
        *ret_length = size;
        return part;
    }
    if (!ends_with(part, size, ".conf") || part == path)
        return NULL;
    part = last_part(path, length - size - 1, &size);
    if (!ends_with(part, size, ".d") || !is_unit_name(part, size - 2))
        return NULL;
    *ret_length = size - 2;
    return part;
}

static enum status use_unit(struct unit_set *set, const char *name, size_t length,
                            struct unit **ret)
{
    char *key = strndup(name, length);
    if (!key)
        return E_NOMEM;
    struct unit *unit = table_find(&set->names, key);
    free(key);
    if (!unit)
        return add_unit(set, name, length, ret);
    *ret = unit;
    return OK;
}

/* ---- lines ---- */

struct source {
    struct unit_set *set;
    const char *path;
    unit_refused *refused;
    void *context;
    struct unit *unit; /* of the lines here; NULL: not known yet */
    char *section;
    bool is_stream; /* lines of comments name the files */
    bool is_any;
    int line; /* of the text, from 1 */
};

static size_t trimmed(const char *text, size_t length)
{
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    return length;
}

/* "# /lib/systemd/system/backup.timer" of `systemctl cat`. */
static enum status read_comment(struct source *source, const char *text, size_t length)
{
    size_t size;
    if (!source->is_stream || length < 3 || strncmp(text, "# /", 3) != 0)
        return OK;
    const char *name = unit_of_path(text + 2, trimmed(text, length) - 2, &size);
    if (!name)
        return OK;
    free(source->section);
    source->section = NULL;
    source->is_any = true;
    return use_unit(source->set, name, size, &source->unit);
}

static enum status set_section(struct source *source, const char *text, size_t length)
{
    if (length < 2 || text[length - 1] != ']')
        return source->refused(source->context, source->path, source->line,
                               "the line is left out: a section is written as [Name]");
    free(source->section);
    source->section = strndup(text + 1, length - 2);
    return source->section ? OK : E_NOMEM;
}

static enum status add_line(struct source *source, const char *name, size_t length,
                            const char *value, int line, int column)
{
    struct unit *unit = source->unit;
    enum status st = array_grow(&unit->lines, unit->count, sizeof(*unit->lines));
    if (st != OK)
        return st;
    struct unit_line *added = &unit->lines[unit->count];
    *added = (struct unit_line){.file = source->path,
                                .at = {.kind = NODE_NULL, .line = line, .column = column},
                                .section = strdup(source->section),
                                .name = strndup(name, length),
                                .value = strdup(value)};
    unit->count++;
    return added->section && added->name && added->value ? OK : E_NOMEM;
}

/* A whole line, its continuations included; `line` is the number of its first. */
static enum status read_entry(struct source *source, const char *text, int line)
{
    const char *at = text + strspn(text, " \t");
    size_t length = trimmed(at, strlen(at));
    const char *equals = memchr(at, '=', length);
    if (!length)
        return OK;
    if (!source->unit)
        return OK; /* before the first file of a stream */
    if (*at == '[')
        return set_section(source, at, length);
    if (!equals || equals == at)
        return source->refused(source->context, source->path, line,
                               "the line is left out: expected NAME=value");
    if (!source->section)
        return source->refused(source->context, source->path, line,
                               "the line is left out: expected a section like [Timer] before it");
    const char *begin = equals + 1;
    while (begin < at + length && isblank((unsigned char)*begin))
        begin++;
    char *value = strndup(begin, length - (size_t)(begin - at));
    if (!value)
        return E_NOMEM;
    enum status st = add_line(source, at, trimmed(at, (size_t)(equals - at)), value, line,
                              (int)(begin - text) + 1);
    free(value);
    return st;
}

/* A backslash at the end joins the next line, with a blank instead of it. Comments between such
 * lines are left out. */
static enum status read_lines(struct source *source, const char *text, size_t length)
{
    struct strbuf whole;
    int first = 0;
    enum status st = OK;
    strbuf_init(&whole);
    for (const char *end = text + length; text < end && st == OK;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        size_t size = (size_t)(stop - text), blanks = 0;
        source->line++;
        if (size && text[size - 1] == '\r')
            size--;
        while (blanks < size && isblank((unsigned char)text[blanks]))
            blanks++;
        bool is_comment = blanks < size && strchr("#;", text[blanks]);
        bool is_continued = !is_comment && size && text[size - 1] == '\\' && newline;
        if (is_comment) {
            st = read_comment(source, text + blanks, size - blanks);
        } else {
            first = whole.length ? first : source->line;
            strbuf_add(&whole, text, is_continued ? size - 1 : size);
            if (is_continued)
                strbuf_addc(&whole, ' ');
        }
        if (!is_comment && !is_continued) {
            st = strbuf_status(&whole);
            if (st == OK)
                st = read_entry(source, whole.text, first);
            strbuf_reset(&whole);
        }
        text = newline ? newline + 1 : end;
    }
    strbuf_release(&whole);
    return st;
}

enum status unit_set_read(struct unit_set *set, const char *path, const char *text, size_t length,
                          unit_refused *refused, void *context, bool *ret_any)
{
    size_t size;
    const char *name = unit_of_path(path, strlen(path), &size);
    struct source source = {.set = set,
                            .path = path,
                            .refused = refused,
                            .context = context,
                            .is_stream = !name,
                            .is_any = name != NULL};
    enum status st = name ? use_unit(set, name, size, &source.unit) : OK;
    if (st == OK)
        st = read_lines(&source, text, length);
    free(source.section);
    *ret_any = source.is_any;
    return st;
}

/* ---- values ---- */

static bool is_named(const struct unit_line *line, const char *section, const char *name)
{
    return strcmp(line->section, section) == 0 && strcmp(line->name, name) == 0;
}

const struct unit_line *unit_get(const struct unit *unit, const char *section, const char *name)
{
    for (size_t i = unit ? unit->count : 0; i-- > 0;) {
        if (is_named(&unit->lines[i], section, name))
            return *unit->lines[i].value ? &unit->lines[i] : NULL;
    }
    return NULL;
}

const struct unit_line *unit_next(const struct unit *unit, const char *section, const char *name,
                                  size_t *at)
{
    size_t first = 0, count = unit ? unit->count : 0;
    for (size_t i = count; i-- > 0 && !first;) {
        if (is_named(&unit->lines[i], section, name) && !*unit->lines[i].value)
            first = i + 1;
    }
    for (size_t i = *at > first ? *at : first; i < count; i++) {
        if (is_named(&unit->lines[i], section, name)) {
            *at = i + 1;
            return &unit->lines[i];
        }
    }
    return NULL;
}

bool unit_is_true(const struct unit_line *line)
{
    static const char *const words[] = {"1", "yes", "y", "true", "t", "on"};
    for (size_t i = 0; line && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(line->value, words[i]) == 0)
            return true;
    }
    return false;
}
