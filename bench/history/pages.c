/* The questions. What peal says of each must be what the database says, asked barely.
 *
 * A page that is short while there is more is asked for again from where it ended, as the console
 * and the command line do, until it is full: `asks` says how often. The first answer of each kind
 * waits for the disk; of the others the worst of a hundred has to be below 50 ms, where the machine
 * has nothing else to do; where it has, the least says what it takes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "hash.h"
#include "rows.h"

enum {
    ROUNDS = 200,
    LONG_ENOUGH_NS = 500 * 1000 * 1000, /* for all rounds of a question, each way */
    HOUR_MS = 3600 * 1000,
};

enum draws { OF_A_JOB = 1, IN_AN_HOUR = 2, DEEP = 4, LAST_MONTH = 8 };

#define BAD      (1u << RUN_FAILED | 1u << RUN_TIMED_OUT | 1u << RUN_KILLED | 1u << RUN_LOST)
#define MINUTE   60000
#define DAY_MS   86400000
#define A_NODE   "worker-3.example"
#define BUSY_JOB "backup-0000"

static const struct question {
    const char *title;
    struct history_query query;
    unsigned draws; /* what is chosen anew each time */
} questions[] = {
    {"all", {.limit = 0}, 0},
    {"all, deep in", {.limit = 0}, DEEP},
    {"all and ledger", {.with_entries = true}, 0},
    {"of a job", {.limit = 0}, OF_A_JOB},
    {"of a job, deep in", {.limit = 0}, OF_A_JOB | DEEP},
    {"of a job and ledger", {.with_entries = true}, OF_A_JOB},
    {"of a job with 3 old runs", {.job_name = OLD_JOB}, 0},
    {"of no job", {.job_name = "nobody"}, 0},
    {"failed", {.states = 1u << RUN_FAILED}, 0},
    {"failed, deep in", {.states = 1u << RUN_FAILED}, DEEP},
    {"not well, any way", {.states = BAD}, 0},
    {"killed: old ones only", {.states = 1u << RUN_KILLED}, 0},
    {"skipped, in ledger", {.states = 1u << RUN_SKIPPED, .with_entries = true}, 0},
    {"failed, of a job", {.states = 1u << RUN_FAILED}, OF_A_JOB},
    {"killed, of a busy job", {.states = 1u << RUN_KILLED, .job_name = BUSY_JOB}, 0},
    {"in an hour", {.limit = 0}, IN_AN_HOUR},
    {"in an hour, failed", {.states = 1u << RUN_FAILED}, IN_AN_HOUR},
    {"in an hour, of a job", {.limit = 0}, IN_AN_HOUR | OF_A_JOB},
    {"in an hour, on a node", {.node = A_NODE}, IN_AN_HOUR},
    {"since the first day", {.since_ms = FIRST_MS + DAY_MS}, 0},
    {"since the first day, deep in", {.since_ms = FIRST_MS + DAY_MS}, DEEP},
    {"in the last month, failed", {.states = 1u << RUN_FAILED}, LAST_MONTH},
    {"in the last month, of a job", {.limit = 0}, LAST_MONTH | OF_A_JOB},
    {"until the first day", {.until_ms = FIRST_MS + DAY_MS}, 0},
    {"until the first day, of busy job", {.until_ms = FIRST_MS + DAY_MS, .job_name = BUSY_JOB}, 0},
    {"on a node", {.node = A_NODE}, 0},
    {"on a node, deep in", {.node = A_NODE}, DEEP},
    {"on a node, failed", {.node = A_NODE, .states = 1u << RUN_FAILED}, 0},
    {"on a node, of a job", {.node = A_NODE}, OF_A_JOB},
    {"on an old node", {.node = OLD_NODE}, 0},
    {"on an old node, failed", {.node = OLD_NODE, .states = 1u << RUN_FAILED}, 0},
    {"on an old node, of a busy job", {.node = OLD_NODE, .job_name = BUSY_JOB}, 0},
    {"on no node", {.node = "nowhere"}, 0},
    {"10 s or longer", {.min_duration_ms = 10000}, 0},
    {"10 min or longer", {.min_duration_ms = 10 * MINUTE}, 0},
    {"10 min or longer, deep in", {.min_duration_ms = 10 * MINUTE}, DEEP},
    {"an hour or longer", {.min_duration_ms = 60 * MINUTE}, 0},
    {"a day or longer: 2 old ones", {.min_duration_ms = DAY_MS}, 0},
    {"30 days or longer: none", {.min_duration_ms = 30 * INT64_C(86400000)}, 0},
    {"an hour or longer, failed", {.min_duration_ms = 60 * MINUTE, .states = 1u << RUN_FAILED}, 0},
    {"2 s or longer, killed", {.min_duration_ms = 2000, .states = 1u << RUN_KILLED}, 0},
    {"10 min or longer, of a job", {.min_duration_ms = 10 * MINUTE}, OF_A_JOB},
    {"10 min or longer, of a busy job", {.min_duration_ms = 10 * MINUTE, .job_name = BUSY_JOB}, 0},
    {"text: a job's name", {.text = "invoice-0406"}, 0},
    {"text: in 624 jobs' names", {.text = "SYNC"}, 0},
    {"text: an old job's name", {.text = "legacy"}, 0},
    {"text: a reason", {.text = "exit_code"}, 0},
    {"text: a rare reason", {.text = "node_died"}, 0},
    {"text: in details", {.text = "/opt/app-13/"}, 0},
    {"text: in 3 old details", {.text = OLD_DETAIL}, 0},
    {"text: nowhere", {.text = "no such text"}, 0},
    {"text: nowhere, and ledger", {.text = "no such text", .with_entries = true}, 0},
    {"text: 3 old details, since day 1", {.text = OLD_DETAIL, .since_ms = FIRST_MS + DAY_MS}, 0},
    {"text: 3 old details, of a busy job", {.text = OLD_DETAIL, .job_name = BUSY_JOB}, 0},
    {"text: 3 old details, failed", {.text = OLD_DETAIL, .states = 1u << RUN_FAILED}, 0},
    {"text: 3 old details, on a node", {.text = OLD_DETAIL, .node = A_NODE}, 0},
    {"text: in jobs' names, killed", {.text = "sync", .states = 1u << RUN_KILLED}, 0},
    {"text: a reason, on an old node", {.text = "exit_code", .node = OLD_NODE}, 0},
};

/* ---- one question, once ---- */

/* What its draws are, this time. */
static struct history_query draw(const struct bench *bench, const struct question *question,
                                 uint32_t round, char name[64])
{
    struct history_query query = question->query;
    int64_t last_ms = FIRST_MS + (int64_t)bench->runs * STEP_MS;
    uint64_t random = hash_bytes(77, &round, sizeof(round));
    uint32_t row = (uint32_t)hash_below(random, bench->runs);
    query.limit = PAGE;
    if (question->draws & OF_A_JOB) {
        row_job_name(row_job(row), name);
        query.job_name = name;
    }
    if (question->draws & IN_AN_HOUR) {
        query.since_ms = FIRST_MS + (int64_t)row * STEP_MS;
        query.until_ms = query.since_ms + HOUR_MS;
    }
    if (question->draws & LAST_MONTH)
        query.since_ms = last_ms - 30 * INT64_C(86400000);
    if (question->draws & DEEP)
        query.before = row_make((uint32_t)hash_below(random >> 7, bench->runs)).id;
    return query;
}

struct measured {
    size_t rows, asks;
    struct id last;
    int64_t whole_ns, worst_ns; /* until the page was full; the worst of its asks */
};

static struct measured ask_peal(struct bench *bench, const struct history_query *query)
{
    struct measured measured = {0};
    struct history_read read = {.query = *query, .more = true};
    while (read.more && measured.rows < PAGE) {
        read.query.limit = PAGE - measured.rows;
        int64_t start_ns = bench_now_ns();
        bench_read(bench, &read);
        int64_t ns = bench_now_ns() - start_ns;
        measured.asks++;
        measured.whole_ns += ns;
        measured.worst_ns = ns > measured.worst_ns ? ns : measured.worst_ns;
        measured.rows += read.count;
        if (read.count) {
            const struct history_row *row = &read.rows[read.count - 1];
            measured.last = row->is_entry ? row->entry.id : row->run.id;
        }
        read.query.before = read.next;
        history_read_release(&read);
    }
    return measured;
}

static struct measured ask_barely(struct bench *bench, const struct question *question,
                                  const struct history_query *query)
{
    struct measured measured = {.asks = 1};
    int64_t start_ns = bench_now_ns();
    measured.rows = bench->bare.query(bench->bare.bare, question, query, &measured.last);
    measured.whole_ns = measured.worst_ns = bench_now_ns() - start_ns;
    return measured;
}

/* ---- all of it ---- */

static int compare_ns(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Times of many rounds; those of the first one are apart, as much is read from the disk then. */
struct times {
    int64_t first_ns, sum_ns;
    int64_t ns[ROUNDS];
    uint32_t count;
};

static void note(struct times *times, int64_t ns)
{
    if (!times->first_ns)
        times->first_ns = ns;
    else
        times->ns[times->count++] = ns;
    times->sum_ns += ns;
}

/* Another round? The slower it is, the fewer there are. */
static bool goes_on(const struct times *times)
{
    return times->count < ROUNDS && times->sum_ns < LONG_ENOUGH_NS;
}

static double percentile_ms(struct times *times, uint32_t percent)
{
    if (!times->count)
        return (double)times->first_ns / 1e6;
    qsort(times->ns, times->count, sizeof(times->ns[0]), compare_ns);
    size_t at = (times->count - 1) * percent / 100;
    return (double)times->ns[at] / 1e6;
}

static void measure(struct bench *bench, const struct question *question)
{
    struct times asks = {0}, whole = {0}, bare = {0};
    size_t most = 0, rows = 0;
    uint32_t round = 0;
    for (; goes_on(&whole) || goes_on(&bare); round++) {
        char name[64];
        struct history_query query = draw(bench, question, round, name);
        struct measured peal = ask_peal(bench, &query);
        note(&asks, peal.worst_ns);
        note(&whole, peal.whole_ns);
        most = peal.asks > most ? peal.asks : most;
        rows += peal.rows;
        if (!goes_on(&bare))
            continue;
        struct measured plain = ask_barely(bench, question, &query);
        note(&bare, plain.whole_ns);
        if (plain.rows == SIZE_MAX)
            continue;
        if (peal.rows != plain.rows || memcmp(&peal.last, &plain.last, sizeof(peal.last)) != 0)
            bench_fail(question->title, "the two answers differ");
    }
    printf("%-35s %4.0f %4zu %8.2f %7.2f %7.2f %7.2f %8.2f %8.2f %8.2f\n", question->title,
           (double)rows / round, most, (double)asks.first_ns / 1e6, percentile_ms(&asks, 0),
           percentile_ms(&asks, 50), percentile_ms(&asks, 99), percentile_ms(&bare, 0),
           percentile_ms(&bare, 50), percentile_ms(&bare, 99));
    fflush(stdout);
}

void bench_pages(struct bench *bench)
{
    printf("a page of %d out of %" PRIu32 " runs, ms\n", PAGE, bench->runs);
    printf("%-35s %4s %4s %8s %7s %7s %7s %8s %8s %8s\n", "", "rows", "asks", "first", "least",
           "p50", "p99", "bare:", "p50", "p99");
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        measure(bench, &questions[i]);
}
