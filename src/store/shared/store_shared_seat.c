/* The seats of the openers, two files in DIR/nodes for each: seat-PROCESS-NUMBER has what it tells,
 * lock-PROCESS-NUMBER is locked while its process lives; README.md says why with a POSIX lock. They
 * are apart because closing any descriptor of a locked file frees the lock: what another handle of
 * the same process tells can be read, and its lock is never opened. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"
#include "hash.h"
#include "shared/store_shared.h"

static const char told[] = "seat", locked[] = "lock";

/* ---- whose a seat is ---- */

static uint64_t hash_file(uint64_t seed, const char *path)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        close(fd);
    return hash_bytes(seed, text, length > 0 ? (size_t)length : 0);
}

/* The 22nd field of /proc/self/stat; the second one may have spaces. */
static unsigned long long start_time(void)
{
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t shared_process(void)
{
    char space[64] = "";
    struct {
        unsigned long long start;
        long pid;
    } self = {start_time(), (long)getpid()};
    if (readlink("/proc/self/ns/pid", space, sizeof(space) - 1) < 0)
        space[0] = '\0';
    uint64_t hash = hash_file(1, "/proc/sys/kernel/random/boot_id");
    return hash_bytes(hash_text(hash, space), &self, sizeof(self));
}

/* ---- the lock ---- */

static bool lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &whole) == 0;
}

static bool is_locked(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_GETLK, &whole) != 0 || whole.l_type != F_UNLCK;
}

/* ---- the own seat ---- */

/* DIR/nodes/KIND-NAME */
static void add_path(struct strbuf *path, const char *folder, const char *kind, const char *name)
{
    strbuf_reset(path);
    strbuf_addf(path, "%s/%s-%s", folder, kind, name);
}

enum status own_seat_write(struct own_seat *seat)
{
    struct strbuf payload, frame;
    strbuf_init(&payload);
    strbuf_init(&frame);
    strbuf_add(&payload, &seat->head, sizeof(seat->head));
    strbuf_add(&payload, seat->json.text, seat->json.length);
    frame_add(&frame, &payload);
    enum status st = strbuf_status(&frame);
    if (st == OK && pwrite(seat->fd, frame.text, frame.length, 0) != (ssize_t)frame.length)
        st = E_IO;
    strbuf_release(&payload);
    strbuf_release(&frame);
    return st;
}

/* Makes a file under another name, until it is locked. */
static int make_locked(const char *folder, const char *name)
{
    struct strbuf path, final;
    strbuf_init(&path);
    strbuf_init(&final);
    add_path(&path, folder, "new", name);
    add_path(&final, folder, locked, name);
    int fd = open(path.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && (!lock(fd) || rename(path.text, final.text) < 0)) {
        unlink(path.text);
        close(fd);
        fd = -1;
    }
    strbuf_release(&path);
    strbuf_release(&final);
    return fd;
}

/* The lock first: a seat without it is a dead one. */
enum status own_seat_take(struct own_seat *seat, const char *folder, struct strbuf *why)
{
    struct strbuf path;
    uint64_t number = 0;
    while (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        continue; /* interrupted */
    seat->folder = folder;
    seat->head.format = shared_format();
    seat->head.process = shared_process();
    seat->head.pid = getpid();
    snprintf(seat->name, sizeof(seat->name), "%016llx-%016llx",
             (unsigned long long)seat->head.process, (unsigned long long)number);
    strbuf_init(&path);
    add_path(&path, folder, told, seat->name);
    seat->lock_fd = make_locked(folder, seat->name);
    seat->fd = seat->lock_fd < 0
                   ? -1
                   : open(path.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_made = seat->fd >= 0 && own_seat_write(seat) == OK;
    if (!is_made) {
        strbuf_addf(why, "can't write %s: %s", path.text, strerror(errno));
        own_seat_leave(seat, false);
    }
    strbuf_release(&path);
    return is_made ? OK : E_IO;
}

bool own_seat_holds(struct own_seat *seat)
{
    struct stat file;
    return fstat(seat->fd, &file) == 0 && file.st_nlink > 0 && lock(seat->lock_fd);
}

static void remove_files(const char *folder, const char *name)
{
    struct strbuf path;
    strbuf_init(&path);
    add_path(&path, folder, told, name);
    unlink(path.text);
    add_path(&path, folder, locked, name);
    unlink(path.text);
    strbuf_release(&path);
}

void own_seat_leave(struct own_seat *seat, bool is_kept)
{
    if (!is_kept && seat->lock_fd >= 0)
        remove_files(seat->folder, seat->name);
    if (seat->fd >= 0)
        close(seat->fd);
    if (seat->lock_fd >= 0)
        close(seat->lock_fd);
    seat->fd = seat->lock_fd = -1;
}

/* ---- the seats of others ---- */

static bool is_of_process(const char *name, uint64_t process)
{
    return strtoull(name, NULL, 16) == process;
}

static int open_file(const char *folder, const char *kind, const char *name)
{
    struct strbuf path;
    strbuf_init(&path);
    add_path(&path, folder, kind, name);
    int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    strbuf_release(&path);
    return fd;
}

static void close_seat(struct seat *seat)
{
    if (seat->fd >= 0)
        close(seat->fd);
    if (seat->lock_fd >= 0)
        close(seat->lock_fd);
    free(seat);
}

static struct seat *find_or_add(struct seat **list, const struct own_seat *own, const char *name)
{
    struct seat *seat = *list;
    while (seat && strcmp(seat->name, name) != 0)
        seat = seat->next;
    if (seat)
        return seat;
    seat = calloc(1, sizeof(*seat));
    if (!seat)
        return NULL;
    snprintf(seat->name, sizeof(seat->name), "%s", name);
    seat->is_ours = is_of_process(name, own->head.process);
    seat->fd = open_file(own->folder, told, name);
    seat->lock_fd = seat->is_ours ? -1 : open_file(own->folder, locked, name);
    if (seat->fd < 0) { /* it has just left */
        close_seat(seat);
        return NULL;
    }
    seat->next = *list;
    *list = seat;
    return seat;
}

static void take_content(struct seat *seat, const char *payload, size_t length)
{
    struct peer peer = {.home = 0};
    const char *json = payload + sizeof(seat->head);
    memcpy(&seat->head, payload, sizeof(seat->head));
    seat->head.node[sizeof(seat->head.node) - 1] = '\0';
    length -= sizeof(seat->head);
    uint64_t check = hash_bytes(1, json, length);
    bool is_news = check != seat->json_check;
    seat->json_check = check;
    if (!seat->head.joined_us || !is_news ||
        peer_decode(seat->head.node, json, length, &peer) != OK)
        return;
    peer.joined = seat->head.joined_us;
    peer.beats_ms = STORE_SILENT_MS / 2;
    seat->peer = peer;
    seat->is_node = true;
    seat->is_told = false;
}

/* A torn heartbeat is read again at the next look. */
static void read_content(struct seat *seat)
{
    char *payload;
    size_t length;
    if (frame_read(seat->fd, 0, &payload, &length) != OK)
        return;
    if (length >= sizeof(seat->head))
        take_content(seat, payload, length);
    free(payload);
}

/* A seat of this process lives as long as it is there: see README.md. */
static void look_at(struct seat *seat, int64_t now_ms)
{
    read_content(seat);
    bool is_held = seat->is_ours || (seat->lock_fd >= 0 && is_locked(seat->lock_fd));
    seat->is_alive = seat->is_listed && (is_held || seat->head.back_by_ms > now_ms);
}

enum status seats_read(struct seat **list, const struct own_seat *own)
{
    int64_t now_ms = clock_now().boot.ms;
    struct dirent *entry;
    DIR *dir = opendir(own->folder);
    if (!dir)
        return E_IO;
    for (struct seat *seat = *list; seat; seat = seat->next)
        seat->is_listed = false;
    while ((entry = readdir(dir))) {
        const char *name = entry->d_name + strlen(told) + 1;
        bool is_seat = strncmp(entry->d_name, told, strlen(told)) == 0 &&
                       strlen(entry->d_name) == strlen(told) + SEAT_NAME_SIZE;
        struct seat *seat =
            is_seat && strcmp(name, own->name) != 0 ? find_or_add(list, own, name) : NULL;
        if (seat)
            seat->is_listed = true;
    }
    closedir(dir);
    for (struct seat *seat = *list; seat; seat = seat->next) {
        look_at(seat, now_ms);
        if (seat->is_listed && !seat->is_alive) /* its lock is free: nobody comes back to it */
            remove_files(own->folder, seat->name);
    }
    return OK;
}

void seat_remove(const struct own_seat *own, const struct seat *seat)
{
    remove_files(own->folder, seat->name);
}

void seats_forget_dead(struct seat **list)
{
    for (struct seat *seat, **at = list; (seat = *at);) {
        if (seat->is_alive) {
            at = &seat->next;
            continue;
        }
        *at = seat->next;
        close_seat(seat);
    }
}

void seats_release(struct seat **list)
{
    for (struct seat *seat; (seat = *list);) {
        *list = seat->next;
        close_seat(seat);
    }
}

void seats_clear(const char *folder)
{
    struct strbuf path;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    strbuf_init(&path);
    while ((entry = readdir(dir))) {
        strbuf_reset(&path);
        strbuf_addf(&path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path.text);
    }
    closedir(dir);
    strbuf_release(&path);
}

int64_t seats_least_seq(const struct seat *list, int64_t own_seq)
{
    int64_t least = own_seq;
    for (const struct seat *seat = list; seat; seat = seat->next)
        if (seat->is_alive && seat->head.seq < least)
            least = seat->head.seq;
    return least;
}
