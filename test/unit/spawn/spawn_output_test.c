/* Reading output files: in order, across gaps, and through damage. The files are made by hand. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "spawn_output.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct piece {
    uint64_t position;
    const char *text; /* NULL: no more pieces */
};

static char folder[] = "/tmp/peal-output-test-XXXXXX";

static void write_file(const char *suffix, const struct piece *pieces, size_t cut)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/out/run%s", folder, suffix);
    unlink(path);
    if (!pieces[0].text)
        return;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    off_t size = 0;
    for (; pieces->text; pieces++) {
        struct spawn_record record = {
            .magic = SPAWN_RECORD_MAGIC,
            .stream = SPAWN_STDOUT,
            .length = (uint32_t)strlen(pieces->text),
            .position = pieces->position,
            .wall_ms = 1000,
        };
        assert_int_equal(write(fd, &record, sizeof(record)), sizeof(record));
        assert_int_equal(write(fd, pieces->text, record.length), record.length);
        size += (off_t)(sizeof(record) + record.length);
    }
    assert_int_equal(ftruncate(fd, size - (off_t)cut), 0);
    close(fd);
}

/* As "text" with "[n]" where n bytes are missing. */
static void read_all(uint64_t position, char *buf, size_t size)
{
    struct spawn_output *output;
    struct spawn_chunk chunk;
    size_t length = 0;
    buf[0] = '\0';
    assert_int_equal(spawn_output_open(folder, "run", position, &output), OK);
    for (enum status st; (st = spawn_output_next(output, &chunk)) != E_NOT_FOUND;) {
        if (st != OK) {
            length += (size_t)snprintf(buf + length, size - length, "!");
            continue;
        }
        if (chunk.gap_bytes)
            length += (size_t)snprintf(buf + length, size - length, "[%llu]",
                                       (unsigned long long)chunk.gap_bytes);
        length +=
            (size_t)snprintf(buf + length, size - length, "%.*s", (int)chunk.length, chunk.bytes);
    }
    spawn_output_free(output);
}

static void files_are_read_as_one(void **state)
{
    (void)state;
    static const struct {
        int line;
        struct piece head[4], first[4], second[4];
        size_t cut; /* bytes missing at the end of the head */
        uint64_t from;
        const char *want;
    } cases[] = {
        {__LINE__, {{0}}, {{0}}, {{0}}, 0, 0, ""},
        {__LINE__, {{0, "abc"}, {3, "de"}}, {{0}}, {{0}}, 0, 0, "abcde"},
        {__LINE__, {{0, "abc"}, {3, "de"}}, {{0}}, {{0}}, 0, 3, "de"},
        {__LINE__, {{0, "abc"}, {3, "de"}}, {{0}}, {{0}}, 0, 1, "bcde"},
        {__LINE__, {{0, "abc"}, {3, "de"}}, {{0}}, {{0}}, 0, 5, ""},
        {__LINE__, {{0, "abc"}}, {{3, "de"}}, {{5, "f"}}, 0, 0, "abcdef"},
        {__LINE__, {{0, "abc"}}, {{5, "f"}}, {{3, "de"}}, 0, 0, "abcdef"}, /* they take turns */
        {__LINE__, {{0, "abc"}}, {{103, "f"}}, {{93, "de"}}, 0, 0, "abc[90]de[8]f"},
        {__LINE__, {{0, "abc"}}, {{103, "f"}}, {{93, "de"}}, 0, 50, "[43]de[8]f"},
        {__LINE__, {{0}}, {{7, "f"}}, {{0}}, 0, 0, "[7]f"},
        {__LINE__, {{0, "a"}, {9, "b"}}, {{0}}, {{0}}, 0, 0, "a[8]b"},  /* a full disk */
        {__LINE__, {{0, "abc"}, {3, "de"}}, {{0}}, {{0}}, 1, 0, "abc"}, /* being written */
        {__LINE__, {{0, "abc"}, {3, "de"}}, {{0}}, {{0}}, 3, 0, "abc"},
        {__LINE__, {{0, "abc"}, {1, "de"}}, {{9, "z"}}, {{0}}, 0, 0, "abc![6]z"}, /* goes back */
        {__LINE__, {{0, "abc"}, {3, ""}}, {{9, "z"}}, {{0}}, 0, 0, "abc![6]z"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        char got[256];
        write_file("", cases[i].head, cases[i].cut);
        write_file(".0", cases[i].first, 0);
        write_file(".1", cases[i].second, 0);
        read_all(cases[i].from, got, sizeof(got));
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("line %d: got \"%s\"", cases[i].line, got);
    }
    spawn_output_remove(folder, "run");
    char got[16];
    read_all(0, got, sizeof(got));
    assert_string_equal(got, "");
}

static void ids_can_not_leave_the_folder(void **state)
{
    (void)state;
    struct spawn_output *output;
    assert_int_equal(spawn_output_open(folder, "../out/run", 0, &output), E_INVALID);
    assert_int_equal(spawn_output_open(folder, "", 0, &output), E_INVALID);
}

static int make_folder(void **state)
{
    (void)state;
    char path[64];
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/out", folder);
    return mkdir(path, 0700);
}

static int remove_folder(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof(path), "%s/out", folder);
    return rmdir(path) || rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_one),
        cmocka_unit_test(ids_can_not_leave_the_folder),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
