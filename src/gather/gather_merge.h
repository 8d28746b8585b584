/* Merges the answers of several histories. Pure. */
#ifndef PEAL_GATHER_MERGE_H
#define PEAL_GATHER_MERGE_H

#include "history.h"

/* One history's answer to a request, by its kind. */
union gather_answer {
    struct history_read read;
    struct history_log log;
    struct history_stats stats;
    struct history_changes changes;
};

void gather_answer_release(enum history_request_kind kind, union gather_answer *answer);

/* Merges `count` answers to the same query into `request`; `absent` is not changed. The answers may
 * be moved from; release them in any case. E_NOMEM: the request is unchanged.
 *
 * Pages: newest first, each id once. A page ends where the first answer with more rows ends, since
 * older rows are not known of all. Logs: that of the node which knows the real end of the run.
 * Statistics: sums. */
MUST_CHECK enum status gather_merge_read(union gather_answer *answers, size_t count,
                                         struct history_read *request);
void gather_merge_log(union gather_answer *answers, size_t count, struct history_log *request);
MUST_CHECK enum status gather_merge_stats(union gather_answer *answers, size_t count,
                                          struct history_stats *request);
MUST_CHECK enum status gather_merge_changes(union gather_answer *answers, size_t count,
                                            struct history_changes *request);

#endif
