/* peal-call's sandbox: what is refused in it, and what is not. Each attempt is made by a process of
 * its own, without the sandbox first, where it must succeed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandbox.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static char base[] = "/tmp/peal-call-sandbox-XXXXXX";

/* Each: 0, or an errno. The current folder is peal-call's; beside it there is another one. */

static int try_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd >= 0 ? 0 : errno;
}

static int write_shadow(void)
{
    return try_open("/etc/shadow", O_WRONLY | O_APPEND);
}

static int write_beside(void)
{
    return try_open("../beside/file", O_WRONLY);
}

static int cut_beside(void)
{
    return truncate("../beside/file", 0) == 0 ? 0 : errno;
}

static int make_beside(void)
{
    return try_open("../beside/new", O_WRONLY | O_CREAT);
}

static int remove_beside(void)
{
    return unlink("../beside/doomed") == 0 ? 0 : errno;
}

static int read_beside(void)
{
    return try_open("../beside/file", O_RDONLY);
}

static int make_own(void)
{
    return try_open("new", O_RDWR | O_CREAT);
}

static int replace_own(void)
{
    return rename("other", "file") == 0 ? 0 : errno;
}

static int execute(void)
{
    static char *const words[] = {(char *)"true", NULL};
    execv("/bin/true", words);
    return errno;
}

static int open_socket(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 ? 0 : errno;
}

static int look_up_process(void)
{
    return syscall(434, getppid(), 0) >= 0 ? 0 : errno; /* pidfd_open */
}

static int make_namespace(void)
{
    return syscall(SYS_unshare, 0) == 0 ? 0 : errno;
}

enum part { FILES, CALLS, BOTH };

static bool enter(enum part part)
{
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (part == CALLS || sandbox_files(folder)) && (part == FILES || sandbox_calls());
}

static int wait_for(pid_t pid)
{
    int status;
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The errno of the attempt. */
static int attempt(int (*deed)(void), bool is_confined, enum part part)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(is_confined && !enter(part) ? 255 : deed());
    return wait_for(pid);
}

static bool can(enum part part)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(enter(part) ? 0 : 1);
    return wait_for(pid) == 0;
}

static void put(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void make_files(void)
{
    put("../beside/file");
    put("../beside/doomed");
    put("file");
    put("other");
    unlink("../beside/new");
    unlink("new");
}

static void what_is_not_needed_is_refused(void **state)
{
    static const struct {
        const char *name;
        int (*deed)(void);
        enum part part;
        int error; /* 0: allowed */
        bool needs_root;
    } rows[] = {
        {"write /etc/shadow", write_shadow, FILES, EACCES, true},
        {"write beside", write_beside, FILES, EACCES, false},
        {"cut beside", cut_beside, FILES, EACCES, false},
        {"make beside", make_beside, FILES, EACCES, false},
        {"remove beside", remove_beside, FILES, EACCES, false},
        {"execute, by its file", execute, FILES, EACCES, false},
        {"execute, by the call", execute, CALLS, EPERM, false},
        {"execute", execute, BOTH, EPERM, false},
        {"a process", look_up_process, CALLS, EPERM, false},
        {"a namespace", make_namespace, CALLS, EPERM, false},
        {"read beside", read_beside, BOTH, 0, false},
        {"make its own", make_own, BOTH, 0, false},
        {"replace its own", replace_own, BOTH, 0, false},
        {"a connection", open_socket, BOTH, 0, false},
    };
    bool has_files = can(FILES), has_calls = can(CALLS);
    (void)state;
    if (!has_files || !has_calls)
        print_message("this kernel: landlock %d, seccomp %d\n", has_files, has_calls);
    for (size_t i = 0; i < ROWS(rows); i++) {
        if ((rows[i].part != CALLS && !has_files) || (rows[i].part != FILES && !has_calls) ||
            (rows[i].needs_root && geteuid() != 0))
            continue;
        make_files();
        int free_end = attempt(rows[i].deed, false, rows[i].part);
        make_files();
        int end = attempt(rows[i].deed, true, rows[i].part);
        if (free_end != 0 || end != rows[i].error)
            fail_msg("%s: %d outside of the sandbox, %d in it", rows[i].name, free_end, end);
    }
}

static int make_base(void **state)
{
    char path[64];
    (void)state;
    if (!mkdtemp(base))
        return -1;
    snprintf(path, sizeof(path), "%s/beside", base);
    if (mkdir(path, 0700) != 0)
        return -1;
    snprintf(path, sizeof(path), "%s/own", base);
    return mkdir(path, 0700) == 0 && chdir(path) == 0 ? 0 : -1;
}

static int remove_base(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", base);
    return chdir("/") == 0 ? system(command) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_needed_is_refused)};
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
