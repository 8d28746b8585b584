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

#include "text/message.h"

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

/* A database's temporary files: landlock lets none be made in /tmp. */
static void move_temporary_files(const struct agent_config *config)
{
    setenv("SQLITE_TMPDIR", config->data, 0);
}

void sandbox_enter(const struct agent_config *config, struct sandbox *ret)
{
    *ret = (struct sandbox){.extent = config->no_sandbox ? SANDBOX_OFF : SANDBOX_ENTERED};
    if (config->no_sandbox)
        return;
    move_temporary_files(config);
    ret->memory = prctl(PR_SET_DUMPABLE, 0) == 0;
    ret->privileges = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && drop_capabilities();
    ret->landlock = sandbox_files(config);
    ret->files_error = ret->landlock ? 0 : errno;
    ret->seccomp = sandbox_calls();
    ret->calls_error = ret->seccomp ? 0 : errno;
}

/* ---- in words ---- */

struct words {
    enum language language;
    char *text;
    size_t size;
};

static void say(const struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct words *words, const char *format, ...)
{
    size_t used = strlen(words->text);
    va_list args;
    va_start(args, format);
    vsnprintf(words->text + used, words->size - used, message_in(words->language, format), args);
    va_end(args);
}

static void say_entered(const struct sandbox *sandbox, const struct words *words)
{
    say(words, sandbox->memory ? "memory is closed to other processes" : "memory can't be closed");
    say(words, sandbox->privileges ? ", no new privileges" : ", privileges can't be given up");
    if (sandbox->landlock)
        say(words, ", files by landlock %d", sandbox->landlock);
    else
        say(words, ", files are not confined (landlock: %s)", strerror(sandbox->files_error));
    if (sandbox->seccomp)
        say(words, ", system calls by seccomp");
    else
        say(words, ", system calls are not filtered (%s)",
            sandbox->calls_error == ENOSYS
                ? message_in(words->language, "built without libseccomp, or the kernel lacks it")
                : strerror(sandbox->calls_error));
}

void sandbox_tell(const struct sandbox *sandbox, enum language language, struct sandbox_state *ret)
{
    *ret = (struct sandbox_state){
        .ok = sandbox->memory && sandbox->privileges && sandbox->landlock && sandbox->seccomp,
        .memory = sandbox->memory,
        .privileges = sandbox->privileges,
        .seccomp = sandbox->seccomp,
        .landlock = sandbox->landlock,
    };
    struct words words = {language, ret->detail, sizeof(ret->detail)};
    if (sandbox->extent == SANDBOX_OFF)
        say(&words, "off, as it was configured");
    else if (sandbox->extent == SANDBOX_NO_LAUNCHER)
        say(&words, "off: the launcher, peal-spawn, can't be started: %s",
            strerror(sandbox->launcher_error));
    else if (sandbox->extent == SANDBOX_ENTERED)
        say_entered(sandbox, &words);
}
