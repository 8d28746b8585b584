/* Parses and prints instants for people, the API and tables. */
#ifndef PEAL_WHEN_H
#define PEAL_WHEN_H

#include <jansson.h>

#include "cli/cli.h"
#include "strbuf.h"

#define NO_TIME INT64_MIN

int64_t now_ms(void);

/* 2026-03-08T07:00:00.000Z, the fraction optional, in ms. False: not a time. */
bool when_parse(const char *text, int64_t *ret_ms);
void when_print_api(int64_t at_ms, struct strbuf *out);

/* Sun 2026-03-08 03:00:00, by the clock of this machine; "-" for NO_TIME. */
void when_print_local(int64_t at_ms, struct strbuf *out);

/* "3h 12m", "5s ago", "now"; "-" for NO_TIME. */
void when_print_left(int64_t at_ms, int64_t from_ms, struct strbuf *out);

/* The same, with "in" before a span to come: "in 3h 12m". */
void when_print_in(int64_t at_ms, int64_t from_ms, struct strbuf *out);

/* Both: Sun 2026-03-08 03:00:00 (in 3h 12m). */
void when_print_full(int64_t at_ms, struct strbuf *out);

/* "1.250s", "2m 3s": how long something took; "-" when either is NO_TIME. */
void when_print_taken(int64_t from_ms, int64_t to_ms, struct strbuf *out);

/* Rows of options (options.h): a time as the API wants it, typed as RFC 3339, as a local time, as
 * `now`, or as a span like 2h, which is that long ago; and a span in seconds. */
struct when_text {
    char text[40]; /* empty: not given */
};
bool take_when(const struct option_use *use);
bool take_duration(const struct option_use *use);
/* clang-format off */
#define OPTION_WHEN(of, member, long_name, text, ...) \
    OPTION_ROW(take_when, of, member, struct when_text, 0, long_name, "T", text, __VA_ARGS__)
#define OPTION_DURATION(of, member, long_name, text) \
    OPTION_ROW(take_duration, of, member, int64_t, 0, long_name, "D", text, )
/* clang-format on */
#define WHEN_TEXT                                                                                  \
    "T is an RFC 3339 time, a local time like '2027-01-01 08:00', now, or a span before now like " \
    "2h."

/* The fields of an answer: "" for a text, `fallback` for a number, NO_TIME for a time that is not
 * there. */
const char *answer_text(const json_t *object, const char *key);
int64_t answer_int(const json_t *object, const char *key, int64_t fallback);
int64_t answer_time(const json_t *object, const char *key);

#endif
