/* What the Redis that is played does: its commands, and the parts of the script beside txn. */
#include "play.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv_backend.h"
#include "redis_internal.h"

enum { SCRIPT_ARGS_AT = 3 + REDIS_DATA_KEYS, SHA = 40 };

/* ---- the state beside the keys ---- */

void play_set_incarnation(struct play *play, int64_t incarnation)
{
    play->incarnation = incarnation;
    play->model->cluster_id = redis_cluster_id(incarnation);
}

void play_note_tag(struct play *play, int64_t before, int64_t tag, const char *branches)
{
    size_t at = (size_t)before + 1;
    while (at >= play->tag_room) {
        size_t room = play->tag_room ? 2 * play->tag_room : 1024;
        play->tags = realloc(play->tags, room * sizeof(*play->tags));
        if (!play->tags)
            abort();
        memset(play->tags + play->tag_room, 0, (room - play->tag_room) * sizeof(*play->tags));
        play->tag_room = room;
    }
    free(play->tags[at].branches);
    play->tags[at] = (struct play_tag){tag, strdup(branches)};
}

redisReply *play_head(struct play *play)
{
    int64_t rev = play->model->revision;
    int64_t tag = rev < (int64_t)play->tag_room ? play->tags[rev].tag : 0;
    redisReply *head = reply_array(0);
    reply_add(head, reply_text("%" PRId64, rev));
    reply_add(head, reply_text("%" PRId64, play->incarnation));
    reply_add(head, reply_text("%" PRId64, tag));
    reply_add(head, reply_text("%" PRId64, play->model->compacted + 1));
    return head;
}

static redisReply *with_head(struct play *play, redisReply *second)
{
    redisReply *reply = reply_array(0);
    reply_add(reply, play_head(play));
    reply_add(reply, second);
    return reply;
}

/* ---- leases: those of the model, with counters ---- */

struct play_lease *play_find_lease(struct play *play, int64_t id)
{
    for (size_t i = 0; i < play->lease_count; i++)
        if (play->leases[i].id == id)
            return &play->leases[i];
    return NULL;
}

static struct play_lease *need_lease(struct play *play, int64_t id, int64_t ttl_ms)
{
    struct play_lease *lease = play_find_lease(play, id);
    if (lease)
        return lease;
    if (play->lease_count == play->lease_room) {
        play->lease_room = play->lease_room ? 2 * play->lease_room : 16;
        play->leases = realloc(play->leases, play->lease_room * sizeof(*play->leases));
        if (!play->leases)
            abort();
    }
    lease = &play->leases[play->lease_count++];
    *lease = (struct play_lease){.id = id, .ttl_ms = ttl_ms, .renewed_ms = play->stage->now_ms};
    return lease;
}

/* After a restore those are there that were there then. */
static void match_leases(struct play *play)
{
    for (size_t i = 0; i < play->lease_count;)
        if (!etcd_model_lease(play->model, play->leases[i].id))
            play->leases[i] = play->leases[--play->lease_count];
        else
            i++;
    for (size_t i = 0; i < play->model->lease_count; i++) {
        const struct model_lease *lease = &play->model->leases[i];
        need_lease(play, lease->id, lease->ttl_s * 1000);
    }
}

static redisReply *do_grant(struct play *play, const struct play_text *args)
{
    int64_t id = strtoll(args[0].bytes, NULL, 10), ttl_ms = strtoll(args[1].bytes, NULL, 10);
    if (!etcd_model_lease(play->model, id))
        (void)etcd_model_grant(play->model, id, ttl_ms / 1000);
    struct play_lease *lease = need_lease(play, id, ttl_ms);
    lease->ttl_ms = ttl_ms;
    lease->renewed_ms = play->stage->now_ms;
    snprintf(lease->seat, sizeof(lease->seat), "%s", args[2].bytes);
    return with_head(play, reply_int(1));
}

static redisReply *do_revoke(struct play *play, const struct play_text *args, int machine)
{
    int64_t id = strtoll(args[0].bytes, NULL, 10), beats = strtoll(args[1].bytes, NULL, 10);
    match_leases(play);
    const struct play_lease *lease = play_find_lease(play, id);
    if (!lease || (beats >= 0 && lease->beats != beats))
        return with_head(play, reply_int(0));
    const struct model_lease *own = etcd_model_lease(play->model, id);
    struct etcd_serve *serve = play->serve;
    if (own->machine != machine && beats < 0 && serve->revoking)
        serve->revoking(serve->context, own->machine);
    play_note_tag(play, play->model->revision, strtoll(args[2].bytes, NULL, 10), "");
    (void)etcd_model_revoke(play->model, id);
    match_leases(play);
    return with_head(play, reply_int(1));
}

static redisReply *do_beat(struct play *play, const struct play_text *args, int machine)
{
    match_leases(play);
    struct play_lease *lease = play_find_lease(play, strtoll(args[0].bytes, NULL, 10));
    if (!lease)
        return with_head(play, reply_int(0));
    lease->beats++;
    lease->renewed_ms = play->stage->now_ms;
    etcd_model_lease(play->model, lease->id)->machine = machine;
    return with_head(play, reply_int(lease->ttl_ms));
}

static redisReply *do_look(struct play *play)
{
    redisReply *found = reply_array(0);
    match_leases(play);
    for (size_t i = 0; i < play->lease_count; i++) {
        const struct play_lease *lease = &play->leases[i];
        reply_add(found, reply_text("%" PRId64, lease->id));
        reply_add(found, reply_text("%" PRId64, lease->ttl_ms));
        reply_add(found, reply_text("%" PRId64, lease->beats));
        reply_add(found, reply_text("%" PRId64, play->stage->now_ms - lease->renewed_ms));
    }
    return with_head(play, found);
}

/* ---- the feed ---- */

static void add_change(struct strbuf *to, const struct model_version *version)
{
    struct strbuf entry;
    strbuf_init(&entry);
    if (version->version)
        play_entry(&entry, version);
    const size_t lengths[] = {version->key->length, entry.length};
    const void *bytes[] = {version->key->bytes, entry.text};
    for (int i = 0; i < 2; i++) {
        for (int shift = 24; shift >= 0; shift -= 8)
            strbuf_addc(to, (char)(lengths[i] >> shift));
        strbuf_add(to, bytes[i], lengths[i]);
    }
    strbuf_release(&entry);
}

/* {{id, {"c", changes}}, ...} */
static redisReply *read_changes(const struct play *play, int64_t after, size_t most)
{
    const struct etcd_model *model = play->model;
    redisReply *items = reply_array(0);
    for (size_t at = etcd_model_log_from(model, after + 1);
         at < model->log_count && items->elements < most;) {
        int64_t rev = model->log[at]->mod_revision;
        struct strbuf text;
        strbuf_init(&text);
        for (; at < model->log_count && model->log[at]->mod_revision == rev; at++)
            add_change(&text, model->log[at]);
        redisReply *item = reply_array(0), *fields = reply_array(0);
        reply_add(fields, reply_bytes("c", 1));
        reply_add(fields, reply_bytes(text.text, text.length));
        reply_add(item, reply_text("%" PRId64 "-0", rev));
        reply_add(item, fields);
        reply_add(items, item);
        strbuf_release(&text);
    }
    return items;
}

static redisReply *read_stream(const struct play *play, int64_t after)
{
    redisReply *items = read_changes(play, after, 100);
    if (items->elements == 0) {
        freeReplyObject(items);
        return NULL;
    }
    redisReply *stream = reply_array(0), *all = reply_array(0);
    reply_add(stream, reply_bytes("feed", 4));
    reply_add(stream, items);
    reply_add(all, stream);
    return all;
}

/* XREAD BLOCK ms COUNT n STREAMS key id */
static redisReply *do_xread(struct play_conn *conn, const struct play_text *argv)
{
    struct play *play = conn->play;
    int64_t after = strtoll(argv[7].bytes, NULL, 10), wait_ms = strtoll(argv[2].bytes, NULL, 10);
    redisReply *reply = read_stream(play, after);
    conn->reads_feed = true;
    if (reply)
        return reply;
    conn->is_blocked = true;
    conn->blocked_after = after;
    task_at(play->stage, &conn->block_task, play->stage->now_ms + wait_ms);
    return NULL;
}

/* XRANGE key (id + COUNT n, between MULTI and EXEC */
static redisReply *queue_xrange(struct play_conn *conn, const struct play_text *argv)
{
    conn->queued_after = strtoll(argv[2].bytes + 1, NULL, 10);
    conn->queued_most = strtoul(argv[5].bytes, NULL, 10);
    return reply_status("QUEUED");
}

static redisReply *do_exec(const struct play_conn *conn)
{
    return with_head(conn->play, read_changes(conn->play, conn->queued_after, conn->queued_most));
}

void play_tell(struct play *play)
{
    struct play_conn *conn, *next;
    for (conn = TAILQ_FIRST(&play->conns); conn; conn = next) {
        next = TAILQ_NEXT(conn, entry);
        bool is_reading = conn->is_blocked && !conn->is_in_wait && !conn->is_ended;
        redisReply *reply = is_reading ? read_stream(play, conn->blocked_after) : NULL;
        if (reply) {
            play_answer(conn, reply);
            play_conn_unblock(conn);
        }
    }
}

/* ---- lists ---- */

static redisReply *do_page(struct play *play, const struct play_text *args)
{
    const struct etcd_model *model = play->model;
    size_t first, after, most = strtoul(args[2].bytes, NULL, 10);
    redisReply *found = reply_array(0);
    etcd_model_span(model, (ProtobufCBinaryData){args[0].length, (uint8_t *)args[0].bytes},
                    (ProtobufCBinaryData){args[1].length, (uint8_t *)args[1].bytes}, &first,
                    &after);
    for (size_t i = first; i < after && found->elements < 2 * most; i++) {
        const struct model_key *key = model->keys[i];
        const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
        bool is_passed = args[3].length && *args[3].bytes == '1' && key->length == args[0].length &&
                         memcmp(key->bytes, args[0].bytes, key->length) == 0;
        if (!version || is_passed)
            continue;
        struct strbuf entry;
        strbuf_init(&entry);
        play_entry(&entry, version);
        reply_add(found, reply_bytes(key->bytes, key->length));
        reply_add(found, reply_bytes(entry.text, entry.length));
        strbuf_release(&entry);
    }
    return with_head(play, found);
}

/* ---- opening ---- */

static bool is_rolled_back(const struct play *play, int64_t seen, int64_t tag)
{
    return play->model->revision < seen ||
           (seen < (int64_t)play->tag_room && play->tags[seen].tag && play->tags[seen].tag != tag);
}

/* The revision that was seen, its tag, its incarnation, a new one, the seat, leases. */
static redisReply *do_open(struct play *play, const struct play_text *args)
{
    int64_t numbers[4], others = 0;
    for (int i = 0; i < 4; i++)
        numbers[i] = strtoll(args[i].bytes, NULL, 10);
    if (numbers[0] > 0 && numbers[2] == play->incarnation &&
        is_rolled_back(play, numbers[0], numbers[1])) {
        stage_log(play->stage, "Redis is found to be rolled back");
        play_set_incarnation(play, numbers[3]);
    }
    match_leases(play);
    for (char *at = args[5].bytes; *at; at += strspn(at, " ")) {
        struct play_lease *lease = play_find_lease(play, strtoll(at, &at, 10));
        if (lease)
            snprintf(lease->seat, sizeof(lease->seat), "%s", args[4].bytes);
    }
    for (size_t i = 0; i < play->lease_count; i++)
        others += strcmp(play->leases[i].seat, args[4].bytes) != 0;
    redisReply *reply = with_head(play, reply_int(1));
    reply_add(reply, reply_int(REDIS_FORMAT));
    reply_add(reply, reply_int(others));
    return reply;
}

/* ---- commands ---- */

static redisReply *do_script(struct play_conn *conn, const struct play_command *command)
{
    struct play *play = conn->play;
    const struct play_text *args = &command->argv[SCRIPT_ARGS_AT + 1];
    const char *what = command->argv[SCRIPT_ARGS_AT].bytes;
    bool may_grow = command->argv[1].bytes[0] == '0';
    if (may_grow && play->model->is_full)
        return reply_error("OOM command not allowed when used memory > 'maxmemory'.");
    if (strcmp(what, "txn") == 0)
        return play_txn(play, args);
    if (strcmp(what, "open") == 0)
        return do_open(play, args);
    if (strcmp(what, "page") == 0)
        return do_page(play, args);
    if (strcmp(what, "changes") == 0)
        return with_head(play, read_changes(play, strtoll(args[0].bytes, NULL, 10),
                                            strtoul(args[1].bytes, NULL, 10)));
    if (strcmp(what, "grant") == 0)
        return do_grant(play, args);
    if (strcmp(what, "revoke") == 0)
        return do_revoke(play, args, conn->machine);
    if (strcmp(what, "beat") == 0)
        return do_beat(play, args, conn->machine);
    if (strcmp(what, "look") == 0)
        return do_look(play);
    redisReply *reply = reply_array(0); /* head, compact */
    reply_add(reply, play_head(play));
    return reply;
}

static struct play_conn *find_conn(struct play *play, const char *id)
{
    struct play_conn *conn;
    TAILQ_FOREACH (conn, &play->conns, entry)
        if (conn->id == strtoll(id, NULL, 10))
            return conn;
    return NULL;
}

static redisReply *do_client(struct play_conn *conn, const struct play_command *command)
{
    const char *what = command->argv[1].bytes;
    if (strcmp(what, "ID") == 0)
        return reply_int(conn->id);
    bool is_kill = strcmp(what, "KILL") == 0;
    struct play_conn *other = find_conn(conn->play, command->argv[is_kill ? 3 : 2].bytes);
    bool is_done = other && (is_kill || other->is_blocked);
    if (is_done && is_kill) {
        play_conn_end(other, "the server closed the connection");
    } else if (is_done) { /* a WAIT, too: then nobody has it yet */
        play_answer(other, other->is_in_wait ? reply_int(0) : reply_nil());
        other->is_in_wait = false;
        play_conn_unblock(other);
    }
    return reply_int(is_done);
}

static redisReply *do_info(const struct play *play)
{
    return reply_text(
        "redis_version:7.0.15\r\nrun_id:run%d\r\nmaster_replid:play%d\r\nrole:master\r\n"
        "cluster_enabled:0\r\nloading:0\r\naof_enabled:1\r\n"
        "aof_last_write_status:ok\r\nmaxmemory_policy:noeviction\r\n%s",
        play->runs, play->histories,
        play->has_replica ? "slave0:ip=10.0.0.2,port=6379,state=online\r\n" : "");
}

/* WAIT replicas ms */
static redisReply *do_wait(struct play_conn *conn, const struct play_command *command)
{
    play_replica_wait(conn, strtoll(command->argv[2].bytes, NULL, 10));
    return NULL;
}

static redisReply *do_load(const struct play_command *command)
{
    char sha[SHA + 1];
    memset(sha, strncmp(command->argv[2].bytes, "#!lua\n", 6) == 0 ? '0' : '1', SHA);
    sha[SHA] = '\0';
    return reply_bytes(sha, SHA);
}

static redisReply *do_fsync(void)
{
    redisReply *reply = reply_array(0);
    reply_add(reply, reply_bytes("appendfsync", 11));
    reply_add(reply, reply_bytes("always", 6));
    return reply;
}

redisReply *play_do(struct play_conn *conn, const struct play_command *command)
{
    const char *what = command->argv[0].bytes;
    redisReply *reply;
    if (strcmp(what, "EVALSHA") == 0)
        reply = do_script(conn, command);
    else if (strcmp(what, "XREAD") == 0)
        reply = do_xread(conn, command->argv);
    else if (strcmp(what, "XRANGE") == 0)
        reply = queue_xrange(conn, command->argv);
    else if (strcmp(what, "EXEC") == 0)
        reply = do_exec(conn);
    else if (strcmp(what, "INCR") == 0)
        reply = reply_int(1);
    else if (strcmp(what, "WAIT") == 0)
        reply = do_wait(conn, command);
    else if (strcmp(what, "CLIENT") == 0)
        reply = do_client(conn, command);
    else if (strcmp(what, "INFO") == 0)
        reply = do_info(conn->play);
    else if (strcmp(what, "SCRIPT") == 0)
        reply = do_load(command);
    else if (strcmp(what, "CONFIG") == 0)
        reply = do_fsync();
    else
        reply = reply_status("OK");
    arena_reset(&conn->play->arena);
    return reply;
}
