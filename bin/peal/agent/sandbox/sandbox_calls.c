#include "sandbox/sandbox.h"

#include <errno.h>

#ifdef PEAL_HAS_SECCOMP
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* Refused calls (EPERM): a deny-list of calls that no agent makes. An allow-list would have to know
 * every call of every version of the C library and of the libraries for names, databases and TLS; a
 * missing one would break an upgrade. */
static const char *const refused[] = {
    /* other programs: no exec, no inspection, no changes */
    "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "pidfd_getfd", "kcmp", "perf_event_open", "userfaultfd", "uselib",
    /* other users and rights */
    "setuid", "setuid32", "setgid", "setgid32", "setreuid", "setreuid32", "setregid", "setregid32",
    "setresuid", "setresuid32", "setresgid", "setresgid32", "setfsuid", "setfsuid32", "setfsgid",
    "setfsgid32", "setgroups", "setgroups32", "capset", "keyctl", "add_key", "request_key",
    /* other views of the machine */
    "mount", "umount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at",
    "mknod", "mknodat", "fanotify_init", "quotactl", "quotactl_fd", "acct", "swapon", "swapoff",
    /* the kernel, its clock and its devices */
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "bpf", "syslog", "lookup_dcookie", "settimeofday", "clock_settime", "clock_settime64",
    "adjtimex", "clock_adjtime", "clock_adjtime64", "stime", "sethostname", "setdomainname", "iopl",
    "ioperm", "vhangup", "nfsservctl", "modify_ldt", "vm86", "vm86old", "personality",
    /* asynchronous calls, which no filter sees */
    "io_uring_setup", "io_uring_enter", "io_uring_register"};

static const unsigned namespaces[] = {
    CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
    CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET,
};

/* LeakSanitizer needs ptrace on its own process. */
static bool is_sanitizers(const char *name)
{
#ifdef PEAL_SANITIZED
    return __builtin_strcmp(name, "ptrace") == 0;
#else
    (void)name;
    return false;
#endif
}

/* Names that this library or this machine does not know are left out. */
static int refuse_names(scmp_filter_ctx filter)
{
    int error = 0;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && !error; i++) {
        int call = seccomp_syscall_resolve_name(refused[i]);
        if (call != __NR_SCMP_ERROR && !is_sanitizers(refused[i]))
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    }
    return error;
}

/* The flags of clone3 are in memory, which a filter can't read; the C library falls back to clone.
 */
static int refuse_namespaces(scmp_filter_ctx filter)
{
    int error = 0;
    for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]) && !error; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    int clone3 = seccomp_syscall_resolve_name("clone3");
    if (!error && clone3 != __NR_SCMP_ERROR)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), clone3, 0);
    return error;
}

/* Netlink stays: the C library uses it for addresses. */
static int refuse_sockets(scmp_filter_ctx filter)
{
    int error = 0;
    for (unsigned family = 0; family < AF_MAX && !error; family++) {
        if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK)
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                                     SCMP_A0(SCMP_CMP_EQ, family, 0));
    }
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
                                 SCMP_A0(SCMP_CMP_GE, AF_MAX, 0));
    return error;
}

/* No writable and executable memory, and no input injection into the terminal (TIOCSTI). */
static int refuse_code(scmp_filter_ctx filter)
{
    const unsigned both = PROT_WRITE | PROT_EXEC;
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mmap), 1,
                                 SCMP_A2(SCMP_CMP_MASKED_EQ, both, both));
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mprotect), 1,
                                 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(pkey_mprotect), 1,
                                 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                 SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI));
    return error;
}

bool sandbox_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error = filter ? 0 : -ENOMEM;
    if (!error)
        error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 1);
    if (!error) /* as a tree, for kernels before 5.11 which run it for every call; a matter of speed
                 */
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!error)
        error = refuse_names(filter);
    if (!error)
        error = refuse_namespaces(filter);
    if (!error)
        error = refuse_sockets(filter);
    if (!error)
        error = refuse_code(filter);
    if (!error)
        error = seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
    errno = -error;
    return !error;
}

#else

bool sandbox_calls(void)
{
    errno = ENOSYS;
    return false;
}

#endif
