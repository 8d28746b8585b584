/* Statements that read the tables. */
#include <inttypes.h>
#include <stdio.h>

#include "pg_play.h"

enum { CHANGES_MAX = 200, KEPT_EVERY = 1000 };

/* ---- the feed ---- */

static void add_change(PGresult *rows, const struct pg_play *pg, size_t first, size_t after)
{
    enum { REV = 3, TAG, KEYS, VALUES, CREATES, VERSIONS, LEASES };
    const struct etcd_model *model = pg->base.model;
    int64_t rev = model->log[first]->mod_revision;
    struct pg_array keys, values, creates, versions, leases;
    struct pg_array *const all[] = {&keys, &values, &creates, &versions, &leases};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        array_init(all[i]);
    for (size_t i = first; i < after; i++) {
        const struct model_version *version = model->log[i];
        array_bytes(&keys, version->key->bytes, version->key->length);
        array_bytes(&values, version->version ? version->value : NULL, version->length);
        array_int8(&creates, version->create_revision);
        array_int8(&versions, version->version);
        array_int8(&leases, version->lease);
    }
    rows_int8(rows, REV, rev);
    rows_int8(rows, TAG, play_tag(&pg->base, rev));
    for (int i = 0; i < (int)(sizeof(all) / sizeof(all[0])); i++)
        rows_array(rows, KEYS + i, all[i]);
}

static void add_head(PGresult *rows, const struct pg_play *pg)
{
    rows_add(rows);
    rows_int8(rows, 0, pg_visible_rev(pg));
    rows_int8(rows, 1, pg->base.incarnation);
}

/* Fewer than were asked for, now and then: who reads has to go on by itself. */
PGresult *pg_changes(struct pg_play *pg, int64_t after)
{
    enum { FLOOR = 2, COLUMNS = 10 };
    const struct etcd_model *model = pg->base.model;
    struct stage *stage = pg->base.stage;
    bool is_short = pg->base.serve->is_torn[0] || stage_chance(stage, 100);
    int64_t most = is_short ? 1 + stage_below(stage, 3) : CHANGES_MAX;
    PGresult *rows = rows_new(COLUMNS);
    for (size_t at = etcd_model_log_from(model, after + 1), next;
         at < model->log_count && PQntuples(rows) < most; at = next) {
        int64_t rev = model->log[at]->mod_revision;
        for (next = at; next < model->log_count && model->log[next]->mod_revision == rev;)
            next++;
        if (!pg_is_visible(pg, rev))
            continue;
        add_head(rows, pg);
        rows_int8(rows, FLOOR, model->compacted + 1);
        add_change(rows, pg, at, next);
    }
    if (PQntuples(rows) == 0) {
        add_head(rows, pg);
        rows_int8(rows, FLOOR, model->compacted + 1);
    }
    return rows;
}

/* ---- keys ---- */

static void add_key(PGresult *rows, const struct model_version *version)
{
    enum { KEY = 2, VALUE, CREATE_REV, MOD_REV, VERSION, LEASE };
    rows_bytes(rows, KEY, version->key->bytes, version->key->length);
    rows_bytes(rows, VALUE, version->value, version->length);
    rows_int8(rows, CREATE_REV, version->create_revision);
    rows_int8(rows, MOD_REV, version->mod_revision);
    rows_int8(rows, VERSION, version->version);
    rows_int8(rows, LEASE, version->lease);
}

PGresult *pg_list_rows(const struct pg_play *pg, const struct pg_query *query)
{
    enum { COLUMNS = 8 };
    const struct etcd_model *model = pg->base.model;
    ProtobufCBinaryData span[2];
    size_t first, after;
    PGresult *rows = rows_new(COLUMNS);
    for (int i = 0; i < 2; i++)
        span[i] = (ProtobufCBinaryData){query->params[i].length, (uint8_t *)query->params[i].bytes};
    etcd_model_span(model, span[0], span[1], &first, &after);
    for (size_t i = first; i < after; i++) {
        const struct model_version *version = pg_visible(pg, model->keys[i]);
        if (!version)
            continue;
        add_head(rows, pg);
        add_key(rows, version);
    }
    if (PQntuples(rows) == 0)
        add_head(rows, pg);
    return rows;
}

/* ---- leases ---- */

PGresult *pg_leases(struct pg_play *pg)
{
    enum { ID = 2, TTL_MS, BEATS, AGE_MS, COLUMNS };
    struct play *play = &pg->base;
    PGresult *rows = rows_new(COLUMNS);
    play_match_leases(play);
    for (size_t i = 0; i < play->lease_count; i++) {
        const struct play_lease *lease = &play->leases[i];
        add_head(rows, pg);
        rows_int8(rows, ID, lease->id);
        rows_int8(rows, TTL_MS, lease->ttl_ms);
        rows_int8(rows, BEATS, lease->beats);
        rows_int8(rows, AGE_MS, play_clock_ms(play) - lease->renewed_ms);
    }
    if (PQntuples(rows) == 0)
        add_head(rows, pg);
    return rows;
}

/* ---- of an opening ---- */

PGresult *pg_facts(const struct pg_play *pg, const struct pg_conn *conn)
{
    enum { REV, INCARNATION, FLOOR, TIMELINE, SYSTEM, DATABASE, BACKEND_PID, COLUMNS };
    char timeline[16], system[24];
    PGresult *rows = rows_new(COLUMNS);
    snprintf(timeline, sizeof(timeline), "%08X", pg->timeline);
    snprintf(system, sizeof(system), "%" PRId64, pg->system);
    rows_add(rows);
    rows_int8(rows, REV, pg_visible_rev(pg));
    rows_int8(rows, INCARNATION, pg->base.incarnation);
    rows_int8(rows, FLOOR, pg->base.model->compacted + 1);
    rows_text(rows, TIMELINE, timeline);
    rows_text(rows, SYSTEM, system);
    rows_text(rows, DATABASE, PG_DATABASE);
    rows_int8(rows, BACKEND_PID, conn->line.id);
    return rows;
}

/* Of the changes that are compacted, every thousandth is kept. */
PGresult *pg_tag_of(const struct pg_play *pg, int64_t revision)
{
    const struct etcd_model *model = pg->base.model;
    bool is_kept = revision > model->compacted || revision % KEPT_EVERY == 0;
    PGresult *rows = rows_new(1);
    if (revision > model->revision || !is_kept || !play_tag(&pg->base, revision))
        return rows;
    rows_add(rows);
    rows_int8(rows, 0, play_tag(&pg->base, revision));
    return rows;
}
