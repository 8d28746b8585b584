/* ExecStart= and its like as a command, or as a script where only a shell does the same. */
#include <ctype.h>
#include <string.h>

#include "document/shell_word.h"
#include "systemd/systemd_build.h"

struct script {
    struct strbuf text; /* all commands, for sh */
    json_t *words;      /* of the first one */
    size_t commands;
    bool needs_shell;
    bool splits; /* a variable is split into words, in which * has no meaning */
};

/* The letters in front of a command. */
struct prefixes {
    bool may_fail;   /* - */
    bool has_name;   /* @ */
    bool is_literal; /* : */
    bool is_root;    /* + ! !! */
};

static const char *read_prefixes(const char *at, struct prefixes *ret)
{
    *ret = (struct prefixes){.may_fail = false};
    for (at += strspn(at, " \t"); *at && strchr("-@:+!", *at); at++) {
        ret->may_fail = ret->may_fail || *at == '-';
        ret->has_name = ret->has_name || *at == '@';
        ret->is_literal = ret->is_literal || *at == ':';
        ret->is_root = ret->is_root || *at == '+' || *at == '!';
    }
    return at;
}

/* ---- variables ---- */

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return isdigit((unsigned char)*text) ? 0 : length;
}

/* The length of "${NAME}" at the start of the text; 0: it is none. */
static size_t braces_length(const char *text)
{
    if (text[0] != '$' || text[1] != '{')
        return 0;
    size_t length = name_length(text + 2);
    return length && text[2 + length] == '}' ? length + 3 : 0;
}

static bool has_braces(const char *word)
{
    while ((word = strchr(word, '$')) && !braces_length(word))
        word += word[1] == '$' ? 2 : 1;
    return word != NULL;
}

/* "$NAME" as a word of its own, which is split into words. */
static bool is_split(const char *word)
{
    size_t length = *word == '$' ? name_length(word + 1) : 0;
    return length && !word[length + 1];
}

/* Up to the next variable in braces, "$$" as a "$". Returns where it ends. */
static const char *add_literal(const char *at, struct strbuf *out)
{
    for (; *at && !braces_length(at); at++) {
        strbuf_addc(out, *at);
        if (at[0] == '$' && at[1] == '$')
            at++;
    }
    return at;
}

static enum status add_expanded(const char *word, struct strbuf *out)
{
    struct strbuf part;
    strbuf_init(&part);
    while (*word) {
        size_t length = braces_length(word);
        if (length) {
            strbuf_addf(out, "\"%.*s\"", (int)length, word);
            word += length;
            continue;
        }
        strbuf_reset(&part);
        word = add_literal(word, &part);
        shell_word(out, part.text);
    }
    enum status st = strbuf_status(&part);
    strbuf_release(&part);
    return st;
}

/* ---- words ---- */

static enum status add_plain(struct script *script, const char *word)
{
    shell_word(&script->text, word);
    if (script->commands == 1 && json_array_append_new(script->words, json_string(word)) != 0)
        return E_NOMEM;
    return OK;
}

static enum status add_word(struct script *script, const char *word, bool is_literal)
{
    if (is_literal)
        return add_plain(script, word);
    if (is_split(word)) {
        script->needs_shell = script->splits = true;
        strbuf_adds(&script->text, word);
        return OK;
    }
    if (has_braces(word)) {
        script->needs_shell = true;
        return add_expanded(word, &script->text);
    }
    struct strbuf plain;
    strbuf_init(&plain);
    (void)add_literal(word, &plain);
    enum status st = strbuf_status(&plain);
    if (st == OK)
        st = add_plain(script, plain.text);
    strbuf_release(&plain);
    return st;
}

/* The words of one command, up to the end or a ";" of its own. *ret_count: how many. */
static enum status add_words(struct script *script, const struct systemd_timer *timer,
                             const char *text, const char **inout_at,
                             const struct prefixes *prefixes, size_t *ret_count,
                             struct parse_error *err)
{
    struct strbuf word;
    bool is_any = true;
    enum status st = OK;
    strbuf_init(&word);
    for (*ret_count = 0; st == OK; (*ret_count)++) {
        strbuf_reset(&word);
        const char *begin = *inout_at + strspn(*inout_at, " \t");
        st = unit_word(text, inout_at, &timer->names, &word, &is_any, err);
        bool is_end = *begin == ';' && strcmp(word.text, ";") == 0;
        if (st != OK || !is_any || is_end)
            break;
        if (*begin == '\\' && strcmp(word.text, "\\;") == 0)
            memmove(word.text, ";", 2);
        if (prefixes->has_name && *ret_count == 1)
            continue; /* argv[0] */
        if (*ret_count)
            strbuf_addc(&script->text, ' ');
        st = add_word(script, word.text, prefixes->is_literal || !*ret_count);
    }
    strbuf_release(&word);
    return st;
}

static enum status note_prefixes(struct systemd_build *build, struct systemd_timer *timer,
                                 const struct unit_line *line, const struct prefixes *prefixes)
{
    enum status st = OK;
    if (prefixes->has_name)
        st = systemd_note(build, timer, line, FOREIGN_WARNING,
                          "the name of the process after '@' is left out");
    if (st == OK && prefixes->is_root && unit_get(timer->service, "Service", "User"))
        st = systemd_note(build, timer, line, FOREIGN_WARNING,
                          "'+' and '!' are left out: it runs as the user of the job");
    return st;
}

static enum status add_line(struct systemd_build *build, struct systemd_timer *timer,
                            const struct unit_line *line, struct script *script)
{
    const char *at = line->value;
    enum status st = OK;
    while (st == OK && !timer->is_lost && *(at += strspn(at, " \t;"))) {
        struct parse_error err = {0};
        struct prefixes prefixes;
        size_t count = 0;
        at = read_prefixes(at, &prefixes);
        script->commands++;
        st = add_words(script, timer, line->value, &at, &prefixes, &count, &err);
        if (st == E_INVALID)
            return systemd_fail(build, timer, line, &err);
        if (st == OK && !count)
            return systemd_note(build, timer, line, FOREIGN_ERROR, "a command is missing");
        strbuf_adds(&script->text, prefixes.may_fail ? " || :\n" : "\n");
        script->needs_shell = script->needs_shell || prefixes.may_fail;
        if (st == OK)
            st = note_prefixes(build, timer, line, &prefixes);
    }
    return st;
}

/* ---- the whole ---- */

static enum status set_script(const struct script *script, json_t *definition)
{
    struct strbuf whole;
    if (script->commands == 1 && !script->needs_shell)
        return systemd_set(definition, "command", json_incref(script->words));
    strbuf_init(&whole);
    strbuf_adds(&whole, script->commands > 1 ? "set -e\n" : "");
    strbuf_adds(&whole, script->splits ? "set -f\n" : "");
    strbuf_add(&whole, script->text.text, script->text.length);
    enum status st = strbuf_status(&whole);
    if (st == OK)
        st = systemd_set(definition, "shell", json_string(whole.text));
    strbuf_release(&whole);
    return st;
}

enum status systemd_set_command(struct systemd_build *build, struct systemd_timer *timer,
                                json_t *definition)
{
    static const char *const names[] = {"ExecStartPre", "ExecStart", "ExecStartPost"};
    struct script script = {.words = json_array()};
    enum status st = script.words ? OK : E_NOMEM;
    size_t first = 0;
    strbuf_init(&script.text);
    timer->what = unit_next(timer->service, "Service", "ExecStart", &first);
    if (st == OK && !timer->what)
        st = systemd_note(build, timer, NULL, FOREIGN_ERROR,
                          "%s has no ExecStart=", timer->service->name);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct unit_line *line;
        for (size_t at = 0; st == OK && !timer->is_lost &&
                            (line = unit_next(timer->service, "Service", names[i], &at));)
            st = add_line(build, timer, line, &script);
    }
    if (st == OK)
        st = strbuf_status(&script.text);
    if (st == OK && !timer->is_lost)
        st = set_script(&script, definition);
    strbuf_release(&script.text);
    json_decref(script.words);
    return st;
}
