/* ${NAME} in the words of a command. Only declared names are replaced, so that all other text stays
 * as it is; and never in a word that an interpreter reads as code. */
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "params/params.h"
#include "strbuf.h"

const struct job_param *params_next_use(const struct job_params *params, const char **at)
{
    const char *text = *at;
    for (const char *next = text; (next = strstr(next, "${")); next += 2) {
        const char *name = next + 2, *end = strchr(name, '}');
        const struct job_param *param =
            end ? job_params_find(params, name, (size_t)(end - name)) : NULL;
        if (param && (next == text || next[-1] != '$')) {
            *at = next;
            return param;
        }
    }
    return NULL;
}

/* Interpreters, by the beginning of their name, and the letter of the option that code follows. */
static const struct {
    const char *name;
    char option;
} interpreters[] = {
    {"sh", 'c'},    {"bash", 'c'},    {"dash", 'c'},      {"zsh", 'c'},    {"ksh", 'c'},
    {"mksh", 'c'},  {"ash", 'c'},     {"fish", 'c'},      {"csh", 'c'},    {"tcsh", 'c'},
    {"rbash", 'c'}, {"su", 'c'},      {"runuser", 'c'},   {"python", 'c'}, {"pypy", 'c'},
    {"perl", 'e'},  {"ruby", 'e'},    {"lua", 'e'},       {"node", 'e'},   {"nodejs", 'e'},
    {"php", 'r'},   {"Rscript", 'e'}, {"osascript", 'e'},
};

/* "/usr/bin/python3.11" is "python" with a version. */
static char option_of(const char *word)
{
    const char *slash = strrchr(word, '/');
    const char *name = slash ? slash + 1 : word;
    for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
        size_t length = strlen(interpreters[i].name);
        if (strncmp(name, interpreters[i].name, length) == 0 &&
            !name[length + strspn(name + length, "0123456789.")])
            return interpreters[i].option;
    }
    return '\0';
}

/* "-c", "-ec", "-lc", "--command", "-cCODE" */
static bool takes_code(const char *word, char option, bool *ret_has_code)
{
    static const char *const longs[] = {"--command", "--eval", "--print", "--run"};
    *ret_has_code = false;
    for (size_t i = 0; i < sizeof(longs) / sizeof(longs[0]); i++) {
        size_t length = strlen(longs[i]);
        if (strncmp(word, longs[i], length) != 0)
            continue;
        *ret_has_code = word[length] == '=';
        return !word[length] || word[length] == '=';
    }
    if (word[0] != '-' || word[1] == '-')
        return false;
    const char *letter = strchr(word + 1, option);
    *ret_has_code = letter && letter[1];
    return letter;
}

/* The interpreter need not be the first word: `env bash -c`, `nice -n 5 sh -c`, `timeout 5 sh -c`.
 * Everything behind ssh may be code, or an option with a command. Rather one word too many is taken
 * for code than one too few: the environment has the value, too. */
bool argv_word_is_code(char *const *argv, size_t index)
{
    char option = '\0';
    bool is_code = false, has_code;
    for (size_t i = 0; i <= index && argv[i]; i++) {
        const char *slash = strrchr(argv[i], '/');
        const char *name = slash ? slash + 1 : argv[i];
        bool is_this = i == index;
        if (is_this && is_code)
            return true;
        if (option && takes_code(argv[i], option, &has_code)) {
            if (is_this)
                return has_code;
            is_code = !has_code;
            continue;
        }
        if (is_code) { /* the words behind the code are its arguments */
            is_code = false;
            option = '\0';
            continue;
        }
        if (i == 0 && !is_this && strcmp(name, "ssh") == 0)
            return true;
        if (option_of(argv[i]))
            option = option_of(argv[i]);
    }
    return false;
}

bool param_value_is_option(const struct job_param *param, const char *value, char *const *argv)
{
    if (*value != '-' || param->type != PARAM_STRING || param->allowed)
        return false;
    for (size_t i = 0; argv && argv[i]; i++) {
        const char *at = argv[i];
        struct job_params alone = {(struct job_param *)param, 1};
        if (params_next_use(&alone, &at) && at == argv[i])
            return true;
    }
    return false;
}

static enum status expand_word(const struct job_params *params, const char *word, char **ret)
{
    struct strbuf out;
    const char *at = word, *next = word;
    const struct job_param *param;
    strbuf_init(&out);
    for (; (next = strstr(next, "${")); at = next) {
        const char *end = strchr(next, '}');
        param = end ? job_params_find(params, next + 2, (size_t)(end - next - 2)) : NULL;
        if (!param) {
            next += 2;
            strbuf_add(&out, at, (size_t)(next - at));
            continue;
        }
        bool is_plain = next > word && next[-1] == '$';
        strbuf_add(&out, at, (size_t)(next - at) - is_plain);
        if (is_plain) {
            strbuf_add(&out, next, (size_t)(end - next) + 1);
        } else if (job_param_value(param)) {
            strbuf_adds(&out, job_param_value(param));
        } else {
            strbuf_release(&out);
            return E_INVALID;
        }
        next = end + 1;
    }
    strbuf_adds(&out, at);
    *ret = strbuf_detach(&out);
    return *ret ? OK : E_NOMEM;
}

enum status params_expand_argv(const struct job *job, char ***ret)
{
    size_t count = 0;
    while (job->command[count])
        count++;
    char **argv = calloc(count + 1, sizeof(*argv));
    enum status st = argv ? OK : E_NOMEM;
    for (size_t i = 0; i < count && st == OK; i++)
        st = expand_word(&job->params, job->command[i], &argv[i]);
    if (st == OK)
        *ret = argv;
    else
        job_names_free(argv);
    return st;
}
