/* What the Redis that is played does: its commands, and the parts of the script beside txn. */
#include "redis_play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"

enum { SCRIPT_ARGS_AT = 3 + REDIS_DATA_KEYS, SHA = 40 };

void redis_set_incarnation(struct play *play, int64_t incarnation)
{
    play->incarnation = incarnation;
    play->model->cluster_id = redis_cluster_id(incarnation);
}

redisReply *script_head(struct play *play)
{
    int64_t rev = play->model->revision;
    redisReply *head = reply_array(0);
    reply_add(head, reply_text("%" PRId64, rev));
    reply_add(head, reply_text("%" PRId64, play->incarnation));
    reply_add(head, reply_text("%" PRId64, play_tag(play, rev)));
    reply_add(head, reply_text("%" PRId64, play->model->compacted + 1));
    return head;
}

static redisReply *with_head(struct play *play, redisReply *second)
{
    redisReply *reply = reply_array(0);
    reply_add(reply, script_head(play));
    reply_add(reply, second);
    return reply;
}

/* ---- leases ---- */

static redisReply *do_grant(struct play *play, const struct redis_text *args)
{
    play_grant(play, strtoll(args[0].bytes, NULL, 10), strtoll(args[1].bytes, NULL, 10),
               args[2].bytes);
    return with_head(play, reply_int(1));
}

static redisReply *do_revoke(struct play *play, const struct redis_text *args, int machine)
{
    bool is_done =
        play_revoke(play, strtoll(args[0].bytes, NULL, 10), strtoll(args[1].bytes, NULL, 10),
                    strtoll(args[2].bytes, NULL, 10), machine);
    return with_head(play, reply_int(is_done));
}

static redisReply *do_beat(struct play *play, const struct redis_text *args, int machine)
{
    const struct play_lease *lease = play_beat(play, strtoll(args[0].bytes, NULL, 10), machine);
    return with_head(play, reply_int(lease ? lease->ttl_ms : 0));
}

static redisReply *do_look(struct play *play)
{
    redisReply *found = reply_array(0);
    play_match_leases(play);
    for (size_t i = 0; i < play->lease_count; i++) {
        const struct play_lease *lease = &play->leases[i];
        reply_add(found, reply_text("%" PRId64, lease->id));
        reply_add(found, reply_text("%" PRId64, lease->ttl_ms));
        reply_add(found, reply_text("%" PRId64, lease->beats));
        reply_add(found, reply_text("%" PRId64, play_clock_ms(play) - lease->renewed_ms));
    }
    return with_head(play, found);
}

/* ---- the feed ---- */

static void add_change(struct strbuf *to, const struct model_version *version)
{
    struct strbuf entry;
    strbuf_init(&entry);
    if (version->version)
        script_entry(&entry, version);
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
static redisReply *do_xread(struct redis_conn *conn, const struct redis_text *argv)
{
    struct play *play = play_of(conn->line.loop->net);
    int64_t after = strtoll(argv[7].bytes, NULL, 10), wait_ms = strtoll(argv[2].bytes, NULL, 10);
    redisReply *reply = read_stream(play, after);
    conn->line.reads_feed = true;
    replica_read(conn, (struct redis_play *)play);
    if (reply)
        return reply;
    conn->blocked_after = after;
    line_busy(&conn->line, play->stage->now_ms + wait_ms);
    return NULL;
}

/* XRANGE key (id + COUNT n, between MULTI and EXEC */
static redisReply *queue_xrange(struct redis_conn *conn, const struct redis_text *argv)
{
    conn->queued_after = strtoll(argv[2].bytes + 1, NULL, 10);
    conn->queued_most = strtoul(argv[5].bytes, NULL, 10);
    return reply_status("QUEUED");
}

static redisReply *do_exec(const struct redis_conn *conn, struct play *play)
{
    return with_head(play, read_changes(play, conn->queued_after, conn->queued_most));
}

void redis_tell(struct play *play)
{
    struct line *line, *next;
    for (line = TAILQ_FIRST(&play->lines.list); line; line = next) {
        const struct redis_conn *conn = (struct redis_conn *)line;
        next = TAILQ_NEXT(line, entry);
        bool is_reading = line->is_busy && !conn->is_in_wait && !line->is_ended;
        redisReply *reply = is_reading ? read_stream(play, conn->blocked_after) : NULL;
        if (reply) {
            line_answer(line, reply);
            line_go_on(line);
        }
    }
}

/* ---- lists ---- */

static redisReply *do_page(struct play *play, const struct redis_text *args)
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
        script_entry(&entry, version);
        reply_add(found, reply_bytes(key->bytes, key->length));
        reply_add(found, reply_bytes(entry.text, entry.length));
        strbuf_release(&entry);
    }
    return with_head(play, found);
}

/* ---- opening ---- */

static bool is_rolled_back(const struct play *play, int64_t seen, int64_t tag)
{
    return play->model->revision < seen || (play_tag(play, seen) && play_tag(play, seen) != tag);
}

/* The revision that was seen, its tag, its incarnation, a new one, the seat, leases. */
static redisReply *do_open(struct play *play, const struct redis_text *args)
{
    int64_t numbers[4], others = 0;
    for (int i = 0; i < 4; i++)
        numbers[i] = strtoll(args[i].bytes, NULL, 10);
    if (numbers[0] > 0 && numbers[2] == play->incarnation &&
        is_rolled_back(play, numbers[0], numbers[1])) {
        stage_log(play->stage, "Redis is found to be rolled back");
        redis_set_incarnation(play, numbers[3]);
    }
    play_match_leases(play);
    for (char *at = args[5].bytes; *at; at += strspn(at, " ")) {
        struct play_lease *lease = play_find_lease(play, strtoll(at, &at, 10));
        if (lease)
            snprintf(lease->place, sizeof(lease->place), "%s", args[4].bytes);
    }
    for (size_t i = 0; i < play->lease_count; i++)
        others += strcmp(play->leases[i].place, args[4].bytes) != 0;
    redisReply *reply = with_head(play, reply_int(1));
    reply_add(reply, reply_int(REDIS_FORMAT));
    reply_add(reply, reply_int(others));
    return reply;
}

/* ---- commands ---- */

static redisReply *do_script(struct redis_conn *conn, const struct redis_words *words)
{
    struct play *play = play_of(conn->line.loop->net);
    const struct redis_text *args = &words->argv[SCRIPT_ARGS_AT + 1];
    const char *what = words->argv[SCRIPT_ARGS_AT].bytes;
    bool may_grow = words->argv[1].bytes[0] == '0';
    if (may_grow && play->model->is_full)
        return reply_error("OOM command not allowed when used memory > 'maxmemory'.");
    if (strcmp(what, "txn") == 0)
        return script_txn(play, args);
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
        return do_revoke(play, args, conn->line.machine);
    if (strcmp(what, "beat") == 0)
        return do_beat(play, args, conn->line.machine);
    if (strcmp(what, "look") == 0)
        return do_look(play);
    redisReply *reply = reply_array(0); /* head, compact */
    reply_add(reply, script_head(play));
    return reply;
}

static redisReply *do_client(const struct redis_conn *conn, const struct redis_words *words)
{
    const char *what = words->argv[1].bytes;
    struct play *play = play_of(conn->line.loop->net);
    if (strcmp(what, "ID") == 0)
        return reply_int(conn->line.id);
    bool is_kill = strcmp(what, "KILL") == 0;
    struct line *other =
        lines_find(&play->lines, strtoll(words->argv[is_kill ? 3 : 2].bytes, NULL, 10));
    bool is_done = other && (is_kill || other->is_busy);
    if (is_done && is_kill) {
        line_end(other, play_server.lost);
    } else if (is_done) { /* a WAIT, too: then nobody has it yet */
        struct redis_conn *waiting = (struct redis_conn *)other;
        line_answer(other, waiting->is_in_wait ? reply_int(0) : reply_nil());
        waiting->is_in_wait = false;
        line_go_on(other);
    }
    return reply_int(is_done);
}

static redisReply *do_info(struct redis_conn *conn, const struct redis_play *play)
{
    replica_told(conn, play);
    return reply_text(
        "redis_version:7.0.15\r\nrun_id:run%d\r\nmaster_replid:play%d\r\nrole:master\r\n"
        "cluster_enabled:0\r\nloading:0\r\naof_enabled:1\r\n"
        "aof_last_write_status:ok\r\nmaxmemory_policy:noeviction\r\n%s",
        play->base.runs, play->histories,
        play->has_replica ? "slave0:ip=10.0.0.2,port=6379,state=online\r\n" : "");
}

/* WAIT replicas ms */
static redisReply *do_wait(struct redis_conn *conn, const struct redis_words *words)
{
    replica_wait(conn, strtoll(words->argv[2].bytes, NULL, 10));
    return NULL;
}

static redisReply *do_load(const struct redis_words *words)
{
    char sha[SHA + 1];
    memset(sha, strncmp(words->argv[2].bytes, "#!lua\n", 6) == 0 ? '0' : '1', SHA);
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

redisReply *redis_do(struct redis_conn *conn, const struct redis_words *words)
{
    const char *what = words->argv[0].bytes;
    struct play *play = play_of(conn->line.loop->net);
    redisReply *reply;
    if (strcmp(what, "EVALSHA") == 0)
        reply = do_script(conn, words);
    else if (strcmp(what, "XREAD") == 0)
        reply = do_xread(conn, words->argv);
    else if (strcmp(what, "XRANGE") == 0)
        reply = queue_xrange(conn, words->argv);
    else if (strcmp(what, "EXEC") == 0)
        reply = do_exec(conn, play);
    else if (strcmp(what, "INCR") == 0)
        reply = reply_int(1);
    else if (strcmp(what, "WAIT") == 0)
        reply = do_wait(conn, words);
    else if (strcmp(what, "CLIENT") == 0)
        reply = do_client(conn, words);
    else if (strcmp(what, "INFO") == 0)
        reply = do_info(conn, (struct redis_play *)play);
    else if (strcmp(what, "SCRIPT") == 0)
        reply = do_load(words);
    else if (strcmp(what, "CONFIG") == 0)
        reply = do_fsync();
    else
        reply = reply_status("OK");
    arena_reset(&play->arena);
    return reply;
}

/* ---- as a server ---- */

static void init(struct play *play)
{
    replica_init((struct redis_play *)play);
}

static void release(struct play *play)
{
    replica_release((struct redis_play *)play);
}

static void made(struct play *play)
{
    redis_set_incarnation(play, play->incarnation);
}

static void changed(struct play *play, struct model_version *const *versions, size_t count)
{
    replica_changed((struct redis_play *)play, versions, count);
}

static void froze(struct play *play, bool is_replica_frozen)
{
    replica_freeze((struct redis_play *)play, is_replica_frozen);
}

static void killed(struct play *play)
{
    struct redis_play *redis = (struct redis_play *)play;
    bool is_promoted = stage_chance(play->stage, 700) && replica_promote(redis);
    lines_end(&play->lines, play_server.lost);
    if (!is_promoted)
        replica_catch_up(redis);
}

static void restored(struct play *play, int64_t revision, bool keeps_id)
{
    replica_catch_up((struct redis_play *)play);
    etcd_model_restore(play->model, revision, true);
    if (!keeps_id)
        redis_set_incarnation(play, play_any_number(play));
}

const struct play_server play_server = {.size = sizeof(struct redis_play),
                                        .lines = &redis_line_ops,
                                        .url = "redis://127.0.0.1",
                                        .lost = "the server closed the connection",
                                        .open_client = redis_client_new,
                                        .init = init,
                                        .release = release,
                                        .made = made,
                                        .changed = changed,
                                        .told = redis_tell,
                                        .froze = froze,
                                        .killed = killed,
                                        .restored = restored};
