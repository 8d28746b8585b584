/* Detects an etcd that was restored from a backup. Its cursors have gone back: ticks since then
 * would run again. The node that notices halts all (PREFIX/halt) until an operator decides to go
 * on: see store_kv_advance.c. A restore is detected by the data, and by what was seen before:
 *
 * PREFIX/epoch identifies the revisions: the lineage, an id made with the prefix, which a backup
 * has too but another etcd has not; the generation, which counts restores; and the id of the etcd
 * cluster. A cluster that is restored with another token, or with other members, has another id
 * than its data. That can be seen without any memory.
 *
 * With the same token and members the id is the same. Then only nodes that saw a later state can
 * tell: by the highest revision, by the raft term, which starts again, and by the revision of their
 * own key (store_kv_nodes.c). These are remembered, also in a file, with their epoch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "kv/store_kv_internal.h"
#include "kv/store_kv_revision.h"

enum { REMEMBER_MS = 5000 };

bool epoch_is_halted(const struct store_kv *store)
{
    return store->epoch.is_rolled_back || store->mirror.halt;
}

void epoch_explain(const struct store_kv *store, struct strbuf *why)
{
    strbuf_adds(why, store->mirror.halt ? store->mirror.halt : store->epoch.why.text);
}

/* ---- the file ---- */

static void read_file(struct store_kv *store)
{
    struct epoch_memory *memory = &store->epoch;
    struct revision_record read;
    if (!memory->path || !revision_file_read(memory->path, &read))
        return;
    memory->lineage = read.lineage;
    memory->generation = read.generation;
    memory->stamp = read.stamp;
    memory->seen = (struct epoch_seen){read.revision, read.term, read.term};
    memory->cluster_id = read.cluster_id;
    memory->key_revision = read.key_revision;
    kv_client_recall(store->client, &read.mark);
    memory->is_written = true;
}

/* A failed write is retried the next time. */
static void write_file(struct store_kv *store)
{
    struct epoch_memory *memory = &store->epoch;
    struct revision_record record = {.lineage = memory->lineage,
                                     .generation = memory->generation,
                                     .revision = memory->seen.revision,
                                     .cluster_id = memory->cluster_id,
                                     .term = memory->seen.term,
                                     .stamp = memory->stamp,
                                     .key_revision = memory->key_revision,
                                     .mark = kv_client_mark(store->client)};
    if (memory->path && !memory->is_rolled_back && !id_is_zero(&memory->lineage) &&
        !memory->is_written)
        memory->is_written = revision_file_write(memory->path, &record) == OK;
}

static void on_timer(void *context)
{
    struct store_kv *store = context;
    store->epoch.is_timed = false;
    write_file(store);
}

/* Something in the memory has changed. */
static void write_soon(struct store_kv *store)
{
    struct epoch_memory *memory = &store->epoch;
    memory->is_written = false;
    if (memory->path && !memory->is_timed) {
        memory->is_timed = true;
        loop_timer_set(memory->timer, REMEMBER_MS);
    }
}

/* ---- keys ---- */

static void ignore(void *context, const struct kv_result *result)
{
    (void)context;
    (void)result; /* the watch delivers it; a failure is retried */
}

/* Only if the epoch is that of the mirror: a late halt must not stop a cluster that was advanced
 * meanwhile. */
static void put_in_epoch(struct store_kv *store, const char *key, const struct strbuf *value)
{
    struct kv_txn *txn = NULL;
    if (kv_txn_new(&txn) == OK) {
        kv_txn_if_mod_revision(txn, kv_text(store->epoch_key), KV_EQUAL,
                               store->mirror.epoch.mod_revision);
        if (key != store->epoch_key)
            kv_txn_if_version(txn, kv_text(key), KV_EQUAL, 0);
        kv_txn_put(txn,
                   &(struct kv_put){.key = kv_text(key), .value = {value->text, value->length}});
        enum status st = kv_txn_send(store->client, txn, &(struct kv_reply){ignore, NULL, 0}, NULL);
        if (st != OK)
            health_ail(store, st, "a key could not be written");
    }
    kv_txn_free(txn);
}

static void put_epoch(struct store_kv *store, const struct epoch *epoch)
{
    struct strbuf value;
    strbuf_init(&value);
    value_write_epoch(&value, epoch);
    put_in_epoch(store, store->epoch_key, &value);
    strbuf_release(&value);
}

static void create_epoch(struct store_kv *store)
{
    uint8_t random[10];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return;
    put_epoch(store, &(struct epoch){.lineage = id_make(clock_now().wall, random),
                                     .cluster_id = store->loading_sign.cluster_id});
}

/* Adds the cluster id to an epoch that an older version wrote, unless there are signs of a restore:
 * from then on restores show. The generation stays. */
static void complete_epoch(struct store_kv *store)
{
    struct epoch epoch = store->mirror.epoch;
    epoch.cluster_id = store->loading_sign.cluster_id;
    if (epoch.cluster_id)
        put_epoch(store, &epoch);
}

/* All nodes see the halt, and stop as well. */
static void put_halt(struct store_kv *store)
{
    put_in_epoch(store, store->halt_key, &store->epoch.why);
}

/* Writes the keys that are missing in etcd. */
static void write_keys(struct store_kv *store)
{
    if (store->epoch.is_rolled_back && !store->mirror.halt)
        put_halt(store);
    if (!store->mirror.epoch.mod_revision)
        create_epoch(store);
    else if (!store->mirror.epoch.cluster_id && !epoch_is_halted(store))
        complete_epoch(store);
}

/* ---- what was seen ---- */

struct epoch_sign epoch_sign(const struct kv_result *result)
{
    return (struct epoch_sign){
        .revision = result->revision, .term = result->term, .cluster_id = result->cluster_id};
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

static void learn(struct store_kv *store, struct epoch_sign sign, const struct epoch_seen *before)
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

static bool may_be_same(uint64_t cluster_id, uint64_t other)
{
    return !cluster_id || !other || cluster_id == other;
}

bool epoch_is_same_cluster(const struct store_kv *store, uint64_t cluster_id)
{
    return may_be_same(store->loading_sign.cluster_id, cluster_id);
}

/* Was etcd restored again during the halt? */
static bool is_older_still(const struct store_kv *store, struct epoch_sign sign)
{
    const struct epoch_sign *loaded = &store->loading_sign;
    return store->is_loaded && (sign.revision < loaded->revision ||
                                (loaded->cluster_id && sign.cluster_id != loaded->cluster_id));
}

struct epoch_asked epoch_ask(const struct store_kv *store)
{
    return (struct epoch_asked){.seen = store->epoch.seen,
                                .cluster_id = store->loading_sign.cluster_id,
                                .epoch_revision = store->mirror.epoch.mod_revision,
                                .halt_revision = store->mirror.halt_revision};
}

bool epoch_saw(struct store_kv *store, struct epoch_sign sign, const struct epoch_asked *asked,
               bool wrote)
{
    const struct epoch_memory *memory = &store->epoch;
    bool is_other = !may_be_same(asked->cluster_id, sign.cluster_id) ||
                    !epoch_is_same_cluster(store, sign.cluster_id);
    bool is_older = memory->is_rolled_back ? is_older_still(store, sign)
                                           : went_back(memory, sign, &asked->seen);
    if (wrote && !memory->is_rolled_back) /* a write increases the revision */
        is_older |= sign.revision == asked->seen.revision;
    if (is_other || is_older) {
        if (store->is_loaded) /* else it is being read */
            load_fail(store, E_UNREACHABLE,
                      "its state is older than before; everything is read again");
        return false;
    }
    if (!memory->is_rolled_back)
        learn(store, sign, &asked->seen);
    return true;
}

/* ---- what is in the mirror ---- */

/* The backup is from before the last lift, or two lifts began the same generation. */
static bool is_other_past(const struct epoch_memory *memory, const struct epoch *epoch)
{
    bool is_other_lift = epoch->generation == memory->generation && epoch->stamp && memory->stamp &&
                         epoch->stamp != memory->stamp;
    return id_compare(&epoch->lineage, &memory->lineage) == 0 &&
           (epoch->generation < memory->generation || is_other_lift);
}

/* Was the mirror's content restored from a backup? *why names the sign. */
static bool is_restored(const struct store_kv *store, struct epoch_sign sign, struct strbuf *why)
{
    const struct epoch_memory *memory = &store->epoch;
    const struct epoch *epoch = &store->mirror.epoch;
    const struct epoch_seen *before = &store->loading_seen;
    const char *server = kv_client_kind(store->client)->name;
    strbuf_reset(why);
    if (!epoch->mod_revision) { /* a new store, unless this process has seen another one there */
        if (memory->is_adopted)
            strbuf_addf(why, "all data of peal in %s are gone: they were deleted, or never on disk",
                        server);
        return why->length > 0;
    }
    bool is_now = id_compare(&epoch->lineage, &memory->lineage) == 0 &&
                  epoch->generation == memory->generation;
    if (!may_be_same(epoch->cluster_id, sign.cluster_id))
        strbuf_addf(why,
                    "%s's cluster id is %" PRIx64 ", and its data are of cluster %" PRIx64
                    ": they were restored from a backup, or copied",
                    server, sign.cluster_id, epoch->cluster_id);
    else if (is_other_past(memory, epoch))
        strbuf_addf(why,
                    "%s was restored from a backup, and advanced (generation %" PRId64
                    ") without what this node has seen since (generation %" PRId64 ")",
                    server, epoch->generation, memory->generation);
    else if (is_now && is_other_cluster(memory, sign))
        strbuf_addf(why,
                    "%s's cluster id was %" PRIx64 " and is %" PRIx64
                    ": its data were restored from a backup, or copied, into another cluster",
                    server, memory->cluster_id, sign.cluster_id);
    else if (is_now && sign.revision < before->revision)
        strbuf_addf(why,
                    "%s's revision went back from %" PRId64 " to %" PRId64
                    ": it was restored from a backup",
                    server, before->revision, sign.revision);
    else if (is_now && memory->old_key_revision)
        strbuf_addf(why,
                    "the key of this node in %s was of revision %" PRId64
                    ", but had been written with revision %" PRId64
                    ": %s was restored from a backup",
                    server, memory->old_key_revision, memory->key_revision, server);
    else if (is_now && sign.term && sign.term < before->term)
        strbuf_addf(why,
                    "%s's term went back from %" PRIu64 " to %" PRIu64
                    ": it was restored from a backup",
                    server, before->term, sign.term);
    return why->length > 0;
}

/* Whoever goes on after a restore writes another epoch; until then there is a halt, or its signs.
 */
enum mirror_past epoch_past(const struct store_kv *store)
{
    const struct epoch_memory *memory = &store->epoch;
    const struct epoch *before = &store->mirror.epoch, *now = &store->loading.epoch;
    bool is_other_epoch = id_compare(&before->lineage, &now->lineage) != 0 ||
                          before->generation != now->generation || before->stamp != now->stamp;
    bool is_halted = epoch_is_halted(store) || store->loading.halt;
    bool is_back =
        memory->old_key_revision || went_back(memory, store->loading_sign, &memory->seen);
    return is_other_epoch || is_halted || is_back ? OTHER_PAST : SAME_PAST;
}

/* memory->why begins with the reason. */
static void halt(struct store_kv *store)
{
    store->epoch.is_rolled_back = true;
    strbuf_adds(&store->epoch.why,
                ". Ticks since then may have run already; nothing is claimed until someone runs"
                " `peal cluster advance-cursors`");
    write_keys(store);
    flow_fail_waiting(store, E_ROLLED_BACK);
    store_kv_wake(store);
}

/* halted_ms must be after the last restore. */
static void note_halt(struct store_kv *store, bool is_new)
{
    struct epoch_memory *memory = &store->epoch;
    if (!epoch_is_halted(store))
        memory->halted_ms = 0;
    else if (is_new || memory->halted_ms == 0)
        memory->halted_ms = clock_now().boot.ms;
}

void epoch_wrote_key(struct store_kv *store, int64_t revision)
{
    if (store->epoch.is_rolled_back || store->epoch.old_key_revision)
        return;
    store->epoch.key_revision = revision;
    write_soon(store);
}

void epoch_found_key(struct store_kv *store, int64_t revision)
{
    struct epoch_memory *memory = &store->epoch;
    if (memory->is_rolled_back || revision >= memory->key_revision || memory->old_key_revision)
        return;
    memory->old_key_revision = revision;
    if (store->is_loaded)
        load_fail(store, E_UNREACHABLE,
                  "it has an older key of this node; everything is read again");
}

/* Takes over the identity of the mirror as the current one. */
static void adopt(struct store_kv *store, struct epoch_sign sign)
{
    struct epoch_memory *memory = &store->epoch;
    const struct epoch *epoch = &store->mirror.epoch;
    bool is_other = id_compare(&memory->lineage, &epoch->lineage) != 0 ||
                    memory->generation != epoch->generation || memory->stamp != epoch->stamp;
    memory->lineage = epoch->lineage;
    memory->generation = epoch->generation;
    memory->stamp = epoch->stamp;
    memory->is_rolled_back = false;
    memory->is_adopted |= epoch->mod_revision > 0;
    if (is_other) {
        memory->seen = (struct epoch_seen){.revision = sign.revision, .named_term = sign.term};
        memory->key_revision = memory->old_key_revision = 0;
        store->loading_seen = memory->seen;
        memory->cluster_id = sign.cluster_id;
        memory->is_written = false;
        write_file(store); /* at once: a forgotten lift's generation would be used again */
    }
    write_keys(store);
}

void epoch_loaded(struct store_kv *store)
{
    struct epoch_memory *memory = &store->epoch;
    memory->epoch_revision = store->mirror.epoch.mod_revision;
    if (is_restored(store, store->loading_sign, &memory->why)) {
        halt(store);
    } else {
        adopt(store, store->loading_sign);
        learn(store, store->loading_sign, &store->loading_seen);
    }
    note_halt(store, true);
}

/* The epoch was created, completed or advanced; perhaps by a lift that was meant for the cluster
 * before a restore. */
static void take_epoch(struct store_kv *store, int64_t told)
{
    struct epoch_memory *memory = &store->epoch;
    const struct epoch *epoch = &store->mirror.epoch;
    struct epoch_sign sign = store->loading_sign;
    if (sign.revision < told)
        sign.revision = told;
    bool is_gone = !epoch->mod_revision && memory->is_adopted;
    if (!may_be_same(epoch->cluster_id, sign.cluster_id) || is_other_past(memory, epoch) ||
        is_gone) {
        is_restored(store, sign, &memory->why);
        halt(store);
    } else if (epoch->generation > memory->generation || !memory->is_rolled_back) {
        adopt(store, sign);
    }
}

bool epoch_is_as_asked(const struct store_kv *store, const struct epoch_asked *asked)
{
    return store->mirror.epoch.mod_revision == asked->epoch_revision &&
           store->mirror.halt_revision == asked->halt_revision;
}

bool epoch_is_restore_told(const struct store_kv *store)
{
    return store->mirror.epoch.mod_revision != store->epoch.epoch_revision ||
           store->mirror.halt_revision != store->epoch.halt_revision;
}

void epoch_feed_moved(struct store_kv *store)
{
    struct epoch_memory *memory = &store->epoch;
    const struct mirror *mirror = &store->mirror;
    int64_t told = kv_watch_next_revision(store->watch) - 1;
    if (mirror->epoch.mod_revision != memory->epoch_revision) {
        memory->epoch_revision = mirror->epoch.mod_revision;
        take_epoch(store, told);
    }
    if (!memory->is_rolled_back && told > memory->seen.revision) {
        memory->seen.revision = told;
        write_soon(store);
    }
    note_halt(store, false);
    if (mirror->halt_revision == memory->halt_revision)
        return;
    memory->halt_revision = mirror->halt_revision;
    if (mirror->halt)
        flow_fail_waiting(store, E_ROLLED_BACK);
}

void epoch_tick(struct store_kv *store)
{
    if (store->is_loaded && !store->is_half_told)
        write_keys(store);
}

/* ---- all of it ---- */

enum status epoch_init(struct store_kv *store, const char *path)
{
    struct epoch_memory *memory = &store->epoch;
    strbuf_init(&memory->why);
    memory->path = path ? strdup(path) : NULL;
    if (path && !memory->path)
        return E_NOMEM;
    read_file(store);
    return loop_timer_new(store->loop, on_timer, store, &memory->timer);
}

void epoch_release(struct store_kv *store)
{
    write_file(store);
    loop_timer_free(store->epoch.timer);
    strbuf_release(&store->epoch.why);
    free(store->epoch.path);
}
