/* Forks while other threads use the node of the process: the child finds no lock held. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "peal.h"

enum { FORKS = 20 };

static int nothing(peal_run *run, void *arg)
{
    (void)run;
    (void)arg;
    return 0;
}

static void *register_on_and_on(void *is_over)
{
    while (!atomic_load((atomic_bool *)is_over)) {
        peal_every("busy", "@daily", nothing);
        peal_remove(NULL, "busy");
    }
    return NULL;
}

static void a_child_finds_no_lock_held(void **state)
{
    (void)state;
    atomic_bool is_over = false;
    pthread_t thread;
    setenv("PEAL_DATA", "/nonexistent", 1); /* nothing is opened */
    assert_int_equal(pthread_create(&thread, NULL, register_on_and_on, &is_over), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60); /* ends a child that waits for ever */
            /* Without memory of its own: a sanitizer's allocator has no handler of forks. */
            _exit(peal_remove(NULL, "of-child") == PEAL_E_NOT_FOUND ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    is_over = true;
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_child_finds_no_lock_held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
