/* What the PostgreSQL that is played does with a statement: at once, or when it is committed. */
#include "pg_play.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "pg_internal.h"

enum {
    LOCK_TIMEOUT_MS = 1000, /* as in pg_connect.c */
    FLUSH_MS = 3,           /* of most commits ... */
    SLOW_FLUSH_MS = 400,    /* ... and of a few */
};

static const int64_t HOUR_MS = 3600000;

extern const char pg_schema_1_sql[];

static struct pg_play *pg_of(const struct pg_conn *conn)
{
    return (struct pg_play *)play_of(conn->line.loop->net);
}

/* ---- statements that are done at once ---- */

static PGresult *done(const struct pg_play *pg, bool is_done)
{
    PGresult *rows = rows_new(3);
    rows_add(rows);
    rows_bool(rows, 0, is_done);
    rows_int8(rows, 1, pg_visible_rev(pg));
    rows_int8(rows, 2, pg->base.incarnation);
    return rows;
}

static struct pg_answer *grant(struct pg_play *pg, const struct pg_query *query)
{
    char timeline[16];
    if (pg->base.model->is_full)
        return pg_answer_error("53100", "could not extend file: No space left on device");
    snprintf(timeline, sizeof(timeline), "%08X", pg->timeline);
    play_grant(&pg->base, pg_number(query, 0), pg_number(query, 1), timeline);
    return pg_answer_rows(done(pg, true));
}

static PGresult *beat(struct pg_play *pg, const struct pg_query *query, int machine)
{
    PGresult *rows = rows_new(2);
    const struct play_lease *lease = play_beat(&pg->base, pg_number(query, 0), machine);
    if (!lease)
        return rows;
    rows_add(rows);
    rows_int8(rows, 0, lease->id);
    rows_int8(rows, 1, lease->ttl_ms);
    return rows;
}

/* A process that is ended has undone what it was at; it is gone with the next look. */
static PGresult *end_process(struct pg_conn *conn, const struct pg_query *query)
{
    struct line *other = lines_find(conn->line.all, pg_number(query, 0));
    char name[PG_APPLICATION_SIZE];
    bool is_there = other && other != &conn->line && !other->is_ended;
    if (is_there)
        pg_application_name(((const struct pg_conn *)other)->client_id, name);
    is_there = is_there && strcmp(name, query->params[1].bytes) == 0;
    if (is_there)
        line_end(other, "terminating connection due to administrator command");
    return rows_of(is_there);
}

static PGresult *compared(struct pg_play *pg, const struct pg_query *query)
{
    struct play *play = &pg->base;
    const char *timeline = query->params[0].bytes;
    int64_t others = 0;
    play_match_leases(play);
    for (char *at = query->params[1].bytes; *at; at += strcspn(at, ",}") + 1) {
        struct play_lease *lease = play_find_lease(play, strtoll(at + (*at == '{'), NULL, 10));
        if (lease)
            snprintf(lease->place, sizeof(lease->place), "%s", timeline);
        if (at[strcspn(at, ",}")] == '}')
            break;
    }
    for (size_t i = 0; i < play->lease_count; i++)
        others += strcmp(play->leases[i].place, timeline) != 0;
    return rows_of(others);
}

static void set_incarnation(struct pg_play *pg, int64_t incarnation)
{
    struct pg_address address;
    struct strbuf why;
    struct pg_facts facts = {0};
    char system[24];
    strbuf_init(&why);
    if (pg_address_read(play_server.url, "the address", &address, &why) != OK)
        abort();
    snprintf(system, sizeof(system), "%" PRId64, pg->system);
    facts.system_id = hash_text(hash_text(hash_text(0, system), PG_DATABASE), address.schema);
    pg->base.incarnation = incarnation;
    pg->base.model->cluster_id = pg_cluster_id(&facts, incarnation);
    pg_address_release(&address);
    strbuf_release(&why);
}

static PGresult *draw(struct pg_play *pg, const struct pg_query *query)
{
    PGresult *rows = rows_new(1);
    if (pg->base.incarnation != pg_number(query, 1))
        return rows;
    stage_log(pg->base.stage, "PostgreSQL is found to be rolled back");
    set_incarnation(pg, pg_number(query, 0));
    rows_add(rows);
    rows_int8(rows, 0, pg->base.incarnation);
    return rows;
}

/* ---- transactions that may write ---- */

static struct pg_answer *revoke(struct pg_play *pg, const struct pg_query *query, int machine)
{
    int64_t before = pg->base.model->revision;
    bool is_done = play_revoke(&pg->base, pg_number(query, 0), pg_number(query, 1),
                               pg_number(query, 2), machine);
    if (pg->base.model->revision > before && pg_number(query, 3) == 1 && pg->has_lock)
        pg_notify(&pg->base);
    return pg_answer_rows(done(pg, is_done));
}

static struct pg_answer *transact(struct pg_conn *conn, const struct pg_query *query)
{
    struct pg_play *pg = pg_of(conn);
    return query->statement == PG_REVOKE ? revoke(pg, query, conn->line.machine)
                                         : pg_transact(pg, query);
}

static int64_t flush_ms(struct stage *stage)
{
    return stage_below(stage, stage_chance(stage, 5) ? SLOW_FLUSH_MS : FLUSH_MS);
}

/* Behind all that hold the lock before it. */
static void wait_for_lock(struct pg_conn *conn, struct pg_query *query)
{
    struct pg_play *pg = pg_of(conn);
    int64_t now_ms = pg->base.stage->now_ms;
    int64_t from_ms = pg->unlocked_ms > now_ms ? pg->unlocked_ms : now_ms;
    conn->line.goes_on = true;
    if (from_ms - now_ms > LOCK_TIMEOUT_MS) {
        pg_query_free(query);
        conn->answer = pg_answer_error("55P03", "canceling statement due to lock timeout");
        line_busy(&conn->line, now_ms + LOCK_TIMEOUT_MS);
        return;
    }
    conn->query = query;
    pg->unlocked_ms = from_ms + flush_ms(pg->base.stage);
    line_busy(&conn->line, pg->unlocked_ms);
}

/* Without the lock: it has its revision now, and is seen when it is committed. */
static void number_at_once(struct pg_conn *conn, struct pg_query *query)
{
    struct pg_play *pg = pg_of(conn);
    int64_t before = pg->base.model->revision;
    int64_t until_ms = pg->base.stage->now_ms + 1 + 10 * flush_ms(pg->base.stage);
    conn->answer = transact(conn, query);
    pg_query_free(query);
    if (pg->base.model->revision > before)
        pg_hide(pg, pg->base.model->revision, until_ms);
    conn->line.goes_on = true;
    line_busy(&conn->line, until_ms);
}

struct pg_answer *pg_commit(struct pg_conn *conn)
{
    struct pg_query *query = conn->query;
    struct pg_answer *answer = conn->answer;
    conn->query = NULL;
    conn->answer = NULL;
    if (query)
        answer = transact(conn, query);
    else if (!pg_of(conn)->has_lock)
        pg_notify(&pg_of(conn)->base);
    pg_query_free(query);
    arena_reset(&pg_of(conn)->base.arena);
    return answer;
}

/* ---- a statement ---- */

static struct pg_answer *answer_to(struct pg_conn *conn, const struct pg_query *query)
{
    struct pg_play *pg = pg_of(conn);
    switch ((int)query->statement) {
    case PG_READ:
        return pg_transact(pg, query);
    case PG_GRANT:
        return grant(pg, query);
    case PG_LIST:
        return pg_answer_rows(pg_list_rows(pg, query));
    case PG_CHANGES:
        return pg_answer_rows(pg_changes(pg, pg_number(query, 0)));
    case PG_BEAT:
        return pg_answer_rows(beat(pg, query, conn->line.machine));
    case PG_LEASES:
        return pg_answer_rows(pg_leases(pg));
    case PG_FACTS:
        return pg_answer_rows(pg_facts(pg, conn));
    case PG_TAG:
        return pg_answer_rows(pg_tag_of(pg, pg_number(query, 0)));
    case PG_DRAW:
        return pg_answer_rows(draw(pg, query));
    case PG_END:
        return pg_answer_rows(end_process(conn, query));
    case PG_COMPARED:
        return pg_answer_rows(compared(pg, query));
    default: /* it has nothing to compact, and nobody to end */
        return pg_answer_rows(rows_of(0));
    }
}

struct pg_answer *pg_do(struct pg_conn *conn, struct pg_query *query)
{
    if (query->statement == PG_TXN || query->statement == PG_REVOKE) {
        if (pg_of(conn)->has_lock)
            wait_for_lock(conn, query);
        else
            number_at_once(conn, query);
        return NULL;
    }
    struct pg_answer *answer = answer_to(conn, query);
    pg_query_free(query);
    arena_reset(&pg_of(conn)->base.arena);
    return answer;
}

/* ---- as a server ---- */

static int64_t any_clock_ms(struct stage *stage)
{
    return stage_chance(stage, 500) ? stage_below(stage, 2 * HOUR_MS) - HOUR_MS
                                    : stage_below(stage, 2000) - 1000;
}

static void init(struct play *play)
{
    struct pg_play *pg = (struct pg_play *)play;
    pg->timeline = 1;
    pg->system = 7000000000000000000;
    pg->has_lock = strstr(pg_schema_1_sql, "FROM kv_feed f WHERE f.one FOR UPDATE;") != NULL;
    play->clock_ahead_ms = any_clock_ms(play->stage);
}

static void release(struct play *play)
{
    (void)play;
}

static void made(struct play *play)
{
    set_incarnation((struct pg_play *)play, play->incarnation);
}

static void froze(struct play *play, bool is_replica_frozen)
{
    (void)play;
    (void)is_replica_frozen; /* nobody waits for it */
}

/* The replica that takes its place, or the machine that it starts on, has another clock. */
static void killed(struct play *play)
{
    struct pg_play *pg = (struct pg_play *)play;
    struct stage *stage = play->stage;
    const struct etcd_serve *serve = play->serve;
    bool is_promoted = stage_chance(stage, 600);
    lines_end(&play->lines, play_server.lost);
    pg->unlocked_ms = 0;
    if (stage_chance(stage, 300))
        play->clock_ahead_ms = any_clock_ms(stage);
    if (!is_promoted)
        return;
    pg->timeline++;
    stage_log(stage, "a replica takes the place of the server");
    if (serve->fall_behind && stage_chance(stage, 400))
        serve->fall_behind(serve->context, play->incarnation);
}

static void restored(struct play *play, int64_t revision, bool keeps_id)
{
    struct pg_play *pg = (struct pg_play *)play;
    pg->unlocked_ms = 0;
    pg->timeline += stage_chance(play->stage, 500);
    etcd_model_restore(play->model, revision, true);
    pg->system += !keeps_id;
    set_incarnation(pg, play->incarnation);
}

const struct play_server play_server = {.size = sizeof(struct pg_play),
                                        .lines = &pg_line_ops,
                                        .url = "postgresql://peal@127.0.0.1/peal",
                                        .lost = "server closed the connection unexpectedly",
                                        .open_client = pg_client_new,
                                        .init = init,
                                        .release = release,
                                        .made = made,
                                        .changed = play_tell_oracle,
                                        .told = pg_notify,
                                        .froze = froze,
                                        .killed = killed,
                                        .restored = restored};
