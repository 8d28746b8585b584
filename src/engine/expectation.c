#include "expectation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "document/utf8.h"
#include "duration.h"
#include "expect/job_expect.h"
#include "expect/notify_terms.h"
#include "expect/pattern.h"
#include "strbuf.h"
#include "timestamp.h"

/* So much of a path or a pattern is shown in the detail of a run. */
#define SHOWN          "%.60s%s"
#define SHOWN_OF(text) (text), strlen(text) > 60 ? "..." : ""

/* ---- verdicts ---- */

static void fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct run *run, const char *format, ...)
{
    va_list list;
    run->state = RUN_FAILED;
    run->reason = REASON_EXPECTATION;
    va_start(list, format);
    vsnprintf(run->detail, sizeof(run->detail), format, list);
    va_end(list);
    size_t length = strlen(run->detail); /* a character may be cut */
    while (length && utf8_check(run->detail, length, NULL) != OK)
        run->detail[--length] = '\0';
}

/* ---- exit code and duration ---- */

static void judge_exit(const struct job_expect *expect, struct run *run)
{
    struct strbuf wanted;
    bool has_exited =
        run->state == RUN_OK || (run->state == RUN_FAILED && run->reason == REASON_EXIT_CODE);
    if (!expect->exit || !has_exited)
        return;
    if (job_expects_exit(expect, run->exit_code)) {
        run->state = RUN_OK;
        run->reason = REASON_NONE;
        return;
    }
    strbuf_init(&wanted);
    job_expected_exits(expect, &wanted);
    fail(run, "exit: the code was %d, expected %.100s", run->exit_code, wanted.text);
    strbuf_release(&wanted);
}

/* "min_duration: it took 2.000 s, expected at least 3s". */
static void fail_given(struct run *run, bool is_short, int64_t took_ms, int64_t bound_s)
{
    struct strbuf wanted;
    strbuf_init(&wanted);
    duration_print(bound_s, &wanted);
    fail(run, "%s: it took %lld.%03d s, expected at %s %s",
         is_short ? "min_duration" : "max_duration", (long long)(took_ms / 1000),
         (int)(took_ms % 1000), is_short ? "least" : "most", wanted.text);
    strbuf_release(&wanted);
}

/* "duration: it took 0.100 s, expected at least 2.500 s by its last 50 good runs". */
static void fail_learned(struct run *run, bool is_short, int64_t took_ms, int64_t bound_ms,
                         const struct learned *learned)
{
    fail(run, "duration: it took %lld.%03d s, expected at %s %lld.%03d s by its last %zu good runs",
         (long long)(took_ms / 1000), (int)(took_ms % 1000), is_short ? "least" : "most",
         (long long)(bound_ms / 1000), (int)(bound_ms % 1000), learned->runs);
}

/* False: what is learned is not known yet. */
static bool judge_duration(const struct engine_ports *ports, const struct job_expect *expect,
                           struct run *run)
{
    struct learned learned = {0};
    const struct lesson_book *book = &ports->lessons;
    int64_t took_ms = run->finished_ms - run->started_ms;
    if (run->state != RUN_OK || !run->started_ms)
        return true;
    if (expect->duration == EXPECT_DURATION_AUTO && book->find &&
        !book->find(book->context, &run->job_uid, &learned))
        return false;
    struct length_bounds bounds = expected_bounds(expect, &learned);
    bool is_short = took_ms < bounds.min_ms;
    bool is_long = bounds.max_ms && took_ms > bounds.max_ms;
    if (!is_short && !is_long)
        return true;
    int64_t bound_ms = is_short ? bounds.min_ms : bounds.max_ms;
    if (is_short ? bounds.min_is_learned : bounds.max_is_learned)
        fail_learned(run, is_short, took_ms, bound_ms, &learned);
    else
        fail_given(run, is_short, took_ms, bound_ms / 1000);
    return true;
}

/* ---- output ---- */

/* A pattern in the lines of one stream, with the beginning of the line that it is in. */
struct watch {
    struct pattern_search search;
    char line[64];
    size_t length;
};

/* Up to the end of the line. */
static size_t feed_line(struct watch *watch, const char *bytes, size_t length)
{
    const char *end = memchr(bytes, '\n', length);
    size_t taken = end ? (size_t)(end - bytes) + 1 : length;
    for (size_t i = 0; i < taken && watch->length < sizeof(watch->line) && bytes[i] != '\n'; i++)
        watch->line[watch->length++] = bytes[i];
    if (!pattern_search_feed(&watch->search, bytes, taken) && end)
        watch->length = 0;
    return taken;
}

static void feed(struct watch *watch, const char *bytes, size_t length)
{
    while (length && !watch->search.is_found) {
        size_t taken = feed_line(watch, bytes, length);
        bytes += taken;
        length -= taken;
    }
}

static void end_line(struct watch *watch)
{
    if (!watch->search.is_found && !pattern_search_break(&watch->search))
        watch->length = 0;
}

/* The lines of both streams, of each in its order; of long output the beginning and the end. */
static void look_for(const struct pattern *pattern, const struct output_chunk *chunks, size_t count,
                     struct watch watches[2])
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        total += chunks[i].length;
    for (int i = 0; i < 2; i++) {
        watches[i].length = 0;
        pattern_search_init(&watches[i].search, pattern);
    }
    size_t tail = total > 2 * EXPECTATION_BYTES ? total - EXPECTATION_BYTES : EXPECTATION_BYTES;
    for (size_t i = 0; i < count; at += chunks[i++].length) {
        const char *bytes = chunks[i].bytes;
        size_t length = chunks[i].length;
        struct watch *watch = &watches[chunks[i].stream == OUTPUT_STDERR];
        size_t head = at < EXPECTATION_BYTES ? EXPECTATION_BYTES - at : 0;
        size_t hole = tail > at ? tail - at : 0;
        if (chunks[i].gap_bytes)
            end_line(watch);
        feed(watch, bytes, head < length ? head : length);
        if (hole > head)
            end_line(watch);
        hole = hole > head ? hole : head;
        if (hole < length)
            feed(watch, bytes + hole, length - hole);
    }
    end_line(&watches[0]);
    end_line(&watches[1]);
}

/* As far as it can be shown. */
static const char *shown_line(struct watch *watch, char text[64])
{
    size_t length = 0;
    const char *at = watch->line, *end = watch->line + watch->length;
    while (at < end && length + 8 < 64) {
        uint32_t c;
        size_t taken;
        if (!utf8_decode(at, (size_t)(end - at), &c, &taken))
            break;
        if (!utf8_is_printable(c))
            text[length++] = ' ';
        else
            for (size_t i = 0; i < taken; i++)
                text[length++] = at[i];
        at += taken;
    }
    text[length] = '\0';
    return text;
}

static void judge_pattern(const char *text, bool is_wanted, const struct output_chunk *chunks,
                          size_t count, struct run *run)
{
    struct pattern *pattern;
    struct watch watches[2];
    if (!text || run->state != RUN_OK)
        return;
    if (pattern_parse(text, &pattern, NULL) != OK) {
        fail(run, "the output could not be looked at: out of memory");
        return;
    }
    look_for(pattern, chunks, count, watches);
    struct watch *found = watches[0].search.is_found   ? &watches[0]
                          : watches[1].search.is_found ? &watches[1]
                                                       : NULL;
    if (is_wanted && !found)
        fail(run, "matches: no line of the output matches " SHOWN, SHOWN_OF(text));
    if (!is_wanted && found) {
        char line[sizeof(found->line)];
        fail(run, "not_matches: the output has \"%s\"", shown_line(found, line));
    }
    pattern_free(pattern);
}

static void judge_output(const struct engine_ports *ports, const struct job_expect *expect,
                         struct run *run)
{
    const struct output_source *output = &ports->output;
    struct output_chunk *chunks = NULL;
    size_t count = 0;
    if ((!expect->matches && !expect->not_matches) || run->state != RUN_OK)
        return;
    enum status st = output->read && run->output_bytes
                         ? output->read(output->context, &run->id, &chunks, &count)
                         : E_NOT_FOUND;
    if (st != OK && st != E_NOT_FOUND) {
        fail(run, "the output could not be looked at: %s", status_text(st));
        return;
    }
    judge_pattern(expect->not_matches, false, chunks, count, run);
    judge_pattern(expect->matches, true, chunks, count, run);
    if (st == OK)
        output->release(output->context, chunks, count);
}

/* ---- file ---- */

/* The times of files are the kernel's of its last tick, some of which are 10 ms apart; and some
 * file systems keep whole seconds. */
static bool is_changed_since(const struct executor_file *file, int64_t since_ms)
{
    enum { KERNEL_TICK_MS = 10, SECOND_MS = 1000 };
    bool may_be_rounded = file->changed_ms % SECOND_MS == 0;
    return file->changed_ms >= since_ms - KERNEL_TICK_MS ||
           (may_be_rounded && file->changed_ms >= since_ms - since_ms % SECOND_MS);
}

static void judge_age(const struct job_expect *expect, const struct executor_file *file,
                      struct run *run)
{
    struct strbuf changed;
    int64_t within_s = 0;
    enum expect_age age = job_expected_age(expect, &within_s);
    int64_t since_ms = age == EXPECT_OF_RUN ? run->started_ms : run->finished_ms - within_s * 1000;
    if (age == EXPECT_ANY_AGE || is_changed_since(file, since_ms))
        return;
    strbuf_init(&changed);
    timestamp_print_utc(file->changed_ms / 1000, &changed);
    if (age == EXPECT_OF_RUN)
        fail(run, "file: " SHOWN " was last changed before the run, at %s", SHOWN_OF(expect->file),
             changed.text);
    else
        fail(run, "file: " SHOWN " was last changed at %s, expected within %s",
             SHOWN_OF(expect->file), changed.text, expect->newer_than);
    strbuf_release(&changed);
}

static void judge_file(const struct job_expect *expect, const struct executor_file *file,
                       struct run *run)
{
    if (file->state != FILE_SEEN)
        fail(run, "file: " SHOWN ": %s", SHOWN_OF(expect->file),
             file->state == FILE_UNSEEN ? file->why : "it could not be looked at");
    else if (file->bytes < expect->min_bytes)
        fail(run, "file: " SHOWN " has %lld bytes, expected at least %lld", SHOWN_OF(expect->file),
             (long long)file->bytes, (long long)expect->min_bytes);
    else
        judge_age(expect, file, run);
}

/* ---- all of it ---- */

/* The file comes last: only a run that is good so far has it looked at. */
static enum settling judge(const struct engine_ports *ports, const struct job *job, struct run *run,
                           const struct run *end, const struct executor_file *file)
{
    struct executor *executor = ports->executor;
    const struct job_expect *expect = &job->expect;
    judge_exit(expect, run);
    if (!judge_duration(ports, expect, run))
        return AWAITS_LESSON;
    judge_output(ports, expect, run);
    if (!expect->file || run->state != RUN_OK)
        return SETTLED;
    if (file->state == FILE_NOT_LOOKED_AT && executor->ops->look &&
        executor->ops->look(executor, &run->id, job, end) == OK)
        return AWAITS_FILE;
    judge_file(expect, file, run);
    return SETTLED;
}

enum settling expectation_settle(const struct engine_ports *ports, struct instances *instances,
                                 struct run *run, const struct run *end,
                                 const struct executor_file *file)
{
    const struct catalog_job *terms = instances_terms(instances, run);
    struct job_error error;
    struct job *job;
    bool may_count =
        run->state == RUN_OK || (run->state == RUN_FAILED && run->reason == REASON_EXIT_CODE);
    if (!terms || !terms->expects || !may_count)
        return SETTLED;
    if (job_decode_stored(terms->json, NULL, &job, &error) != OK) {
        fail(run, "what the job expects could not be read: out of memory");
        return SETTLED;
    }
    enum settling settling = judge(ports, job, run, end, file);
    job_free(job);
    return settling;
}
