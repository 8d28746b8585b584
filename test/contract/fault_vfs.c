#include "fault_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/* SQLite knows a VFS by its address alone, so its state is the process's. */
static struct {
    sqlite3_vfs vfs, *real;
    pthread_mutex_t mutex;
    enum fault fault;
    int n, seen, failed;
    bool stays, log_is_dirty;
} faults = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct fault_file {
    sqlite3_file base; /* first */
    sqlite3_file *real;
    bool is_log;
};

void fault_vfs_plan(enum fault fault, int n, bool stays)
{
    pthread_mutex_lock(&faults.mutex);
    faults.fault = fault;
    faults.n = n;
    faults.stays = stays;
    faults.seen = faults.failed = 0;
    pthread_mutex_unlock(&faults.mutex);
}

int fault_vfs_seen(void)
{
    pthread_mutex_lock(&faults.mutex);
    int seen = faults.seen;
    pthread_mutex_unlock(&faults.mutex);
    return seen;
}

int fault_vfs_failed(void)
{
    pthread_mutex_lock(&faults.mutex);
    int failed = faults.failed;
    pthread_mutex_unlock(&faults.mutex);
    return failed;
}

bool fault_vfs_log_is_dirty(void)
{
    pthread_mutex_lock(&faults.mutex);
    bool dirty = faults.log_is_dirty;
    pthread_mutex_unlock(&faults.mutex);
    return dirty;
}

/* Whether this call is to fail, and how. */
static bool fails(bool is_sync, enum fault *ret)
{
    pthread_mutex_lock(&faults.mutex);
    bool hit = false;
    if ((faults.fault == FAULT_SYNC) == is_sync) {
        faults.seen++;
        hit = faults.n && (faults.seen == faults.n || (faults.stays && faults.seen > faults.n));
        faults.failed += hit;
    }
    *ret = faults.fault;
    pthread_mutex_unlock(&faults.mutex);
    return hit;
}

static void set_dirty(const struct fault_file *file, bool dirty)
{
    if (!file->is_log)
        return;
    pthread_mutex_lock(&faults.mutex);
    faults.log_is_dirty = dirty;
    pthread_mutex_unlock(&faults.mutex);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct fault_file *)file)->real;
}

static int on_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 at)
{
    sqlite3_file *real = real_of(file);
    enum fault fault;
    set_dirty((struct fault_file *)file, true);
    if (!fails(false, &fault))
        return real->pMethods->xWrite(real, bytes, length, at);
    if (fault == FAULT_SHORT_WRITE)
        (void)real->pMethods->xWrite(real, bytes, length / 2, at);
    return fault == FAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int on_sync(sqlite3_file *file, int flags)
{
    enum fault fault;
    (void)flags;
    if (fails(true, &fault))
        return SQLITE_IOERR_FSYNC;
    set_dirty((struct fault_file *)file, false);
    return SQLITE_OK;
}

static int on_close(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

#define PASS(name, parameters, ...)                                                                \
    static int on_##name parameters                                                                \
    {                                                                                              \
        sqlite3_file *real = real_of(file);                                                        \
        return real->pMethods->name(real, ##__VA_ARGS__);                                          \
    }

PASS(xRead, (sqlite3_file * file, void *bytes, int length, sqlite3_int64 at), bytes, length, at)
PASS(xTruncate, (sqlite3_file * file, sqlite3_int64 size), size)
PASS(xFileSize, (sqlite3_file * file, sqlite3_int64 *size), size)
PASS(xLock, (sqlite3_file * file, int lock), lock)
PASS(xUnlock, (sqlite3_file * file, int lock), lock)
PASS(xCheckReservedLock, (sqlite3_file * file, int *ret), ret)
PASS(xFileControl, (sqlite3_file * file, int op, void *argument), op, argument)
PASS(xSectorSize, (sqlite3_file * file))
PASS(xDeviceCharacteristics, (sqlite3_file * file))
PASS(xShmMap, (sqlite3_file * file, int page, int size, int extend, void volatile **ret), page,
     size, extend, ret)
PASS(xShmLock, (sqlite3_file * file, int offset, int n, int flags), offset, n, flags)
PASS(xShmUnmap, (sqlite3_file * file, int remove), remove)

static void on_xShmBarrier(sqlite3_file *file)
{
    sqlite3_file *real = real_of(file);
    real->pMethods->xShmBarrier(real);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* without memory maps of the file, which could not fail */
    .xClose = on_close,
    .xRead = on_xRead,
    .xWrite = on_write,
    .xTruncate = on_xTruncate,
    .xSync = on_sync,
    .xFileSize = on_xFileSize,
    .xLock = on_xLock,
    .xUnlock = on_xUnlock,
    .xCheckReservedLock = on_xCheckReservedLock,
    .xFileControl = on_xFileControl,
    .xSectorSize = on_xSectorSize,
    .xDeviceCharacteristics = on_xDeviceCharacteristics,
    .xShmMap = on_xShmMap,
    .xShmLock = on_xShmLock,
    .xShmBarrier = on_xShmBarrier,
    .xShmUnmap = on_xShmUnmap,
};

static int on_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                   int *ret_flags)
{
    struct fault_file *fault_file = (struct fault_file *)file;
    (void)vfs;
    fault_file->real = (sqlite3_file *)(fault_file + 1);
    fault_file->is_log = flags & SQLITE_OPEN_WAL;
    fault_file->base.pMethods = NULL;
    int rc = faults.real->xOpen(faults.real, name, fault_file->real, flags, ret_flags);
    if (rc == SQLITE_OK)
        fault_file->base.pMethods = &methods;
    return rc;
}

void fault_vfs_install(void)
{
    faults.real = sqlite3_vfs_find(NULL);
    faults.vfs = *faults.real;
    faults.vfs.zName = "fault";
    faults.vfs.szOsFile = (int)sizeof(struct fault_file) + faults.real->szOsFile;
    faults.vfs.xOpen = on_open;
    faults.vfs.pNext = NULL;
    sqlite3_vfs_register(&faults.vfs, 1);
}
