/* What wakes the worker of a shared store, and what does not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shared/store_shared.h"

enum act { ACT_READ, ACT_WRITE, ACT_REMOVE };

static const struct {
    const char *name;
    enum act act;
    struct bell_news heard;
} cases[] = {
    {"bell", ACT_WRITE, {.has_commit = true}},
    {"bell", ACT_READ, {.has_commit = false}},
    {"beats", ACT_WRITE, {.has_beat = true}},
    {"seat-1", ACT_READ, {.has_beat = false}},
    {"seat-1", ACT_WRITE, {.has_beat = true}}, /* its end; a heartbeat rings */
    {"lock-1", ACT_REMOVE, {.has_beat = true}},
    /* Each look at the nodes opens it for writing: what is heard there would be looked at for ever.
     */
    {"leader", ACT_WRITE, {.has_beat = false}},
    {"leader", ACT_READ, {.has_beat = false}},
};

static void act_on(const char *folder, const char *name, enum act act)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, (act == ACT_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    assert_true(fd >= 0);
    if (act == ACT_WRITE)
        assert_int_equal(pwrite(fd, "x", 1, 0), 1);
    close(fd);
    if (act == ACT_REMOVE)
        unlink(path);
}

static void it_hears_what_others_do(void **state)
{
    static const char *const names[] = {"bell", "beats", "seat-1", "lock-1", "leader"};
    struct bell bell = {-1, -1, -1, -1};
    char folder[] = "/tmp/peal-bell-XXXXXX", path[128];
    struct strbuf why;
    (void)state;
    strbuf_init(&why);
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
    assert_int_equal(bell_open(&bell, folder, &why), OK);
    if (bell.watch_fd < 0)
        skip(); /* the system's limit of watches is reached */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        act_on(folder, cases[i].name, cases[i].act);
        struct bell_news news = bell_wait(&bell, 0);
        if (news.has_commit != cases[i].heard.has_commit ||
            news.has_beat != cases[i].heard.has_beat)
            fail_msg("case %zu (%s): commit %d, beat %d", i, cases[i].name, news.has_commit,
                     news.has_beat);
    }
    bell_close(&bell);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    strbuf_release(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_hears_what_others_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
