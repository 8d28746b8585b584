/* The protocol between nodes' histories: the reads of history.h as JSON, each a POST to its own
 * path. Unknown members are ignored and missing ones zero, for clusters of mixed versions. Pure. */
#ifndef PEAL_GATHER_WIRE_H
#define PEAL_GATHER_WIRE_H

#include "gather_merge.h"
#include "id_json.h"

/* "/peer/v1/history/read"; NULL: not sent to other nodes. */
const char *wire_path(enum history_request_kind kind);
bool wire_kind(const char *path, enum history_request_kind *ret);

/* Encodes the query of `request` (a struct history_read, ... of that kind). */
MUST_CHECK enum status wire_encode_question(enum history_request_kind kind, const void *request,
                                            struct strbuf *out);
/* Decodes a query; its texts are in *question, which must outlive it. E_INVALID. */
MUST_CHECK enum status wire_decode_question(enum history_request_kind kind, const json_t *question,
                                            union gather_answer *ret);

/* An answer; decoded, it is released with gather_answer_release. E_CORRUPT; E_NOMEM. */
MUST_CHECK enum status wire_encode_answer(enum history_request_kind kind,
                                          const union gather_answer *answer, struct strbuf *out);
MUST_CHECK enum status wire_decode_answer(enum history_request_kind kind, const char *text,
                                          size_t length, union gather_answer *ret);

/* Takes over `json`; NULL is E_NOMEM. */
MUST_CHECK enum status wire_print(json_t *json, struct strbuf *out);
/* Members of JSON objects, for the wire files. */
int64_t wire_number(const json_t *json, const char *key);
/* A time, a duration or a count, clamped so that sums do not overflow. */
int64_t wire_ms(const json_t *json, const char *key);
const char *wire_text(const json_t *json, const char *key);             /* NULL: missing */
void wire_read_id(const json_t *json, const char *key, struct id *ret); /* zero: missing */

#endif
