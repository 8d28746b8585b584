/* Packs, as an agent sees them: found, read, taken and removed, through damage and over restarts.
 * They are made by hand. */
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

#include "pack/spawn_packs.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static char base[] = "/tmp/peal-packs-test-XXXXXX";
static char folder[64];

static void pack_path(uint64_t number, char *path, size_t size)
{
    char name[SPAWN_PACK_NAME];
    spawn_pack_name(number, name);
    snprintf(path, size, "%s/out/pack/%s", folder, name);
}

static void make_folder(void)
{
    static int count;
    char path[128];
    snprintf(folder, sizeof(folder), "%s/%d", base, count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof(path), "%s/out", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/out/pack", folder);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* Appends an entry, but for its last `cut` bytes. */
static void append(uint64_t number, const char *id, const char *text, size_t cut)
{
    char path[128], bytes[sizeof(struct spawn_pack_entry) + SPAWN_PACK_BYTES];
    struct spawn_pack_entry entry;
    size_t length = strlen(text);
    spawn_pack_fill(&entry, id, text, length, 1000);
    memcpy(bytes, &entry, sizeof(entry));
    memcpy(bytes + sizeof(entry), text, length);
    pack_path(number, path, sizeof(path));
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    ssize_t want = (ssize_t)(sizeof(entry) + length - cut);
    assert_int_equal(write(fd, bytes, (size_t)want), want);
    close(fd);
}

/* Replaces a byte of the pack. */
static void damage(uint64_t number, off_t at, char byte)
{
    char path[128];
    pack_path(number, path, sizeof(path));
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0 && pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static bool has_pack(uint64_t number)
{
    char path[128];
    pack_path(number, path, sizeof(path));
    return access(path, F_OK) == 0;
}

/* NULL: it is to be in no pack. */
static void expect(struct spawn_packs *packs, const char *id, const char *text)
{
    struct spawn_pack_entry entry;
    char bytes[SPAWN_PACK_BYTES];
    bool is_there = spawn_packs_read(packs, id, &entry, bytes);
    assert_int_equal(is_there, text != NULL);
    assert_int_equal(spawn_packs_know(packs, id), text != NULL);
    if (!text)
        return;
    assert_string_equal(entry.id, id);
    assert_int_equal(entry.length, strlen(text));
    assert_memory_equal(bytes, text, entry.length);
    assert_int_equal(entry.wall_ms, 1000);
}

static void what_is_appended_is_found(void **state)
{
    (void)state;
    make_folder();
    struct spawn_packs *packs = spawn_packs_new(folder);
    expect(packs, "a", NULL);
    append(1, "a", "first", 0);
    append(1, "b", "second", 0);
    expect(packs, "b", "second");
    expect(packs, "a", "first");
    append(1, "c", "third", 0);
    append(2, "d", "fourth", 0);
    expect(packs, "d", "fourth");
    expect(packs, "c", "third");
    expect(packs, "e", NULL);
    spawn_packs_free(packs);
}

/* A pack goes with its last output, unless it may be appended to. */
static void what_is_taken_is_removed(void **state)
{
    (void)state;
    make_folder();
    append(1, "a", "first", 0);
    append(1, "b", "second", 0);
    struct spawn_packs *packs = spawn_packs_new(folder);
    spawn_packs_take(packs, "a");
    spawn_packs_take(packs, "b");
    spawn_packs_take(packs, "unknown");
    expect(packs, "a", NULL);
    assert_true(has_pack(1));
    append(1, "c", "third", 0);
    append(2, "d", "fourth", 0);
    append(3, "e", "fifth", 0);
    expect(packs, "e", "fifth");
    assert_true(has_pack(1));
    spawn_packs_take(packs, "c");
    assert_false(has_pack(1));
    spawn_packs_take(packs, "d");
    spawn_packs_take(packs, "e");
    assert_false(has_pack(2));
    assert_true(has_pack(3));
    spawn_packs_free(packs);
}

/* The next agent sees what the one before it has not taken, also behind packs that are gone. */
static void the_next_agent_goes_on(void **state)
{
    (void)state;
    make_folder();
    append(1, "a", "first", 0);
    append(1, "b", "second", 0);
    append(2, "c", "third", 0);
    append(3, "d", "fourth", 0);
    struct spawn_packs *packs = spawn_packs_new(folder);
    spawn_packs_take(packs, "a");
    spawn_packs_take(packs, "c");
    assert_false(has_pack(2));
    spawn_packs_free(packs);

    packs = spawn_packs_new(folder);
    expect(packs, "a", NULL);
    expect(packs, "b", "second");
    expect(packs, "d", "fourth");
    append(4, "e", "fifth", 0);
    expect(packs, "e", "fifth");
    spawn_packs_free(packs);
}

static void nothing_is_shown_of_what_is_damaged(void **state)
{
    static const struct {
        int line;
        off_t at; /* the byte that is replaced ... */
        char byte;
    } rows[] = {
        {__LINE__, 0, 'x'},  /* the magic */
        {__LINE__, 4, 'x'},  /* the length */
        {__LINE__, 8, 'b'},  /* the id becomes another one's */
        {__LINE__, 8, '/'},  /* ... or none at all */
        {__LINE__, 72, 'x'}, /* the output */
    };
    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++) {
        make_folder();
        append(1, "a", "first", 0);
        append(2, "c", "third", 0);
        damage(1, rows[i].at, rows[i].byte);
        struct spawn_packs *packs = spawn_packs_new(folder);
        expect(packs, "a", NULL);
        expect(packs, "b", NULL);
        expect(packs, "c", "third");
        spawn_packs_free(packs);
    }
}

/* An entry that is cut is still being written, or the last one of a peal-call that was killed. */
static void a_cut_entry_waits(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < sizeof(struct spawn_pack_entry) + 5; cut += 7) {
        make_folder();
        append(1, "a", "first", 0);
        append(1, "b", "other", cut);
        struct spawn_packs *packs = spawn_packs_new(folder);
        expect(packs, "a", "first");
        expect(packs, "b", NULL);
        append(2, "b", "again", 0);
        expect(packs, "b", "again");
        spawn_packs_free(packs);
    }
}

/* peal-call has put it into a file of its own meanwhile. */
static void what_is_taken_back_is_not_shown(void **state)
{
    char path[128];
    (void)state;
    make_folder();
    append(1, "a", "first", 0);
    struct spawn_packs *packs = spawn_packs_new(folder);
    expect(packs, "a", "first");
    pack_path(1, path, sizeof(path));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(spawn_pack_take(fd, 0));
    close(fd);
    expect(packs, "a", NULL);
    spawn_packs_free(packs);
}

/* The folder was put aside, for peal-call is another user now. */
static void another_folder_begins_anew(void **state)
{
    char path[128], aside[160];
    (void)state;
    make_folder();
    append(7, "a", "first", 0);
    struct spawn_packs *packs = spawn_packs_new(folder);
    expect(packs, "a", "first");
    snprintf(path, sizeof(path), "%s/out/pack", folder);
    snprintf(aside, sizeof(aside), "%s.aside", path);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    append(1, "b", "second", 0);
    expect(packs, "b", "second");
    expect(packs, "a", NULL);
    spawn_packs_free(packs);
}

static int make_base(void **state)
{
    (void)state;
    return mkdtemp(base) ? 0 : -1;
}

static int remove_base(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", base);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_is_found),
        cmocka_unit_test(what_is_taken_is_removed),
        cmocka_unit_test(the_next_agent_goes_on),
        cmocka_unit_test(nothing_is_shown_of_what_is_damaged),
        cmocka_unit_test(a_cut_entry_waits),
        cmocka_unit_test(what_is_taken_back_is_not_shown),
        cmocka_unit_test(another_folder_begins_anew),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
