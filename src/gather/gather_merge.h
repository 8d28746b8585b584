/* Answers of several histories, put together as if they came from one. Pure. */
#ifndef PEAL_GATHER_MERGE_H
#define PEAL_GATHER_MERGE_H

#include "history.h"

/* What one history answered to a request, of the kind that was asked. */
union gather_answer {
    struct history_read read;
    struct history_log log;
    struct history_stats stats;
    struct history_changes changes;
};

void gather_answer_release(enum history_request_kind kind, union gather_answer *answer);

/* The answer to a request from all answers to it, `count` of them, each of which was given to the
 * same query; `request` gets it as if it were alone, and what it lacks is none of our business
 * (`absent` stays). The answers may be emptied; release them all the same. E_NOMEM: the request is
 * as it was.
 *
 * Pages: newest first, each id once. A page ends where the first of the answers does that says
 * there is more: what is older is not known of all. Logs: of the one which knows best how the run
 * ended. Statistics: added up. */
MUST_CHECK enum status gather_merge_read(union gather_answer *answers, size_t count,
                                         struct history_read *request);
void gather_merge_log(union gather_answer *answers, size_t count, struct history_log *request);
MUST_CHECK enum status gather_merge_stats(union gather_answer *answers, size_t count,
                                          struct history_stats *request);
MUST_CHECK enum status gather_merge_changes(union gather_answer *answers, size_t count,
                                            struct history_changes *request);

#endif
