/* An HTTP call, as the agent asks peal-call for it: a START of spawn_message.h whose arguments are
 * "http" and then words NAME=VALUE, each at most once except for `header`, and whose standard input
 * is the body. A word that the receiver does not know is an error: the call would not be what was
 * asked for.
 *
 *   method=POST  url=https://...  header=Name: value  status=200-299,304  match=...  no-match=...
 *   redirects=3  connect-ms=10000  ca=/...  cert=/...  key=/...  allow=10.0.0.0/8,::1
 *
 * Its end is SPAWN_EXITED with an enum call_end as exit code; a line on stderr, the last of the
 * output, says why a call has failed. */
#ifndef PEAL_CALL_REQUEST_H
#define PEAL_CALL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define CALL_KIND       "http"
#define CALL_LINE       "peal: " /* in front of the line that says why */
#define CALL_CONNECT_MS 10000
#define CALL_WORDS_MAX  256

/* Of a call that has ended by itself. */
enum call_end {
    CALL_OK,
    CALL_STATUS,   /* another status than those expected */
    CALL_BODY,     /* the body does not match */
    CALL_ERROR,    /* no answer, or not a whole one */
    CALL_NO_START, /* nothing was sent: a file is missing, the request makes no sense */
    CALL_ENDS,
};

/* ---- the agent's side ---- */

struct call_words {
    char *argv[CALL_WORDS_MAX + 1]; /* NULL-terminated */
    size_t count;
    bool has_failed; /* out of memory, or too many */
};

void call_words_init(struct call_words *words); /* with the first word */
void call_words_add(struct call_words *words, const char *name, const char *value); /* NULL: none */
void call_words_add_number(struct call_words *words, const char *name, int64_t value);
void call_words_add_header(struct call_words *words, const char *name, const char *value);
void call_words_release(struct call_words *words);

/* ---- peal-call's side ---- */

/* Texts lie in the arguments. */
struct call_request {
    char *const *argv;
    const char *method, *url, *status;
    const char *match, *no_match; /* NULL: not asked */
    const char *ca, *cert, *key;  /* NULL: none */
    const char *allow;            /* "": nothing but public addresses */
    int redirects;
    int64_t connect_ms;
};

/* E_INVALID: *ret_word is the word that is wrong. */
MUST_CHECK enum status call_request_read(char *const *argv, struct call_request *ret,
                                         const char **ret_word);

/* Is the status in the list "200-299,304"? */
bool call_status_is_listed(const char *list, int status);

/* "Name: value" of the next header; NULL: no more. *at is 0 at first. */
const char *call_request_header(const struct call_request *request, size_t *at);

#endif
