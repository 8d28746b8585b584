/* Output: what was put in comes back, whole or in any range, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history_tests.h"
#include "history_world.h"

enum { LARGE = 2 * 1024 * 1024 };

/* The bytes of a log, without regard to how they are cut. */
static char *flatten(const struct history_log *log, size_t *ret_length)
{
    size_t length = 0;
    for (size_t i = 0; i < log->count; i++)
        length += log->chunks[i].length;
    char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    *ret_length = length;
    length = 0;
    for (size_t i = 0; i < log->count; i++) {
        memcpy(bytes + length, log->chunks[i].bytes, log->chunks[i].length);
        length += log->chunks[i].length;
    }
    return bytes;
}

static void assert_range(struct history_world *world, const struct id *id, int64_t offset,
                         size_t limit, const char *want, size_t want_length)
{
    struct history_log log = {.run_id = *id, .offset = offset, .limit = limit};
    size_t length;
    assert_int_equal(world_log(world, &log), OK);
    assert_true(log.found);
    char *bytes = flatten(&log, &length);
    assert_int_equal(length, want_length);
    assert_memory_equal(bytes, want, want_length);
    free(bytes);
    history_log_release(&log);
}

static void append_output(struct history_world *world, const struct run *run,
                          const struct output_chunk *chunks, size_t count)
{
    struct history_record record = {.run = run, .chunks = chunks, .chunk_count = count};
    assert_int_equal(world_append(world, &record, 1), OK);
}

static void assert_input(struct history_world *world, const struct id *id, const char *want)
{
    struct history_log log = {.run_id = *id, .limit = 4096, .with_input = true};
    assert_int_equal(world_log(world, &log), OK);
    assert_true(log.found);
    if (!want)
        assert_null(log.input);
    else
        assert_string_equal(log.input, want);
    for (size_t i = 0; i < log.count; i++)
        assert_int_not_equal(log.chunks[i].stream, OUTPUT_INPUT);
    history_log_release(&log);
    assert_null(log.input);
}

/* The input lies beside the output, and is none of it. */
void test_output_input(void **state)
{
    struct history_world *world = *state;
    struct run plain = sample_run(1, 1), silent = sample_run(1, 2), loud = sample_run(1, 3);
    const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, "output", 6};
    char *large = malloc(200001);
    assert_non_null(large);
    memset(large, 'x', 200000);
    large[200000] = '\0';
    struct history_record records[] = {
        {.run = &plain},
        {.run = &silent, .input = "{\"a\":\"1\"}", .input_length = 9},
        {.run = &loud, .input = large, .input_length = 200000, .chunks = &chunk, .chunk_count = 1},
    };
    assert_int_equal(world_append(world, records, 3), OK);
    assert_input(world, &plain.id, NULL);
    assert_input(world, &silent.id, "{\"a\":\"1\"}");
    assert_input(world, &loud.id, large);
    assert_range(world, &silent.id, 0, 100, "", 0);
    assert_range(world, &loud.id, 0, 100, "output", 6);
    assert_range(world, &loud.id, 3, 100, "put", 3);
    struct history_log log = {.run_id = loud.id, .limit = 4096};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.kept_bytes, 6);
    assert_null(log.input); /* not asked for */
    history_log_release(&log);

    /* Later records of the run: without output, with it, without the input. */
    struct history_record again[] = {
        {.run = &loud, .input = large, .input_length = 200000},
        {.run = &silent, .chunks = &chunk, .chunk_count = 1},
    };
    assert_int_equal(world_append(world, again, 2), OK);
    assert_range(world, &loud.id, 0, 100, "output", 6);
    assert_input(world, &loud.id, large);
    assert_range(world, &silent.id, 0, 100, "output", 6);
    assert_input(world, &silent.id, "{\"a\":\"1\"}");
    free(large);
}

void test_output_binary(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    char bytes[512];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)i;
    const struct output_chunk chunks[] = {
        {OUTPUT_STDOUT, SAMPLE_MS, 0, bytes, 256},
        {OUTPUT_STDERR, SAMPLE_MS, 0, bytes + 256, 255},
        {OUTPUT_STDOUT, SAMPLE_MS + 5000, 0, bytes + 511, 1},
    };
    append_output(world, &run, chunks, 3);
    assert_range(world, &run.id, 0, 4096, bytes, sizeof(bytes));

    /* Streams, and reads more than a second apart, are never mixed. */
    struct history_log log = {.run_id = run.id, .limit = 4096};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.kept_bytes, sizeof(bytes));
    assert_int_equal(log.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(log.chunks[i].stream, chunks[i].stream);
        assert_int_equal(log.chunks[i].at_ms, chunks[i].at_ms);
        assert_int_equal(log.chunks[i].length, chunks[i].length);
    }
    history_log_release(&log);

    struct id unknown = sample_id(SAMPLE_MS, 9);
    log = (struct history_log){.run_id = unknown, .limit = 10, .found = true};
    assert_int_equal(world_log(world, &log), OK);
    assert_false(log.found);
    assert_int_equal(log.count, 0);
    history_log_release(&log);
}

void test_output_ranges(void **state)
{
    static const struct {
        int line;
        int64_t offset;
        size_t limit;
    } ranges[] = {
        {__LINE__, 0, LARGE},       {__LINE__, 0, SIZE_MAX},
        {__LINE__, 0, 1},           {__LINE__, 65535, 2},
        {__LINE__, 65536, 65536},   {__LINE__, 1000001, 99999},
        {__LINE__, LARGE - 1, 100}, {__LINE__, LARGE, 100},
        {__LINE__, LARGE + 1, 100}, {__LINE__, INT64_MAX, SIZE_MAX},
    };
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    char *bytes = malloc(LARGE);
    assert_non_null(bytes);
    uint32_t random = 1;
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (char)((random = random * 1664525 + 1013904223) >> 24);

    /* Small chunks that are put together, then one that is cut. */
    static struct output_chunk chunks[1025];
    for (size_t i = 0; i < 1024; i++)
        chunks[i] =
            (struct output_chunk){OUTPUT_STDOUT, SAMPLE_MS + (int64_t)i, 0, bytes + i * 1000, 1000};
    chunks[1024] = (struct output_chunk){OUTPUT_STDERR, SAMPLE_MS + 2000, 0, bytes + 1024 * 1000,
                                         LARGE - 1024 * 1000};
    append_output(world, &run, chunks, 1025);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        int64_t offset = ranges[i].offset < LARGE ? ranges[i].offset : LARGE;
        size_t left = (size_t)(LARGE - offset);
        assert_range(world, &run.id, ranges[i].offset, ranges[i].limit, bytes + offset,
                     left < ranges[i].limit ? left : ranges[i].limit);
    }
    struct history_log log = {.run_id = run.id, .offset = -1, .limit = 1};
    assert_int_equal(world_log(world, &log), E_INVALID);
    free(bytes);
}

/* Each gap is told once, whichever way the output is read in pages. */
void test_output_gaps(void **state)
{
    static const struct output_chunk chunks[] = {
        {OUTPUT_STDOUT, SAMPLE_MS, 5, "abc", 3},
        {OUTPUT_STDOUT, SAMPLE_MS, 7, "defg", 4},
        {OUTPUT_STDERR, SAMPLE_MS, 11, "", 0},
    };
    struct history_world *world = *state;
    struct run run = sample_run(1, 1), only_gap = sample_run(1, 2);
    append_output(world, &run, chunks, 3);
    for (size_t limit = 1; limit < 10; limit++) {
        int64_t gaps = 0, offset = 0;
        do {
            struct history_log log = {.run_id = run.id, .offset = offset, .limit = limit};
            assert_int_equal(world_log(world, &log), OK);
            assert_int_equal(log.kept_bytes, 7);
            for (size_t i = 0; i < log.count; i++) {
                gaps += log.chunks[i].gap_bytes;
                offset += (int64_t)log.chunks[i].length;
            }
            history_log_release(&log);
        } while (offset < 7);
        assert_int_equal(gaps, 23);
    }
    assert_range(world, &run.id, 7, 10, "", 0);

    append_output(world, &only_gap, &chunks[2], 1);
    struct history_log log = {.run_id = only_gap.id, .limit = 1};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.count, 1);
    assert_int_equal(log.chunks[0].gap_bytes, 11);
    history_log_release(&log);
}

void test_output_amended(void **state)
{
    static const struct output_chunk first = {OUTPUT_STDOUT, SAMPLE_MS, 0, "first words", 11};
    static const struct output_chunk second = {OUTPUT_STDOUT, SAMPLE_MS, 0, "second", 6};
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    append_output(world, &run, &first, 1);
    append_output(world, &run, &second, 1);
    assert_range(world, &run.id, 0, 100, "second", 6);
    append_output(world, &run, NULL, 0); /* none: what is there stays */
    assert_range(world, &run.id, 0, 100, "second", 6);
    run.state = RUN_LOST; /* nothing of it counts */
    append_output(world, &run, &first, 1);
    assert_range(world, &run.id, 0, 100, "second", 6);
    assert_int_equal(world_prune(world, NULL, 0, run.finished_ms + 1), 1);
    assert_false(world_has_run(world, &run.id, NULL));
    run.state = RUN_OK;
    append_output(world, &run, NULL, 0); /* the output went with the run */
    assert_range(world, &run.id, 0, 100, "", 0);
}
