/* An etcd that was restored from a backup. Its revision has gone back, and with it the cursors:
 * what ran since would run again. So the highest revision that was seen is remembered, also in a
 * file, and when etcd answers with a lower one everybody stops (PREFIX/halt) until a person has
 * decided to go on: see store_etcd_advance.c.
 *
 * PREFIX/epoch says whose revisions they are: a name that was made with the prefix, which a backup
 * has too but another etcd has not, and how often it was gone on with after a restore. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "store_etcd_internal.h"

enum { REMEMBER_MS = 5000 };

bool epoch_is_halted(const struct store_etcd *store)
{
    return store->epoch.is_rolled_back || store->mirror.halt;
}

void epoch_explain(const struct store_etcd *store, struct strbuf *why)
{
    strbuf_adds(why, store->mirror.halt ? store->mirror.halt : store->epoch.why.text);
}

/* ---- the file ---- */

static void read_file(struct epoch_memory *memory)
{
    char name[ID_TEXT + 1];
    int64_t generation, revision;
    FILE *file = memory->path ? fopen(memory->path, "re") : NULL;
    if (!file)
        return;
    struct id lineage;
    if (fscanf(file, "peal-revision 1 %26s %" SCNd64 " %" SCNd64, name, &generation, &revision) ==
            3 &&
        id_parse(name, &lineage) == OK) {
        memory->lineage = lineage;
        memory->generation = generation;
        memory->seen_revision = memory->written_revision = revision;
    }
    fclose(file);
}

static enum status write_whole(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return E_IO;
    size_t length = strlen(text);
    bool is_written = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    return close(fd) == 0 && is_written ? OK : E_IO;
}

/* What could not be written is tried again the next time. */
static void write_file(struct epoch_memory *memory)
{
    char name[ID_TEXT + 1], text[128], *fresh;
    if (!memory->path || memory->is_rolled_back || id_is_zero(&memory->lineage) ||
        memory->written_revision == memory->seen_revision)
        return;
    id_format(&memory->lineage, name);
    snprintf(text, sizeof(text), "peal-revision 1 %s %" PRId64 " %" PRId64 "\n", name,
             memory->generation, memory->seen_revision);
    if (asprintf(&fresh, "%s.new", memory->path) < 0)
        return;
    if (write_whole(fresh, text) == OK && rename(fresh, memory->path) == 0)
        memory->written_revision = memory->seen_revision;
    free(fresh);
}

static void on_timer(void *context)
{
    struct store_etcd *store = context;
    store->epoch.is_timed = false;
    write_file(&store->epoch);
}

static void remember(struct store_etcd *store, int64_t revision)
{
    struct epoch_memory *memory = &store->epoch;
    memory->seen_revision = revision;
    if (memory->path && !memory->is_timed) {
        memory->is_timed = true;
        loop_timer_set(memory->timer, REMEMBER_MS);
    }
}

/* ---- keys ---- */

static void ignore(void *context, const struct etcd_result *result)
{
    (void)context;
    (void)result; /* the watch tells; what failed is tried again */
}

/* Writes the key unless it is there. */
static void put_new(struct store_etcd *store, const char *name, const struct strbuf *value)
{
    struct etcd_txn *txn = NULL;
    char *key = NULL;
    if (asprintf(&key, "%s/%s", store->prefix, name) < 0)
        return;
    if (etcd_txn_new(&txn) == OK) {
        etcd_txn_if_version(txn, etcd_text(key), ETCD_EQUAL, 0);
        etcd_txn_put(
            txn, &(struct etcd_put){.key = etcd_text(key), .value = {value->text, value->length}});
        enum status st =
            etcd_txn_send(store->client, txn, &(struct etcd_reply){ignore, NULL, 0}, NULL);
        if (st != OK)
            health_ail(store, st, "a key could not be written");
    }
    etcd_txn_free(txn);
    free(key);
}

static void create_epoch(struct store_etcd *store)
{
    uint8_t random[10];
    struct strbuf value;
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return;
    struct epoch epoch = {.lineage = id_make(clock_now().wall, random)};
    strbuf_init(&value);
    value_write_epoch(&value, &epoch);
    put_new(store, "epoch", &value);
    strbuf_release(&value);
}

/* All nodes see it, and stop as well. */
static void put_halt(struct store_etcd *store)
{
    put_new(store, "halt", &store->epoch.why);
}

/* ---- what was seen ---- */

bool epoch_saw(struct store_etcd *store, int64_t revision, int64_t seen_before)
{
    if (store->epoch.is_rolled_back)
        return true; /* known */
    if (revision < seen_before) {
        load_fail(store, E_UNREACHABLE, "its revision went back; everything is read again");
        return false;
    }
    if (revision > store->epoch.seen_revision)
        remember(store, revision);
    return true;
}

static void halt(struct store_etcd *store, int64_t revision)
{
    struct epoch_memory *memory = &store->epoch;
    memory->is_rolled_back = true;
    strbuf_reset(&memory->why);
    strbuf_addf(&memory->why,
                "etcd's revision went back from %" PRId64 " to %" PRId64
                ": it was restored from a backup. Ticks since then may have run already; nothing "
                "is claimed until someone runs `peal cluster advance-cursors`",
                memory->seen_revision, revision);
    if (!store->mirror.halt)
        put_halt(store);
    flow_fail_waiting(store, E_ROLLED_BACK);
    store_etcd_wake(store);
}

/* What is in the mirror is what counts from now on. */
static void adopt(struct store_etcd *store, int64_t revision)
{
    struct epoch_memory *memory = &store->epoch;
    const struct epoch *epoch = &store->mirror.epoch;
    bool is_other = id_compare(&memory->lineage, &epoch->lineage) != 0 ||
                    memory->generation != epoch->generation;
    memory->lineage = epoch->lineage;
    memory->generation = epoch->generation;
    memory->is_rolled_back = false;
    if (is_other || revision > memory->seen_revision)
        remember(store, revision);
}

void epoch_loaded(struct store_etcd *store, int64_t revision)
{
    struct epoch_memory *memory = &store->epoch;
    const struct epoch *epoch = &store->mirror.epoch;
    bool is_same = epoch->mod_revision && id_compare(&epoch->lineage, &memory->lineage) == 0;
    if (!epoch->mod_revision)
        create_epoch(store);
    if (is_same && (epoch->generation < memory->generation ||
                    (epoch->generation == memory->generation && revision < memory->seen_revision)))
        halt(store, revision);
    else
        adopt(store, revision);
}

void epoch_feed_moved(struct store_etcd *store)
{
    struct epoch_memory *memory = &store->epoch;
    const struct mirror *mirror = &store->mirror;
    int64_t told = etcd_watch_next_revision(store->watch) - 1;
    if (mirror->epoch.mod_revision != memory->epoch_revision) { /* made, or gone on with */
        memory->epoch_revision = mirror->epoch.mod_revision;
        if (mirror->epoch.generation > memory->generation || !memory->is_rolled_back)
            adopt(store, told);
    }
    if (!memory->is_rolled_back && told > memory->seen_revision)
        remember(store, told);
    if (mirror->halt_revision == memory->halt_revision)
        return;
    memory->halt_revision = mirror->halt_revision;
    if (mirror->halt)
        flow_fail_waiting(store, E_ROLLED_BACK);
}

void epoch_tick(struct store_etcd *store)
{
    if (store->is_loaded && store->epoch.is_rolled_back && !store->mirror.halt)
        put_halt(store);
    if (store->is_loaded && !store->mirror.epoch.mod_revision)
        create_epoch(store);
}

/* ---- all of it ---- */

enum status epoch_init(struct store_etcd *store, const char *path)
{
    struct epoch_memory *memory = &store->epoch;
    strbuf_init(&memory->why);
    memory->path = path ? strdup(path) : NULL;
    if (path && !memory->path)
        return E_NOMEM;
    read_file(memory);
    return loop_timer_new(store->loop, on_timer, store, &memory->timer);
}

void epoch_release(struct store_etcd *store)
{
    write_file(&store->epoch);
    loop_timer_free(store->epoch.timer);
    strbuf_release(&store->epoch.why);
    free(store->epoch.path);
}
