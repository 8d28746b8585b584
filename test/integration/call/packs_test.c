/* What peal-call writes to packs, and what it does when it can't. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pack/spawn_packs.h"
#include "packs.h"

static char base[] = "/tmp/peal-call-packs-XXXXXX";
static char folder[64];
static int output_fd = -1;

static int make_folder(void **state)
{
    static int count;
    char path[80];
    (void)state;
    snprintf(folder, sizeof(folder), "%s/%d", base, count++);
    snprintf(path, sizeof(path), "%s/out", folder);
    if (mkdir(folder, 0700) != 0 || mkdir(path, 0700) != 0)
        return -1;
    output_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return output_fd >= 0 ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    return close(output_fd);
}

static void add(struct packs *packs, const char *id, const char *text)
{
    assert_true(packs_add(packs, id, text, strlen(text), 1000));
}

/* As the next agent sees it; NULL: it is in no pack. */
static void expect(const char *id, const char *text)
{
    struct spawn_packs *packs = spawn_packs_new(folder);
    struct spawn_pack_entry entry;
    char bytes[SPAWN_PACK_BYTES];
    bool is_there = spawn_packs_read(packs, id, &entry, bytes);
    assert_int_equal(is_there, text != NULL);
    if (text) {
        assert_int_equal(entry.length, strlen(text));
        assert_memory_equal(bytes, text, entry.length);
    }
    spawn_packs_free(packs);
}

static void entries_are_written_together(void **state)
{
    struct packs packs;
    char long_text[SPAWN_PACK_BYTES + 2];
    (void)state;
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    packs_open(&packs, output_fd);
    assert_int_equal(packs_write(&packs), OK);
    add(&packs, "a", "first");
    add(&packs, "b", "second");
    assert_false(packs_add(&packs, "long", long_text, strlen(long_text), 1000));
    add(&packs, "full", long_text + 1);
    expect("a", NULL);
    assert_int_equal(packs_write(&packs), OK);
    expect("a", "first");
    expect("b", "second");
    expect("full", long_text + 1);
    expect("long", NULL);
    packs_close(&packs);
}

/* A pack that is full is followed by the next one, and so is that of a process before. */
static void packs_follow_each_other(void **state)
{
    struct packs packs;
    char text[SPAWN_PACK_BYTES], id[SPAWN_ID_MAX];
    (void)state;
    memset(text, 'x', sizeof(text));
    packs_open(&packs, output_fd);
    for (int i = 0; i < 3 * SPAWN_PACK_MAX / SPAWN_PACK_BYTES / 2; i++) {
        snprintf(id, sizeof(id), "run-%d", i);
        assert_true(packs_add(&packs, id, text, sizeof(text), 1000));
        assert_int_equal(packs_write(&packs), OK);
    }
    assert_int_equal(packs.number, 2);
    packs_close(&packs);
    packs_open(&packs, output_fd);
    add(&packs, "last", "of another process");
    assert_int_equal(packs_write(&packs), OK);
    assert_int_equal(packs.number, 3);
    expect("last", "of another process");
    packs_close(&packs);
}

static void limit_files_to(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Nothing of it is in the pack then, and what follows is. */
static void what_does_not_fit_leaves_nothing(void **state)
{
    struct packs packs;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    packs_open(&packs, output_fd);
    add(&packs, "a", "first");
    assert_int_equal(packs_write(&packs), OK);
    for (rlim_t more = 0; more < 2 * sizeof(struct spawn_pack_entry); more += 30) {
        limit_files_to(packs.size + more);
        add(&packs, "b", "lost");
        add(&packs, "c", "lost");
        assert_int_equal(packs_write(&packs), E_IO);
        limit_files_to(RLIM_INFINITY);
        expect("b", NULL);
    }
    add(&packs, "d", "fourth");
    assert_int_equal(packs_write(&packs), OK);
    expect("a", "first");
    expect("b", NULL);
    expect("c", NULL);
    expect("d", "fourth");
    packs_close(&packs);
}

static bool takes_b(void *user, const struct spawn_pack_entry *entry, const char *bytes)
{
    int *count = user;
    assert_int_equal(entry->length, 5);
    assert_int_equal(bytes[0], entry->id[0]);
    ++*count;
    return strcmp(entry->id, "b") == 0;
}

static void what_is_taken_back_is_taken(void **state)
{
    struct packs packs;
    int count = 0;
    (void)state;
    packs_open(&packs, output_fd);
    add(&packs, "a", "a tex");
    add(&packs, "b", "b tex");
    assert_int_equal(packs_write(&packs), OK);
    packs_close(&packs);
    packs_open(&packs, output_fd);
    packs_walk(&packs, takes_b, &count);
    assert_int_equal(count, 2);
    packs_walk(&packs, takes_b, &count);
    assert_int_equal(count, 3);
    expect("a", "a tex");
    expect("b", NULL);
    packs_close(&packs);
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
        cmocka_unit_test_setup_teardown(entries_are_written_together, make_folder, close_folder),
        cmocka_unit_test_setup_teardown(packs_follow_each_other, make_folder, close_folder),
        cmocka_unit_test_setup_teardown(what_does_not_fit_leaves_nothing, make_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(what_is_taken_back_is_taken, make_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
