/* An etcd that was restored from a backup. Its revision has gone back, and with it the cursors:
 * what ran since would run again. So the highest revision that was seen is remembered, also in a
 * file, and when etcd answers with a lower one everybody stops (PREFIX/halt) until a person has
 * decided to go on: see store_etcd_advance.c.
 *
 * Who has seen nothing since the backup can't tell by the revision. But in a restored etcd the
 * terms of its leaders begin again, and with another token or other members it has another cluster
 * id: these two are remembered and compared as well.
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
    uint64_t cluster_id = 0, term = 0; /* older versions did not write them */
    FILE *file = memory->path ? fopen(memory->path, "re") : NULL;
    if (!file)
        return;
    struct id lineage;
    if (fscanf(file, "peal-revision 1 %26s %" SCNd64 " %" SCNd64 " %" SCNx64 " %" SCNu64, name,
               &generation, &revision, &cluster_id, &term) >= 3 &&
        id_parse(name, &lineage) == OK) {
        memory->lineage = lineage;
        memory->generation = generation;
        memory->seen = (struct epoch_seen){revision, term, term};
        memory->cluster_id = cluster_id;
        memory->is_written = true;
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
        memory->is_written)
        return;
    id_format(&memory->lineage, name);
    snprintf(text, sizeof(text),
             "peal-revision 1 %s %" PRId64 " %" PRId64 " %" PRIx64 " %" PRIu64 "\n", name,
             memory->generation, memory->seen.revision, memory->cluster_id, memory->seen.term);
    if (asprintf(&fresh, "%s.new", memory->path) < 0)
        return;
    if (write_whole(fresh, text) == OK && rename(fresh, memory->path) == 0)
        memory->is_written = true;
    free(fresh);
}

static void on_timer(void *context)
{
    struct store_etcd *store = context;
    store->epoch.is_timed = false;
    write_file(&store->epoch);
}

/* Something in the memory has changed. */
static void write_soon(struct store_etcd *store)
{
    struct epoch_memory *memory = &store->epoch;
    memory->is_written = false;
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

struct epoch_sign epoch_sign(const struct etcd_result *result)
{
    return (struct epoch_sign){
        .revision = result->revision, .term = result->raft_term, .cluster_id = result->cluster_id};
}

static bool is_other_cluster(const struct epoch_memory *memory, struct epoch_sign sign)
{
    return memory->cluster_id && sign.cluster_id && memory->cluster_id != sign.cluster_id;
}

static bool went_back(const struct epoch_memory *memory, struct epoch_sign sign,
                      const struct epoch_seen *before)
{
    return sign.revision < before->revision || (sign.term && sign.term < before->term) ||
           is_other_cluster(memory, sign);
}

static void learn(struct store_etcd *store, struct epoch_sign sign, const struct epoch_seen *before)
{
    struct epoch_memory *memory = &store->epoch;
    struct epoch_seen *seen = &memory->seen;
    bool is_news = sign.revision > seen->revision;
    if (is_news)
        seen->revision = sign.revision;
    if (sign.term >= before->named_term && before->named_term > seen->term) {
        seen->term = before->named_term;
        is_news = true;
    }
    if (sign.term > seen->named_term)
        seen->named_term = sign.term;
    if (!memory->cluster_id && sign.cluster_id) {
        memory->cluster_id = sign.cluster_id;
        is_news = true;
    }
    if (is_news)
        write_soon(store);
}

bool epoch_is_same_cluster(const struct store_etcd *store, uint64_t cluster_id)
{
    uint64_t read = store->loading_sign.cluster_id;
    return !read || !cluster_id || read == cluster_id;
}

/* While all is halted it was restored once more. */
static bool is_older_still(const struct store_etcd *store, struct epoch_sign sign)
{
    const struct epoch_sign *loaded = &store->loading_sign;
    return store->is_loaded && (sign.revision < loaded->revision ||
                                (loaded->cluster_id && sign.cluster_id != loaded->cluster_id));
}

bool epoch_saw(struct store_etcd *store, struct epoch_sign sign, const struct epoch_seen *before)
{
    if (store->epoch.is_rolled_back && !is_older_still(store, sign))
        return true; /* known */
    if (store->epoch.is_rolled_back || went_back(&store->epoch, sign, before)) {
        load_fail(store, E_UNREACHABLE, "it is not as new as it was; everything is read again");
        return false;
    }
    learn(store, sign, before);
    return true;
}

/* By which of the signs it is known. */
static void explain(const struct epoch_memory *memory, struct epoch_sign sign,
                    const struct epoch_seen *before, struct strbuf *why)
{
    if (is_other_cluster(memory, sign))
        strbuf_addf(why,
                    "etcd's cluster id was %" PRIx64 " and is %" PRIx64
                    ": its data were restored from a backup, or copied, into another cluster",
                    memory->cluster_id, sign.cluster_id);
    else if (sign.revision >= before->revision && sign.term < before->term)
        strbuf_addf(why,
                    "etcd's raft term went back from %" PRIu64 " to %" PRIu64
                    ": it was restored from a backup",
                    before->term, sign.term);
    else
        strbuf_addf(why,
                    "etcd's revision went back from %" PRId64 " to %" PRId64
                    ": it was restored from a backup",
                    before->revision, sign.revision);
}

static void halt(struct store_etcd *store)
{
    struct epoch_memory *memory = &store->epoch;
    memory->is_rolled_back = true;
    strbuf_reset(&memory->why);
    explain(memory, store->loading_sign, &store->loading_seen, &memory->why);
    strbuf_adds(&memory->why,
                ". Ticks since then may have run already; nothing is claimed until someone runs"
                " `peal cluster advance-cursors`");
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
    if (is_other) {
        memory->seen = store->loading_seen = (struct epoch_seen){.revision = revision};
        memory->cluster_id = 0; /* the next answer says it */
        write_soon(store);
    }
}

void epoch_loaded(struct store_etcd *store)
{
    struct epoch_memory *memory = &store->epoch;
    const struct epoch *epoch = &store->mirror.epoch;
    bool is_same = epoch->mod_revision && id_compare(&epoch->lineage, &memory->lineage) == 0;
    if (!epoch->mod_revision)
        create_epoch(store);
    if (is_same && (epoch->generation < memory->generation ||
                    (epoch->generation == memory->generation &&
                     went_back(memory, store->loading_sign, &store->loading_seen)))) {
        halt(store);
        return;
    }
    adopt(store, store->loading_sign.revision);
    learn(store, store->loading_sign, &store->loading_seen);
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
    if (!memory->is_rolled_back && told > memory->seen.revision) {
        memory->seen.revision = told;
        write_soon(store);
    }
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
