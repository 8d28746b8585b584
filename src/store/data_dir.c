#include "data_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A user who may write to the folder could replace the database and become admin. */
static enum status check_owner(const char *dir, const struct stat *st, struct strbuf *why)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        strbuf_addf(why,
                    "the data folder %s belongs to another user (uid %ld): chown it, or name "
                    "another data folder",
                    dir, (long)st->st_uid);
    else if (st->st_mode & (S_IWGRP | S_IWOTH))
        strbuf_addf(why,
                    "others may write to the data folder %s (mode %04o): chmod go-w %s, or "
                    "name another data folder",
                    dir, (unsigned)(st->st_mode & 07777), dir);
    else
        return OK;
    return E_IO;
}

static enum status make_dir(const char *dir, struct strbuf *why)
{
    struct stat st;
    if (mkdir(dir, 0700) == 0)
        return OK;
    if (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return check_owner(dir, &st, why);
    if (errno == EEXIST)
        strbuf_addf(why, "%s is not a folder: name another data folder", dir);
    else if (errno == ENOENT)
        strbuf_addf(why, "the folder above %s does not exist: make it, or name another data folder",
                    dir);
    else
        strbuf_addf(why, "can't make the data folder %s: %s", dir, strerror(errno));
    return E_IO;
}

/* The pids that hold the lock, by the kernel's list: "12, 34". False: none is known. */
static bool list_owners(int fd, struct strbuf *pids)
{
    struct stat file;
    char line[256];
    int count = 0;
    FILE *locks = fstat(fd, &file) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks && count < 8 && fgets(line, sizeof(line), locks)) {
        long pid;
        unsigned long long inode;
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %*x:%*x:%llu", &pid, &inode) != 2 ||
            inode != file.st_ino || pid <= 0)
            continue;
        strbuf_addf(pids, "%s%ld", count++ ? ", " : "", pid);
    }
    if (locks)
        fclose(locks);
    return count > 0;
}

/* Who holds the lock alone has its pid in the file; those who share it have a word. */
static const char sharing[] = "shared\n";

static bool is_shared(int fd)
{
    char text[sizeof(sharing)] = "";
    return pread(fd, text, sizeof(text) - 1, 0) > 0 && strcmp(text, sharing) == 0;
}

/* The lock is taken; the file has the owner's pid, unless it is just being written. */
static enum status name_the_owner(int fd, const char *dir, struct strbuf *why)
{
    char text[24] = "";
    struct strbuf pids;
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
    long pid = length > 0 ? strtol(text, NULL, 10) : 0;
    strbuf_init(&pids);
    if (pid > 0)
        strbuf_addf(why, "another peal (pid %ld) uses %s: stop it, or name another data folder",
                    pid, dir);
    else if (is_shared(fd) && list_owners(fd, &pids))
        strbuf_addf(why,
                    "programs that share %s use it (pid %s): stop them, or name another data "
                    "folder",
                    dir, pids.text);
    else
        strbuf_addf(why, "another peal uses %s: stop it, or name another data folder", dir);
    strbuf_release(&pids);
    return E_BUSY;
}

static enum status open_lock(const char *dir, int *ret_fd, struct strbuf *why)
{
    struct strbuf path;
    enum status st = make_dir(dir, why);
    if (st != OK)
        return st;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/peal.lock", dir);
    st = strbuf_status(&path);
    int fd = st == OK ? open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (st == OK && fd < 0) {
        strbuf_addf(why, "can't write %s: %s: give peal a data folder that its user may write to",
                    path.text, strerror(errno));
        st = E_IO;
    }
    strbuf_release(&path);
    *ret_fd = fd;
    return st;
}

/* E_BUSY: somebody else has it. */
static enum status try_lock(int fd, int how, const char *dir, struct strbuf *why)
{
    if (flock(fd, how | LOCK_NB) == 0)
        return OK;
    if (errno == EWOULDBLOCK)
        return E_BUSY;
    strbuf_addf(why, "can't lock %s/peal.lock: %s", dir, strerror(errno));
    return E_IO;
}

/* The text is only for messages; without it (full disk) the lock still holds. */
static void write_owner(int fd, const char *text)
{
    ssize_t length = (ssize_t)strlen(text);
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)length, 0) != length)
        (void)!ftruncate(fd, 0);
}

/* A file of /proc as text; "": there is none. */
static void read_proc(long pid, const char *name, char *text, size_t size)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
}

/* Was the owner killed? Until the kernel has taken it apart it keeps its locks. */
static bool owner_is_ending(int fd)
{
    enum { PF_EXITING = 0x4, KILL_BIT = 1 << (SIGKILL - 1) };
    char text[4096] = "";
    unsigned flags = 0;
    unsigned long long pending = 0;
    long pid = pread(fd, text, 24, 0) > 0 ? strtol(text, NULL, 10) : 0;
    read_proc(pid, "status", text, sizeof(text));
    const char *signals = strstr(text, "\nSigPnd:");
    if (signals && sscanf(signals, " SigPnd: %llx", &pending) == 1 && pending & KILL_BIT)
        return true;
    read_proc(pid, "stat", text, sizeof(text));
    const char *behind_name = strrchr(text, ')');
    return behind_name && sscanf(behind_name, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
           flags & PF_EXITING;
}

/* Whoever starts an agent right after the one before was killed need not wait himself. */
static enum status lock_alone(int fd, const char *dir, struct strbuf *why)
{
    enum { STEP_US = 10 * 1000, STEPS = 1000, LOOKS = 3 };
    enum status st = try_lock(fd, LOCK_EX, dir, why);
    for (int step = 0, alive = 0; st == E_BUSY && step < STEPS && alive < LOOKS; step++) {
        alive = owner_is_ending(fd) ? 0 : alive + 1; /* between the two signs there is a moment */
        usleep(STEP_US);
        st = try_lock(fd, LOCK_EX, dir, why);
    }
    return st;
}

enum status data_dir_lock(const char *dir, int *ret_fd, struct strbuf *why)
{
    char pid[24];
    int fd;
    enum status st = open_lock(dir, &fd, why);
    if (st != OK)
        return st;
    st = lock_alone(fd, dir, why);
    if (st != OK) {
        if (st == E_BUSY)
            st = name_the_owner(fd, dir, why);
        close(fd);
        return st;
    }
    snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    write_owner(fd, pid);
    *ret_fd = fd;
    return OK;
}

/* Waits for a process that is alone only while it prepares the folder for the others. */
static enum status join(const char *dir, int fd, struct strbuf *why)
{
    enum { STEP_US = 10 * 1000, SHARED_STEPS = 6000, OTHER_STEPS = 20 };
    enum status st = try_lock(fd, LOCK_SH, dir, why);
    for (int step = 0; st == E_BUSY && step < (is_shared(fd) ? SHARED_STEPS : OTHER_STEPS);
         step++) {
        usleep(STEP_US);
        st = try_lock(fd, LOCK_SH, dir, why);
    }
    return st == E_BUSY ? name_the_owner(fd, dir, why) : st;
}

enum status data_dir_share(const char *dir, int *ret_fd, bool *ret_is_alone, struct strbuf *why)
{
    int fd;
    enum status st = open_lock(dir, &fd, why);
    if (st != OK)
        return st;
    st = try_lock(fd, LOCK_EX, dir, why);
    *ret_is_alone = st == OK;
    if (st == OK)
        write_owner(fd, sharing);
    else if (st == E_BUSY)
        st = join(dir, fd, why);
    if (st != OK) {
        close(fd);
        return st;
    }
    *ret_fd = fd;
    return OK;
}

/* Another process may be faster: then it is waited for. */
enum status data_dir_let_in(const char *dir, int fd, struct strbuf *why)
{
    return join(dir, fd, why);
}

/* The file stays: removing it would let two processes lock two files of the same name. */
void data_dir_unlock(int fd)
{
    if (fd < 0)
        return;
    if (!is_shared(fd))
        (void)!ftruncate(fd, 0);
    close(fd);
}

int64_t disk_free_bytes(const char *path)
{
    struct statvfs fs;
    if (statvfs(path, &fs) < 0)
        return -1;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}
