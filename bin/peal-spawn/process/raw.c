/* The only assembly. raw_clone needs it: a process on a new stack can't return from a C function
 * (its return address is on the old stack), so it continues in these few instructions and calls its
 * main function from there. */
#include "process/raw.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

long raw_call(long number, long a, long b, long c, long d)
{
    register long fourth __asm__("r10") = d;
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

long raw_clone(const struct clone_args *args, raw_main *main, const void *argument)
{
    long result = SYS_clone3;
    register raw_main *entry __asm__("r12") = main;
    register const void *first __asm__("r13") = argument;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t" /* the end for whoever walks the stack */
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "+a"(result)
                     : "D"(args), "S"(sizeof(*args)), "r"(entry), "r"(first)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

#elif defined(__aarch64__)

long raw_call(long number, long a, long b, long c, long d)
{
    register long call __asm__("x8") = number;
    register long result __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    __asm__ volatile("svc #0"
                     : "+r"(result)
                     : "r"(call), "r"(second), "r"(third), "r"(fourth)
                     : "memory", "cc");
    return result;
}

long raw_clone(const struct clone_args *args, raw_main *main, const void *argument)
{
    register long call __asm__("x8") = SYS_clone3;
    register long result __asm__("x0") = (long)args;
    register long size __asm__("x1") = sizeof(*args);
    register raw_main *entry __asm__("x19") = main;
    register const void *first __asm__("x20") = argument;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, #0\n\t" /* the end for whoever walks the stack */
                     "mov x0, x20\n\t"
                     "blr x19\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(result)
                     : "r"(call), "r"(size), "r"(entry), "r"(first)
                     : "memory", "cc");
    return result;
}

#else

/* Without raw_clone no memory is shared, so errno is not shared either. */
long raw_call(long number, long a, long b, long c, long d)
{
    long result = syscall(number, a, b, c, d);
    return result < 0 ? -errno : result;
}

long raw_clone(const struct clone_args *args, raw_main *main, const void *argument)
{
    (void)args, (void)main, (void)argument;
    return -ENOSYS;
}

#endif
