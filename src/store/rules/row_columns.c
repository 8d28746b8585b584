#include "rules/row_columns.h"

#include "rules/rules.h"

#define JOB(...) COLUMN(job_row, __VA_ARGS__)

static const struct column job_rows[] = {
    JOB("uid", ID, uid, IN_SQLITE | IDENTITY),
    JOB("revision", COUNT, revision, IN_SQLITE | IN_DEFINITION),
    JOB("paused", BOOL, paused, IN_SQLITE | IN_DEFINITION),
    JOB("deleted", BOOL, deleted, IN_SQLITE | IN_DEFINITION),
    JOB("cursor_ms", MS, cursor_ms, IN_STORE),
    JOB("last_run", ID, last.run_id, IN_STORE),
    JOB("last_started_ms", MS, last.started_ms, IN_STORE),
    JOB("last_ended_ms", MS, last.ended_ms, IN_STORE),
    JOB("last_state", STATE, last.state, IN_STORE),
    JOB("succeeded_ms", MS, last.succeeded_ms, IN_STORE | SINCE_2),
    JOB("rewinds", COUNT, rewinds.count, IN_STORE | SINCE_3),
    JOB("high_ms", MS, rewinds.high_ms, IN_STORE | SINCE_3),
    JOB("last_retried", BOOL, last.retried, IN_SQLITE | SINCE_4), /* in etcd behind the gaps */
    JOB("gap_count", INT, rewinds.gap_count, IN_ETCD | SINCE_3),  /* the gaps follow */
};

struct column_set job_row_columns(unsigned with, unsigned without)
{
    return (struct column_set){job_rows, sizeof(job_rows) / sizeof(job_rows[0]), with, without};
}
