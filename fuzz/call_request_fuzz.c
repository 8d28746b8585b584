/* Any words, one in each line, are either refused or a request; a request that is written again is
 * read as the same. Its lists of statuses and addresses can be asked, whatever they say. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call_address.h"
#include "call_request.h"

enum { WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void require_same(const char *text, const char *other)
{
    require(!text == !other && (!text || strcmp(text, other) == 0));
}

static void write_again(const struct call_request *request, struct call_words *words)
{
    const char *header;
    call_words_init(words);
    call_words_add(words, "method", request->method);
    call_words_add(words, "url", request->url);
    call_words_add(words, "status", request->status);
    call_words_add(words, "match", request->match);
    call_words_add(words, "no-match", request->no_match);
    call_words_add(words, "ca", request->ca);
    call_words_add(words, "cert", request->cert);
    call_words_add(words, "key", request->key);
    call_words_add(words, "allow", request->allow);
    call_words_add_number(words, "redirects", request->redirects);
    call_words_add_number(words, "connect-ms", request->connect_ms);
    for (size_t at = 0; (header = call_request_header(request, &at));)
        call_words_add(words, "header", header);
    require(!words->has_failed);
}

static void check_same(const struct call_request *request, const struct call_request *again)
{
    const char *header;
    size_t at = 0, again_at = 0;
    require_same(request->method, again->method);
    require_same(request->url, again->url);
    require_same(request->status, again->status);
    require_same(request->match, again->match);
    require_same(request->no_match, again->no_match);
    require_same(request->ca, again->ca);
    require_same(request->cert, again->cert);
    require_same(request->key, again->key);
    require_same(request->allow, again->allow);
    require(request->redirects == again->redirects && request->connect_ms == again->connect_ms);
    while ((header = call_request_header(request, &at)))
        require_same(header, call_request_header(again, &again_at));
    require(!call_request_header(again, &again_at));
}

/* A list that is in order is asked for an address of each kind. */
static void ask_lists(const struct call_request *request)
{
    static const int statuses[] = {0, 200, 299, 304, 999};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct parse_error err;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        call_status_is_listed(request->status, statuses[i]);
    v4.sin_addr.s_addr = htonl(0x0a000001);
    v6.sin6_addr = in6addr_loopback;
    bool is_sound = call_address_check_list(request->allow, &err) == OK;
    bool is_listed = call_address_is_listed((const struct sockaddr *)&v4, request->allow);
    is_listed |= call_address_is_listed((const struct sockaddr *)&v6, request->allow);
    require(is_sound || *err.message);
    require(!is_listed || *request->allow);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct call_request request, again;
    struct call_words words;
    const char *word;
    char *text = malloc(length + 1), *argv[WORDS + 1], *rest = text;
    size_t count = 0;
    require(text != NULL);
    memcpy(text, bytes, length);
    text[length] = '\0';
    while (rest && count < WORDS)
        argv[count++] = strsep(&rest, "\n");
    argv[count] = NULL;
    if (call_request_read(argv, &request, &word) == OK) {
        require(request.url && request.redirects >= 0 && request.redirects <= 100);
        require(request.connect_ms >= 0 && request.connect_ms <= 24 * 3600 * 1000);
        ask_lists(&request);
        write_again(&request, &words);
        require(call_request_read(words.argv, &again, &word) == OK);
        check_same(&request, &again);
        call_words_release(&words);
    } else {
        require(word != NULL);
    }
    free(text);
    return 0;
}
