/* Records of the kernel's log: only its own word counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "process/cause.h"

static void only_the_kernel_is_believed(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *record;
        int pid; /* 0: no such message */
        int64_t at_ms;
    } cases[] = {
        {__LINE__, "3,1021,5678901,-;Out of memory: Killed process 42 (python3) total-vm:1kB", 42,
         5678},
        {__LINE__,
         "3,1,1000,-;Memory cgroup out of memory: Killed process 7160 (tail) total-vm:1kB", 7160,
         1},
        {__LINE__, "3,1,1000,c;Out of memory: Killed process 9 (a b) total-vm\n SUBSYSTEM=x\n", 9,
         1},
        /* written by a process: facility 1 */
        {__LINE__, "12,1,1000,-;Out of memory: Killed process 42 (python3) total-vm:1kB", 0, 0},
        /* in the name of a process */
        {__LINE__, "6,1,1000,-;process out of memory: Killed process 42 (x", 0, 0},
        {__LINE__, "6,1,1000,-;traps: Out of memory: Killed process 42 (x) trap", 0, 0},
        {__LINE__, "3,1,1000,-;Out of memory: Killed process x", 0, 0},
        {__LINE__, "3,1,1000,-;Out of memory: Killed process 42", 0, 0},
        {__LINE__, "3,1,1000,-;Out of memory: Killed process -1 (x)", 0, 0},
        {__LINE__, "3,1,1000", 0, 0},
        {__LINE__, "3;Out of memory: Killed process 42 (x)", 0, 0},
        {__LINE__, "", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct oom_kill kill = {0};
        bool found = cause_read_record(cases[i].record, &kill);
        if (found != (cases[i].pid != 0) || kill.pid != cases[i].pid ||
            kill.at_boot_ms != cases[i].at_ms)
            fail_msg("line %d: pid %d at %lld", cases[i].line, (int)kill.pid,
                     (long long)kill.at_boot_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_kernel_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
