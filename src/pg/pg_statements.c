/* The statements that are prepared on each connection. */
#include <inttypes.h>
#include <stdio.h>

#include "pg_wire.h"

static const struct {
    const char *name, *sql;
} statements[PG_STATEMENTS] = {
    [PG_READ] = {"read", "SELECT * FROM kv_read_1($1::int[], $2::bool[], $3::int[], $4::bytea[], "
                         "$5::int[], $6::int[], $7::bigint[], $8::int[], $9::int[], $10::bytea[], "
                         "$11::bytea[], $12::bigint[], $13::int[], $14::bigint[], $15::int[])"},
    [PG_TXN] = {"txn", "SELECT * FROM kv_txn_1($1::int[], $2::bool[], $3::int[], $4::bytea[], "
                       "$5::int[], $6::int[], $7::bigint[], $8::int[], $9::int[], $10::bytea[], "
                       "$11::bytea[], $12::bigint[], $13::int[], $14::bigint[], $15::int[], "
                       "$16::int[], $17::int[], $18::bytea[], $19::bytea[], $20::bigint[], "
                       "$21::int[], $22::int[], $23::bytea[], $24::bytea[], $25::bigint, "
                       "$26::bigint, $27::int)"},
    [PG_LIST] = {"list",
                 "SELECT f.rev, f.incarnation, kv.key, kv.value, kv.create_rev, kv.mod_rev, "
                 "kv.version, kv.lease FROM kv_feed f LEFT JOIN kv ON kv.key >= $1::bytea "
                 "AND kv.key < $2::bytea WHERE f.one ORDER BY kv.key"},
    [PG_GRANT] = {"grant", "WITH made AS (INSERT INTO kv_leases (id, ttl_ms, timeline) VALUES "
                           "($1::bigint, $2::bigint, left(pg_walfile_name(pg_current_wal_lsn()), 8)"
                           ") ON CONFLICT (id) DO UPDATE SET beats = kv_leases.beats + 1, at = "
                           "clock_timestamp()) "
                           "SELECT true, rev, incarnation FROM kv_feed WHERE one"},
    [PG_REVOKE] = {"revoke", "SELECT * FROM kv_revoke_1($1::bigint, $2::bigint, $3::bigint, "
                             "$4::int = 1)"},
    [PG_CHANGES] = {"changes",
                    "SELECT f.rev, f.incarnation, o.rev, c.rev, c.tag, c.keys, c.vals, "
                    "c.creates, c.versions, c.leases FROM kv_feed f CROSS JOIN kv_floor "
                    "o LEFT JOIN LATERAL (SELECT * FROM kv_changes h WHERE h.rev > "
                    "$1::bigint ORDER BY h.rev LIMIT 200) c ON true WHERE f.one AND o.one "
                    "ORDER BY c.rev"},
    [PG_BEAT] = {"beat", "UPDATE kv_leases SET beats = beats + 1, at = clock_timestamp() WHERE "
                         "id = $1::bigint "
                         "RETURNING id, ttl_ms"},
    [PG_LEASES] = {"leases", "SELECT f.rev, f.incarnation, l.id, l.ttl_ms, l.beats, (extract(epoch "
                             "FROM clock_timestamp() - l.at) * 1000)::bigint FROM kv_feed f "
                             "LEFT JOIN kv_leases l ON true WHERE f.one"},
    [PG_COMPACT] = {"compact", "SELECT kv_compact_1(max(c.rev)) FROM kv_changes c WHERE c.rev < "
                               "$1::bigint AND c.at < now() - interval '10 minutes'"},
    [PG_UNBLOCK] =
        {"unblock",
         "SELECT count(pg_terminate_backend(a.pid)) FROM pg_locks l JOIN "
         "pg_stat_activity a ON a.pid = l.pid WHERE l.relation = "
         "'kv_feed'::regclass AND l.mode IN ('RowShareLock', 'RowExclusiveLock') AND l.granted "
         "AND a.wait_event = 'ClientRead' AND a.state_change < now() - "
         "interval '1 second' AND a.application_name LIKE 'peal kv %'"},
    [PG_FACTS] = {"facts",
                  "SELECT f.rev, f.incarnation, o.rev, left(pg_walfile_name(pg_current_wal_lsn()), "
                  "8), (SELECT system_identifier::text FROM pg_control_system()), "
                  "(SELECT oid::text FROM pg_database WHERE datname = current_database()), "
                  "pg_backend_pid()::bigint FROM kv_feed f, kv_floor o WHERE f.one AND o.one"},
    [PG_TAG] = {"tag", "SELECT tag FROM kv_changes WHERE rev = $1::bigint"},
    [PG_DRAW] = {"draw", "UPDATE kv_feed SET incarnation = $1::bigint WHERE one AND incarnation = "
                         "$2::bigint RETURNING incarnation"},
    [PG_END] = {"end", "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = "
                       "$1::bigint AND pid <> pg_backend_pid() AND application_name = $2::text"},
    [PG_COMPARED] =
        {"compared",
         "WITH mine AS (UPDATE kv_leases SET timeline = $1::text WHERE id = ANY "
         "($2::text::bigint[]) AND timeline <> $1::text) SELECT count(*) FROM kv_leases "
         "WHERE timeline <> $1::text AND id <> ALL ($2::text::bigint[])"},
};

const char *pg_statement_name(enum pg_statement statement)
{
    return statements[statement].name;
}

const char *pg_statement_sql(enum pg_statement statement)
{
    return statements[statement].sql;
}

void pg_application_name(uint64_t client_id, char ret[PG_APPLICATION_SIZE])
{
    snprintf(ret, PG_APPLICATION_SIZE, "peal kv %016" PRIx64, client_id);
}
