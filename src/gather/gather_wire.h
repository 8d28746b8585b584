/* The protocol between nodes: the reads of history.h and of live_output.h as JSON, each a POST to
 * its own path. Unknown members are ignored and missing ones zero, for clusters of mixed versions.
 * Pure. */
#ifndef PEAL_GATHER_WIRE_H
#define PEAL_GATHER_WIRE_H

#include "gather_merge.h"
#include "id_json.h"
#include "live_output.h"

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

/* Live output: a POST to WIRE_OUTPUT. The answer is read into *read; E_INVALID, of a question;
 * E_CORRUPT. */
#define WIRE_OUTPUT "/peer/v1/output"
MUST_CHECK enum status wire_encode_output_question(const struct live_read *read,
                                                   struct strbuf *out);
MUST_CHECK enum status wire_decode_output_question(const char *text, size_t length,
                                                   struct live_read *ret);
MUST_CHECK enum status wire_encode_output(const struct live_read *read, struct strbuf *out);
MUST_CHECK enum status wire_decode_output(const char *text, size_t length, struct live_read *read);

/* The messages of a node's channels: a POST to WIRE_MESSAGES, whose question and answer are
 * notify's (message_log.h). */
#define WIRE_MESSAGES "/peer/v1/messages"

/* A run or an entry; NULL: out of memory. E_CORRUPT: it has no id. */
json_t *wire_row(const struct history_row *row);
MUST_CHECK enum status wire_read_row(const json_t *json, struct history_row *ret);

/* Chunks as a list; NULL: out of memory. Those that were read before a failure are returned, too,
 * to be freed. E_CORRUPT; E_NOMEM. */
json_t *wire_chunks(const struct output_chunk *chunks, size_t count);
MUST_CHECK enum status wire_read_chunks(const json_t *list, struct output_chunk **ret,
                                        size_t *ret_count);

/* Takes over `json`; NULL is E_NOMEM. */
MUST_CHECK enum status wire_print(json_t *json, struct strbuf *out);
/* Members of JSON objects, for the wire files. */
int64_t wire_number(const json_t *json, const char *key);
/* A time, a duration or a count, clamped so that sums do not overflow. */
int64_t wire_ms(const json_t *json, const char *key);
const char *wire_text(const json_t *json, const char *key);             /* NULL: missing */
void wire_read_id(const json_t *json, const char *key, struct id *ret); /* zero: missing */

#endif
