#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- files: landlock, as linux/landlock.h has it. That of the machine which compiles this may be
 * older than the kernel which it runs on, or not be there ---- */

enum {
    CALL_CREATE_RULESET = 444, /* on every kind of machine */
    CALL_ADD_RULE = 445,
    CALL_RESTRICT_SELF = 446,
    CREATE_VERSION = 1,
    RULE_PATH_BENEATH = 1,
};

enum access {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_ALL = 0x7f << 6, /* devices, folders, files, sockets, pipes, links */
    MAKE_REG = 1 << 8,
    REFER = 1 << 13,    /* from version 2 */
    TRUNCATE = 1 << 14, /* 3 */
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

bool sandbox_files(int folder_fd)
{
    long version = syscall(CALL_CREATE_RULESET, NULL, 0, CREATE_VERSION);
    if (version < 1)
        return false;
    uint64_t refused = EXECUTE | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_ALL |
                       (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0);
    int fd = (int)syscall(CALL_CREATE_RULESET, &refused, sizeof(refused), 0);
    if (fd < 0)
        return false;
    struct beneath rule = {
        .allowed = refused & (WRITE_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE),
        .parent = folder_fd,
    };
    bool is_done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                   syscall(CALL_ADD_RULE, fd, RULE_PATH_BENEATH, &rule, 0) == 0 &&
                   syscall(CALL_RESTRICT_SELF, fd, 0) == 0;
    int error = errno;
    close(fd);
    errno = error;
    return is_done;
}

/* ---- calls ---- */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

#define REFUSE(error)       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define REFUSE_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), REFUSE(EPERM)

/* A deny list, of calls that neither libcurl nor the libraries for names and TLS make: which ones
 * they do make changes with the system. */
bool sandbox_calls(void)
{
    static const struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        REFUSE(ENOSYS), /* numbers of another kind of machine mean other calls */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        REFUSE(ENOSYS), /* x32 */
        REFUSE_CALL(SYS_execve),
        REFUSE_CALL(SYS_execveat),
#ifndef PEAL_SANITIZED /* LeakSanitizer needs it on its own process */
        REFUSE_CALL(SYS_ptrace),
#endif
        REFUSE_CALL(SYS_process_vm_readv),
        REFUSE_CALL(SYS_process_vm_writev),
        REFUSE_CALL(SYS_kcmp),
        REFUSE_CALL(SYS_perf_event_open),
        REFUSE_CALL(SYS_userfaultfd),
        REFUSE_CALL(SYS_bpf),
        REFUSE_CALL(SYS_keyctl),
        REFUSE_CALL(SYS_add_key),
        REFUSE_CALL(SYS_request_key),
        REFUSE_CALL(SYS_mount),
        REFUSE_CALL(SYS_umount2),
        REFUSE_CALL(SYS_pivot_root),
        REFUSE_CALL(SYS_chroot),
        REFUSE_CALL(SYS_unshare),
        REFUSE_CALL(SYS_setns),
        REFUSE_CALL(SYS_setuid),
        REFUSE_CALL(SYS_setgid),
        REFUSE_CALL(SYS_setresuid),
        REFUSE_CALL(SYS_setresgid),
        REFUSE_CALL(SYS_setgroups),
        REFUSE_CALL(SYS_capset),
        REFUSE_CALL(SYS_init_module),
        REFUSE_CALL(SYS_finit_module),
        REFUSE_CALL(SYS_kexec_load),
        REFUSE_CALL(SYS_personality),
        REFUSE_CALL(425), /* io_uring_setup: asynchronous calls, which no filter sees */
        REFUSE_CALL(434), /* pidfd_open, ... */
        REFUSE_CALL(438), /* ... pidfd_getfd */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {
        .len = sizeof(filter) / sizeof(filter[0]),
        .filter = (struct sock_filter *)filter,
    };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool sandbox_calls(void)
{
    errno = ENOSYS;
    return false;
}

#endif
