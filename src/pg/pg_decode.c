/* The rows of kv_txn_1 and kv_read_1 as a result: the first is the head (what 0), the others are
 * keys of an operation (1) or a count (2), in any order. */
#include <string.h>

#include "pg_internal.h"

enum { WHAT, OP, KEY, VALUE, CREATE_REV, MOD_REV, VERSION, LEASE };
enum { HEAD = 0, A_KEY = 1, A_COUNT = 2 };

int64_t pg_int8_at(const PGresult *rows, int row, int column)
{
    return PQgetlength(rows, row, column) == 8 ? pg_read_int8(PQgetvalue(rows, row, column)) : 0;
}

static int int4_at(const PGresult *rows, int row, int column)
{
    return PQgetlength(rows, row, column) == 4 ? pg_read_int4(PQgetvalue(rows, row, column)) : -1;
}

struct kv_bytes pg_bytes_at(const PGresult *rows, int row, int column)
{
    return (struct kv_bytes){PQgetvalue(rows, row, column), (size_t)PQgetlength(rows, row, column)};
}

static struct kv_pair pair_at(const PGresult *rows, int row)
{
    return (struct kv_pair){
        .key = pg_bytes_at(rows, row, KEY),
        .value = pg_bytes_at(rows, row, VALUE),
        .create_revision = pg_int8_at(rows, row, CREATE_REV),
        .mod_revision = pg_int8_at(rows, row, MOD_REV),
        .version = pg_int8_at(rows, row, VERSION),
        .lease = pg_int8_at(rows, row, LEASE),
    };
}

/* What the rows say of each operation. */
static enum status gather(struct pg_call *call, struct kv_op_result *ops)
{
    const PGresult *rows = call->rows;
    int count = PQntuples(rows);
    for (int row = 0; row < count; row++) {
        int what = int4_at(rows, row, WHAT), op = int4_at(rows, row, OP);
        if (what == HEAD)
            continue;
        if (op < 0 || op >= call->op_count)
            return E_CORRUPT;
        if (what == A_KEY)
            ops[op].kv_count++;
        else
            ops[op].count = pg_int8_at(rows, row, VERSION);
    }
    for (int op = 0; op < call->op_count; op++) {
        ops[op].kvs = arena_array(&call->request.arena, ops[op].kv_count, sizeof(*ops[op].kvs));
        if (!ops[op].kvs)
            return E_NOMEM;
        ops[op].kv_count = 0;
    }
    for (int row = 0; row < count; row++) {
        int op = int4_at(rows, row, OP);
        if (int4_at(rows, row, WHAT) == A_KEY)
            ((struct kv_pair *)ops[op].kvs)[ops[op].kv_count++] = pair_at(rows, row);
    }
    return OK;
}

enum status pg_decode_rows(struct pg_call *call)
{
    const PGresult *rows = call->rows;
    struct kv_txn_result txn;
    int head = 0;
    while (head < PQntuples(rows) && int4_at(rows, head, WHAT) != HEAD)
        head++;
    struct kv_op_result *ops =
        arena_array(&call->request.arena, (size_t)call->op_count, sizeof(*ops));
    if (!ops)
        return E_NOMEM;
    if (PQnfields(rows) != LEASE + 1 || head == PQntuples(rows))
        return E_CORRUPT;
    int64_t rev = pg_int8_at(rows, head, CREATE_REV);
    int64_t incarnation = pg_int8_at(rows, head, MOD_REV);
    bool is_own = pg_int8_at(rows, head, VERSION) != 0;
    enum status st = gather(call, ops);
    if (st == OK)
        st = kv_shape_result(&call->request.arena, call->shapes, ops,
                             pg_bytes_at(rows, head, VALUE), 1, &txn);
    if (st != OK)
        return st;
    pg_learn((struct pg_client *)call->request.base.client, call->link, rev, incarnation,
             is_own ? call->tag : 0);
    call->request.result.revision = rev;
    call->request.result.cluster_id = pg_cluster_id(&call->link->facts, incarnation);
    if (call->kind == PG_KIND_TXN) {
        call->request.result.op.kind = KV_OP_TXN;
        call->request.result.op.txn = txn;
    } else if (txn.op_count == 1) {
        call->request.result.op = txn.ops[0];
    }
    return OK;
}
