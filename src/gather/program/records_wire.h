/* What a program hands to an agent, as JSON: records for its history, and offers of live output.
 * Unknown members are ignored. Pure. */
#ifndef PEAL_RECORDS_WIRE_H
#define PEAL_RECORDS_WIRE_H

#include "gather_wire.h"

#define WIRE_RECORDS "/peer/v1/records"
#define WIRE_OFFER   "/peer/v1/offer"

enum {
    WIRE_RECORDS_MAX = 16 << 20, /* bytes of a request; a program sends about half of that */
    WIRE_QUESTIONS_MAX = 4,      /* that an offer is answered with */
};

/* ---- records ---- */

/* The first records of `count`, as one request: *ret_count of them, at least one, as many as make
 * up some 8 MiB. E_INVALID: the first is a change, which programs do not record. */
MUST_CHECK enum status wire_encode_records(const struct history_record *records, size_t count,
                                           struct strbuf *out, size_t *ret_count);

/* Such a request, decoded. */
struct wire_records {
    struct history_record *records; /* they point into what follows */
    size_t count;
    struct history_row *rows;
    json_t *json; /* has the inputs */
};

/* E_INVALID: not such a request; E_NOMEM. */
MUST_CHECK enum status wire_decode_records(const char *text, size_t length,
                                           struct wire_records *ret);
void wire_records_release(struct wire_records *records);

/* ---- offers: POST with the answers to the last questions, answered with the next ones ---- */

/* Of an agent to a program: a piece of the output of a run. */
struct wire_question {
    int64_t number; /* the agent's own */
    struct id run_id;
    int64_t offset;
    size_t limit;
};

MUST_CHECK enum status wire_encode_questions(const struct wire_question *questions, size_t count,
                                             struct strbuf *out);
/* At most WIRE_QUESTIONS_MAX. E_CORRUPT. */
MUST_CHECK enum status wire_decode_questions(const char *text, size_t length,
                                             struct wire_question ret[WIRE_QUESTIONS_MAX],
                                             size_t *ret_count);

/* An offer is an object with a list; an answer is put into it. NULL: out of memory. */
json_t *wire_offer(void);
void wire_offer_answer(json_t *offer, int64_t number, const struct live_read *read);

/* The next answer in the offer, from *inout_i on, into *read, whose other members stay.
 * E_NOT_FOUND: there is no further one; E_CORRUPT: this one can't be read. */
MUST_CHECK enum status wire_offer_next(const json_t *offer, size_t *inout_i, int64_t *ret_number,
                                       struct live_read *read);

#endif
