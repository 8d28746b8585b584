#include "sandbox/sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Capabilities that a root agent needs: to read files of other users (keys with their own group),
 * to write its log to a folder of another user, and to listen on ports below 1024. */
static const int kept_capabilities[] = {
    CAP_DAC_OVERRIDE,
    CAP_DAC_READ_SEARCH,
    CAP_NET_BIND_SERVICE,
};

/* Without libcap: the two calls are the same since Linux 2.6.26. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3], kept[_LINUX_CAPABILITY_U32S_3];
    memset(kept, 0, sizeof(kept));
    for (size_t i = 0; i < sizeof(kept_capabilities) / sizeof(kept_capabilities[0]); i++)
        kept[CAP_TO_INDEX(kept_capabilities[i])].permitted |= CAP_TO_MASK(kept_capabilities[i]);
    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].permitted &= kept[i].permitted;
        sets[i].effective &= kept[i].permitted;
        sets[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, sets) == 0;
}

static void say(struct sandbox_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct sandbox_state *state, const char *format, ...)
{
    size_t used = strlen(state->detail);
    va_list args;
    va_start(args, format);
    vsnprintf(state->detail + used, sizeof(state->detail) - used, format, args);
    va_end(args);
}

/* A database's temporary files: landlock lets none be made in /tmp. */
static void move_temporary_files(const struct agent_config *config)
{
    setenv("SQLITE_TMPDIR", config->data, 0);
}

void sandbox_enter(const struct agent_config *config, struct sandbox_state *ret)
{
    *ret = (struct sandbox_state){0};
    if (config->no_sandbox) {
        say(ret, "off, as it was configured");
        return;
    }
    move_temporary_files(config);
    ret->memory = prctl(PR_SET_DUMPABLE, 0) == 0;
    say(ret, ret->memory ? "memory is closed to other processes" : "memory can't be closed");
    ret->privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && drop_capabilities();
    say(ret, ret->privileges ? ", no new privileges" : ", privileges can't be given up");
    ret->landlock = sandbox_files(config);
    if (ret->landlock)
        say(ret, ", files by landlock %d", ret->landlock);
    else
        say(ret, ", files are not confined (landlock: %s)", strerror(errno));
    ret->seccomp = sandbox_calls();
    if (ret->seccomp)
        say(ret, ", system calls by seccomp");
    else
        say(ret, ", system calls are not filtered (%s)",
            errno == ENOSYS ? "built without libseccomp, or the kernel lacks it" : strerror(errno));
    ret->ok = ret->memory && ret->privileges && ret->landlock && ret->seccomp;
}
