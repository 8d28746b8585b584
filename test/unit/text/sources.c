#include "sources.h"

#include <assert.h>
#include <ctype.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

/* ---- files ---- */

static char *read_file(const char *path)
{
    struct strbuf text;
    char bytes[4096];
    size_t length;
    FILE *file = fopen(path, "r");
    assert(file);
    strbuf_init(&text);
    while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
        strbuf_add(&text, bytes, length);
    fclose(file);
    return strbuf_detach(&text);
}

static bool is_source(const char *path)
{
    size_t length = strlen(path);
    return length > 2 && path[length - 2] == '.' && strchr("ch", path[length - 1]);
}

size_t sources_read(const char *folder, struct source **ret)
{
    char *const roots[] = {(char *)folder, NULL};
    struct source *sources = NULL;
    size_t count = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    assert(tree);
    for (FTSENT *entry; (entry = fts_read(tree));) {
        const char *path = entry->fts_path + strlen(folder) + 1;
        if (entry->fts_info == FTS_D && entry->fts_level == 1 &&
            (strcmp(path, "agent") == 0 || strcmp(path, "text") == 0))
            fts_set(tree, entry, FTS_SKIP);
        if (entry->fts_info != FTS_F || !is_source(path))
            continue;
        sources = reallocarray(sources, count + 1, sizeof(*sources));
        assert(sources);
        sources[count++] = (struct source){strdup(path), read_file(entry->fts_path)};
    }
    fts_close(tree);
    *ret = sources;
    return count;
}

void sources_free(struct source *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(sources[i].path);
        free(sources[i].text);
    }
    free(sources);
}

/* ---- the list ---- */

/* A word outside of conversions: "%s, %s" and " [y/N] " have none. */
static bool has_word(const char *text)
{
    int letters = 0;
    for (; *text && letters < 2; text++) {
        letters = isalpha((unsigned char)*text) ? letters + 1 : 0;
        if (*text != '%')
            continue;
        text += 1 + strspn(text + 1, "-+ #0123456789.*$");
        text += strspn(text, "hlzjt");
        if (!*text)
            break;
    }
    return letters == 2;
}

void found_add(struct found_list *list, const char *text, const char *path, bool is_marked)
{
    if (!text || !has_word(text))
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].text, text) == 0) {
            list->items[i].is_marked = list->items[i].is_marked || is_marked;
            return;
        }
    }
    list->items = reallocarray(list->items, list->count + 1, sizeof(*list->items));
    assert(list->items);
    list->items[list->count++] = (struct found){strdup(text), path, is_marked};
}

void found_free(struct found_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].text);
    free(list->items);
    *list = (struct found_list){0};
}

/* ---- literals ---- */

struct search {
    const struct source *sources;
    size_t count;
    struct found_list *list;
};

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at) || (*at == '\\' && at[1] == '\n'))
        at++;
    return at;
}

/* The body of a macro, which begins with a literal; NULL: there is none of that name. */
static const char *find_macro(const struct search *search, const char *name, size_t length)
{
    char start[80];
    snprintf(start, sizeof(start), "#define %.*s", (int)length, name);
    for (size_t i = 0; i < search->count && length > 2 && isupper((unsigned char)name[1]); i++) {
        const char *at = strstr(search->sources[i].text, start);
        if (at && !name_length(at + strlen(start))) {
            at = skip_space(at + strlen(start));
            return *at == '"' ? at : NULL;
        }
    }
    return NULL;
}

static const char *read_quoted(const char *at, struct strbuf *out)
{
    for (at++; *at != '"'; at++) {
        assert(*at);
        if (*at != '\\') {
            strbuf_addc(out, *at);
            continue;
        }
        at++;
        if (*at >= '0' && *at <= '7') {
            char *end;
            char digits[4] = {0};
            strncpy(digits, at, 3);
            strbuf_addc(out, (char)strtol(digits, &end, 8));
            at += end - digits - 1;
        } else {
            strbuf_addc(out, *at == 'n' ? '\n' : *at == 't' ? '\t' : *at == 'r' ? '\r' : *at);
        }
    }
    return at + 1;
}

/* Literals, and macros for them, that follow each other. Behind them; `at` itself: there is none.
 */
static const char *read_literals(const struct search *search, const char *at, struct strbuf *out)
{
    static const struct {
        const char *name, *text;
    } formats[] = {{"PRId64", PRId64}, {"PRIu64", PRIu64}, {"JSON_INTEGER_FORMAT", "lld"}};
    for (;;) {
        const char *next = skip_space(at);
        size_t length = name_length(next);
        const char *macro = find_macro(search, next, length);
        if (*next == '"') {
            at = read_quoted(next, out);
        } else if (macro) {
            read_literals(search, macro, out);
            at = next + length;
        } else {
            size_t i = 0;
            while (i < 3 && (strlen(formats[i].name) != length ||
                             strncmp(formats[i].name, next, length) != 0))
                i++;
            if (i == 3)
                return at;
            strbuf_adds(out, formats[i].text);
            at = next + length;
        }
    }
}

/* The literals of some arguments of a call, whose arguments begin at `at`. */
static void search_arguments(const struct search *search, const char *at,
                             const struct text_call *call, const char *path)
{
    int depth = 0, argument = 0;
    while (depth >= 0 && *at && *at != ';' && argument <= call->last) {
        struct strbuf text;
        strbuf_init(&text);
        const char *end = read_literals(search, at, &text);
        if (end != at && argument >= call->first && argument <= call->last && depth == 0)
            found_add(search->list, text.text, path, call->is_marked);
        strbuf_release(&text);
        if (end != at) {
            at = end;
            continue;
        }
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        argument += depth == 0 && *at == ',';
        at += name_length(at) ? name_length(at) : *at == '\'' ? 3 : 1;
    }
}

static void search_source(const struct search *search, const struct source *source,
                          const struct text_call *call)
{
    const char *at = source->text;
    while ((at = strstr(at, call->start))) {
        bool is_inner = at > source->text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool is_name = isalpha((unsigned char)call->start[0]) && strchr(call->start, '(') != NULL;
        at += strlen(call->start);
        if (!(is_inner && is_name))
            search_arguments(search, at, call, source->path);
    }
}

void sources_search(const struct source *sources, size_t count, const struct text_call *calls,
                    struct found_list *list)
{
    const struct search search = {sources, count, list};
    for (size_t i = 0; i < count; i++) {
        for (const struct text_call *call = calls; call->start; call++) {
            if (!call->path || strcmp(call->path, sources[i].path) == 0)
                search_source(&search, &sources[i], call);
        }
    }
}
