#include "call_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void take(struct call_words *words, char *word)
{
    if (!word || words->count == CALL_WORDS_MAX) {
        words->has_failed = true;
        free(word);
        return;
    }
    words->argv[words->count++] = word;
}

void call_words_init(struct call_words *words)
{
    *words = (struct call_words){0};
    take(words, strdup(CALL_KIND));
}

void call_words_add(struct call_words *words, const char *name, const char *value)
{
    char *word;
    if (value)
        take(words, asprintf(&word, "%s=%s", name, value) < 0 ? NULL : word);
}

void call_words_add_number(struct call_words *words, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    call_words_add(words, name, text);
}

void call_words_add_header(struct call_words *words, const char *name, const char *value)
{
    char *word;
    take(words, asprintf(&word, "header=%s: %s", name, value) < 0 ? NULL : word);
}

void call_words_release(struct call_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        explicit_bzero(words->argv[i], strlen(words->argv[i])); /* it may have a secret */
        free(words->argv[i]);
    }
    *words = (struct call_words){0};
}

/* ---- reading ---- */

/* The value of a word of this name; NULL: it has another. */
static const char *value_of(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static bool read_number(const char *text, int64_t max, int64_t *ret)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value > max)
        return false;
    *ret = value;
    return true;
}

static bool take_number(struct call_request *request, const char *word)
{
    const char *text;
    int64_t value;
    if ((text = value_of(word, "redirects")) && read_number(text, 100, &value)) {
        request->redirects = (int)value;
        return true;
    }
    return (text = value_of(word, "connect-ms")) &&
           read_number(text, 24 * 3600 * 1000, &request->connect_ms);
}

static bool take_text(struct call_request *request, const char *word)
{
    const struct {
        const char *name, **to;
    } texts[] = {
        {"method", &request->method},     {"url", &request->url},
        {"status", &request->status},     {"match", &request->match},
        {"no-match", &request->no_match}, {"ca", &request->ca},
        {"cert", &request->cert},         {"key", &request->key},
        {"allow", &request->allow},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *value = value_of(word, texts[i].name);
        if (value) {
            *texts[i].to = value;
            return true;
        }
    }
    return value_of(word, "header") != NULL;
}

/* Has a word before it the same name? Only headers may. */
static bool is_repeated(char *const *argv, size_t at)
{
    size_t length = strcspn(argv[at], "=") + 1;
    for (size_t i = 1; i < at && !value_of(argv[at], "header"); i++)
        if (strncmp(argv[i], argv[at], length) == 0)
            return true;
    return false;
}

enum status call_request_read(char *const *argv, struct call_request *ret, const char **ret_word)
{
    struct call_request request = {
        .argv = argv,
        .method = "GET",
        .status = "200-299",
        .allow = "",
        .connect_ms = CALL_CONNECT_MS,
    };
    *ret_word = argv[0];
    if (strcmp(argv[0], CALL_KIND) != 0)
        return E_INVALID;
    for (size_t i = 1; argv[i]; i++) {
        *ret_word = argv[i];
        if (is_repeated(argv, i) ||
            (!take_text(&request, argv[i]) && !take_number(&request, argv[i])))
            return E_INVALID;
    }
    *ret_word = "url";
    if (!request.url)
        return E_INVALID;
    *ret = request;
    return OK;
}

const char *call_request_header(const struct call_request *request, size_t *at)
{
    while (request->argv[*at]) {
        const char *header = value_of(request->argv[(*at)++], "header");
        if (header)
            return header;
    }
    return NULL;
}

bool call_status_is_listed(const char *list, int status)
{
    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        int from, to;
        int numbers = sscanf(list, "%d-%d", &from, &to);
        if (numbers >= 1 && status >= from && status <= (numbers == 2 ? to : from))
            return true;
    }
    return false;
}
