/* The lock of a data folder: who has it, and who may have it next. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "data_dir.h"

enum { LARGE = 400 << 20 }; /* the kernel needs a while to give so much back */

struct folder {
    char path[64];
    struct strbuf why;
};

static int set_up(void **state)
{
    struct folder *folder = calloc(1, sizeof(*folder));
    snprintf(folder->path, sizeof(folder->path), "/tmp/data-dir-XXXXXX");
    strbuf_init(&folder->why);
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct folder *folder = *state;
    char command[100];
    snprintf(command, sizeof(command), "rm -r %s", folder->path);
    strbuf_release(&folder->why);
    int rc = system(command);
    free(folder);
    return rc;
}

/* A child that has the lock, and much memory. */
static pid_t start_owner(struct folder *folder)
{
    int ready[2], fd;
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *memory =
            mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED || data_dir_lock(folder->path, &fd, &folder->why) != OK)
            _exit(1);
        for (size_t at = 0; at < LARGE; at += 4096)
            memory[at] = 1;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void an_owner_that_lives_is_named(void **state)
{
    struct folder *folder = *state;
    char pid_text[32];
    int fd;
    pid_t owner = start_owner(folder);
    assert_int_equal(data_dir_lock(folder->path, &fd, &folder->why), E_BUSY);
    snprintf(pid_text, sizeof(pid_text), "(pid %d)", (int)owner);
    assert_non_null(strstr(folder->why.text, pid_text));
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
}

static void an_owner_that_was_killed_is_waited_for(void **state)
{
    struct folder *folder = *state;
    int fd = -1;
    pid_t owner = start_owner(folder);
    kill(owner, SIGKILL);
    assert_int_equal(data_dir_lock(folder->path, &fd, &folder->why), OK);
    data_dir_unlock(fd);
    waitpid(owner, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_owner_that_lives_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_owner_that_was_killed_is_waited_for, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
