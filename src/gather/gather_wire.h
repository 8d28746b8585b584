/* What nodes say to each other about their histories: the reads of history.h as JSON, each a POST
 * to a path of its own. Unknown members are passed over, those that are not there are zero: nodes
 * of several versions live together. Pure. */
#ifndef PEAL_GATHER_WIRE_H
#define PEAL_GATHER_WIRE_H

#include <jansson.h>

#include "gather_merge.h"

/* "/peer/v1/history/read"; NULL: it is not asked from elsewhere. */
const char *wire_path(enum history_request_kind kind);
bool wire_kind(const char *path, enum history_request_kind *ret);

/* A question: what `request` (a struct history_read, ... of that kind) asks for. */
MUST_CHECK enum status wire_encode_question(enum history_request_kind kind, const void *request,
                                            struct strbuf *out);
/* Fills in what is asked for; its texts are *question's, which must stay. E_INVALID. */
MUST_CHECK enum status wire_decode_question(enum history_request_kind kind, const json_t *question,
                                            union gather_answer *ret);

/* An answer; decoded, it is released with gather_answer_release. E_CORRUPT; E_NOMEM. */
MUST_CHECK enum status wire_encode_answer(enum history_request_kind kind,
                                          const union gather_answer *answer, struct strbuf *out);
MUST_CHECK enum status wire_decode_answer(enum history_request_kind kind, const char *text,
                                          size_t length, union gather_answer *ret);

/* Numbers, texts and ids as members, for the files of this. */
int64_t wire_number(const json_t *json, const char *key);
/* A time, a duration or a count; one that is so large that sums overflow is the largest that is
 * not.
 */
int64_t wire_ms(const json_t *json, const char *key);
const char *wire_text(const json_t *json, const char *key);             /* NULL: it is not there */
void wire_read_id(const json_t *json, const char *key, struct id *ret); /* zero: not there */
json_t *wire_id(const struct id *id);

#endif
