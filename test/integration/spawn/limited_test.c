/* Cgroups of runs with limits: where they may be, and what is written to their files. A folder with
 * the files of a cgroup stands for the hierarchy; what the kernel does with them is in
 * test/integration/limits_test.sh, where there are controllers. */
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

#include "process/limited.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define ALL         "cpuset cpu io memory hugetlb pids rdma misc\n"
#define M           (1u << LIMITED_MEMORY)
#define C           (1u << LIMITED_CPU)
#define P           (1u << LIMITED_PIDS)
#define I           (1u << LIMITED_IO)

struct folder {
    char path[96];
};

static void put(const struct folder *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make(const struct folder *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void expect_text(const struct folder *folder, const char *name, const char *want)
{
    char path[256], text[64] = "";
    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    FILE *file = fopen(path, "re");
    if (!file)
        fail_msg("there is no %s", name);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    if (strcmp(text, want) != 0)
        fail_msg("%s: %s", name, text);
}

static int set_up(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));
    assert_non_null(folder);
    snprintf(folder->path, sizeof(folder->path), "/tmp/limited.XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    *state = folder;
    return 0;
}

static int tear_down(void **state)
{
    struct folder *folder = *state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder->path);
    int failed = system(command); /* NOLINT(cert-env33-c): a path of mkdtemp */
    free(folder);
    return failed;
}

/* A cgroup that is `name` below the mount; "": its root. */
static void make_cgroup(const struct folder *folder, const char *name, const char *procs,
                        bool has_type)
{
    char file[128];
    if (*name)
        make(folder, name);
    snprintf(file, sizeof(file), "%s/cgroup.controllers", name);
    put(folder, file, ALL);
    snprintf(file, sizeof(file), "%s/cgroup.subtree_control", name);
    put(folder, file, "");
    snprintf(file, sizeof(file), "%s/cgroup.procs", name);
    put(folder, file, procs);
    snprintf(file, sizeof(file), "%s/cgroup.type", name);
    if (has_type)
        put(folder, file, "domain\n");
}

static void what_can_be_enforced(void **state)
{
    static const struct {
        int line;
        const char *own, *name, *procs; /* the cgroup `name` is made, with these processes */
        bool has_type, is_given;
        unsigned want;
        const char *parent; /* below the mount */
    } cases[] = {
        /* the root of the machine, which may have processes; that of a container, from which they
         * can be moved */
        {__LINE__, "/", "", "1\n2\n", false, false, M | C | P | I, ""},
        {__LINE__, "/", "", "1\n2\n", true, false, M | C | P | I, ""},
        {__LINE__, "/agent", "", "", true, false, M | C | P | I, ""},
        /* a service with a subgroup, and one without: that can't be divided */
        {__LINE__, "/peal.service/agent", "peal.service", "", true, false, M | C | P | I,
         "/peal.service"},
        {__LINE__, "/peal.service", "peal.service", "1\n", true, false, 0, "/peal.service"},
        {__LINE__, "/reagent", "reagent", "1\n", true, false, 0, "/reagent"},
        /* a cgroup that PEAL_CGROUP names */
        {__LINE__, "/peal.service", "runs", "17\n", true, true, M | C | P | I, "/runs"},
        {__LINE__, "/session", "none", "", true, false, 0, "/session"},
    };
    struct folder *root = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct folder mount;
        struct limited limited;
        char given[128], parent[128];
        snprintf(mount.path, sizeof(mount.path), "%.64s/%zu", root->path, i);
        assert_int_equal(mkdir(mount.path, 0755), 0);
        make_cgroup(&mount, cases[i].name, cases[i].procs, cases[i].has_type);
        snprintf(given, sizeof(given), "%s/%s", mount.path, cases[i].name);
        snprintf(parent, sizeof(parent), "%s%s", mount.path, cases[i].parent);
        limited_init(&limited, "tag", mount.path, cases[i].own, cases[i].is_given ? given : NULL);
        if (limited.can != cases[i].want)
            fail_msg("line %d: %x", cases[i].line, limited.can);
        if (strcmp(limited.parent, parent) != 0)
            fail_msg("line %d: %s", cases[i].line, limited.parent);
        if (!*cases[i].name) /* nothing is changed by a look */
            expect_text(&mount, "cgroup.subtree_control", "");
        limited_release(&limited);
    }
    struct limited none;
    limited_init(&none, "tag", NULL, NULL, NULL); /* no cgroup2 */
    assert_int_equal(none.can, 0);
    limited_init(&none, "tag", "/nowhere", "/", "relative");
    assert_int_equal(none.can, 0);
}

/* As the kernel would have made them. */
static void make_run(const struct folder *folder, const char *id, bool has_bfq)
{
    static const char *const files[] = {"memory.max", "memory.swap.max", "memory.oom.group",
                                        "cpu.max", "pids.max"};
    char name[128];
    snprintf(name, sizeof(name), "peal-tag.limits/%s", id);
    make(folder, name);
    for (size_t i = 0; i < ROWS(files); i++) {
        snprintf(name, sizeof(name), "peal-tag.limits/%s/%s", id, files[i]);
        put(folder, name, "");
    }
    snprintf(name, sizeof(name), "peal-tag.limits/%s/%s", id,
             has_bfq ? "io.bfq.weight" : "io.weight");
    put(folder, name, "");
}

static void limits_are_written(void **state)
{
    struct folder *folder = *state;
    struct limited limited;
    const struct spawn_share all = {
        .memory_bytes = 1 << 20, .cpu_milli = 1500, .processes = 7, .io_weight = 5000};
    const struct spawn_share little = {.cpu_milli = 1, .io_weight = 5000};
    int fd = -1;
    make_cgroup(folder, "", "1\n", false);
    limited_init(&limited, "tag", folder->path, "/", NULL);
    make(folder, "peal-tag.limits");
    put(folder, "peal-tag.limits/cgroup.subtree_control", "");
    make_run(folder, "one", false);
    assert_int_equal(limited_make(&limited, "one", &all, &fd), 0);
    close(fd);
    expect_text(folder, "cgroup.subtree_control", "+io"); /* the last of those that were enabled */
    expect_text(folder, "peal-tag.limits/cgroup.subtree_control", "+io");
    expect_text(folder, "peal-tag.limits/one/memory.max", "1048576");
    expect_text(folder, "peal-tag.limits/one/memory.swap.max", "0");
    expect_text(folder, "peal-tag.limits/one/memory.oom.group", "1");
    expect_text(folder, "peal-tag.limits/one/cpu.max", "150000 100000");
    expect_text(folder, "peal-tag.limits/one/pids.max", "7");
    expect_text(folder, "peal-tag.limits/one/io.weight", "default 5000");

    make_run(folder, "two", true);
    assert_int_equal(limited_make(&limited, "two", &little, &fd), 0);
    close(fd);
    expect_text(folder, "peal-tag.limits/two/cpu.max", "1000 100000"); /* the kernel's least */
    expect_text(folder, "peal-tag.limits/two/io.bfq.weight", "1000");
    expect_text(folder, "peal-tag.limits/two/memory.max", ""); /* not limited */
    limited_release(&limited);
}

/* A run must not start with a part of its limits. */
static void what_can_not_be_written_fails(void **state)
{
    struct folder *folder = *state;
    struct limited limited;
    const struct spawn_share share = {.memory_bytes = 1 << 20};
    int fd = -1;
    make_cgroup(folder, "", "1\n", false);
    limited_init(&limited, "tag", folder->path, "/", NULL);
    make(folder, "peal-tag.limits");
    put(folder, "peal-tag.limits/cgroup.subtree_control", "");
    assert_int_not_equal(limited_make(&limited, "one", &share, &fd), 0);
    assert_int_equal(fd, -1);
    limited_release(&limited);

    limited_init(&limited, "tag", NULL, NULL, "/nowhere/at/all");
    assert_int_not_equal(limited_make(&limited, "one", &share, &fd), 0);
    assert_int_equal(fd, -1);
}

static void what_the_kernel_tells_is_read(void **state)
{
    static const struct {
        int line;
        const char *memory, *pids;
        enum spawn_cause want;
    } cases[] = {
        {__LINE__, "low 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n", "max 0\n",
         SPAWN_CAUSE_NONE},
        {__LINE__, "low 0\nmax 9\noom 1\noom_kill 2\noom_group_kill 1\n", "max 3\n",
         SPAWN_CAUSE_TOTAL_MEMORY},
        {__LINE__, "low 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n", "max 0\n",
         SPAWN_CAUSE_OOM}, /* of the whole machine */
        {__LINE__, "low 0\nmax 9\noom 0\noom_kill 0\n", "max 3\n", SPAWN_CAUSE_TOTAL_PROCESSES},
        {__LINE__, "", "", SPAWN_CAUSE_NONE},
    };
    struct folder *folder = *state;
    struct limited limited;
    make_cgroup(folder, "", "1\n", false);
    make(folder, "peal-tag.limits");
    limited_init(&limited, "tag", folder->path, "/", NULL);
    make(folder, "peal-tag.limits/one");
    for (size_t i = 0; i < ROWS(cases); i++) {
        put(folder, "peal-tag.limits/one/memory.events", cases[i].memory);
        put(folder, "peal-tag.limits/one/pids.events", cases[i].pids);
        enum spawn_cause cause = limited_cause(&limited, "one");
        if (cause != cases[i].want)
            fail_msg("line %d: %d", cases[i].line, (int)cause);
    }
    struct spawn_run run = {.user_ms = 1, .system_ms = 2, .max_rss_kib = 3};
    limited_usage(&limited, "one", &run); /* nothing is told */
    assert_int_equal(run.user_ms, 1);
    assert_int_equal(run.max_rss_kib, 3);
    put(folder, "peal-tag.limits/one/memory.peak", "10485760\n");
    put(folder, "peal-tag.limits/one/cpu.stat",
        "usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n");
    limited_usage(&limited, "one", &run);
    assert_int_equal(run.user_ms, 2000);
    assert_int_equal(run.system_ms, 1000);
    assert_int_equal(run.max_rss_kib, 10240);
    limited_release(&limited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_can_be_enforced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_are_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_can_not_be_written_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_the_kernel_tells_is_read, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
