/* kv_txn_1 and kv_read_1: a transaction that comes as arrays. Rows are the head (what 0), keys of
 * an operation (1), counts (2). */
#include "pg_play.h"

enum param {
    PARENT,
    IN_ELSE,
    CMP_NODE,
    CMP_KEY,
    CMP_TARGET,
    CMP_RELATION,
    CMP_NUMBER,
    RANGE_NODE,
    RANGE_OP,
    RANGE_LOW,
    RANGE_HIGH,
    RANGE_LIMIT,
    RANGE_SORT,
    RANGE_MAX_CREATE,
    RANGE_FLAGS,
    PUT_NODE,
    PUT_OP,
    PUT_KEY,
    PUT_VALUE,
    PUT_LEASE,
    DEL_NODE,
    DEL_OP,
    DEL_LOW,
    DEL_HIGH,
    TAG,
    SEEN,
    HOW,
    PARAMS,
};

enum { FLAG_KEYS_ONLY = 1, FLAG_COUNT_ONLY = 2, HOW_NOTIFY = 1, HOW_PREVIOUS = 2 };
enum { WHAT, OP, KEY, VALUE, CREATE_REV, MOD_REV, VERSION, LEASE, COLUMNS };
enum { HEAD, A_KEY, A_COUNT };

/* ---- the arrays ---- */

static void read_levels(struct txn *txn, const struct pg_query *query, struct arena *arena)
{
    struct pg_elements parents = elements_of(query, PARENT), elses = elements_of(query, IN_ELSE);
    txn->levels = arena_array(arena, (size_t)parents.count, sizeof(*txn->levels));
    while (parents.count)
        txn->levels[txn->level_count++] =
            (struct txn_level){(int)elements_number(&parents) - 1, elements_number(&elses) != 0};
}

static void read_compares(struct txn *txn, const struct pg_query *query, struct arena *arena)
{
    struct pg_elements nodes = elements_of(query, CMP_NODE), keys = elements_of(query, CMP_KEY);
    struct pg_elements targets = elements_of(query, CMP_TARGET);
    struct pg_elements relations = elements_of(query, CMP_RELATION);
    struct pg_elements numbers = elements_of(query, CMP_NUMBER);
    txn->compares = arena_array(arena, (size_t)nodes.count, sizeof(*txn->compares));
    while (nodes.count)
        txn->compares[txn->compare_count++] =
            (struct txn_compare){.level = (int)elements_number(&nodes) - 1,
                                 .key = elements_bytes(&keys),
                                 .target = elements_number(&targets),
                                 .relation = elements_number(&relations),
                                 .number = elements_number(&numbers)};
}

/* The place of one more operation; its level is negative in an else. */
static struct txn_op *new_op(struct txn *txn, enum txn_kind kind, int64_t node, int64_t number)
{
    struct txn_op *op = &txn->ops[txn->op_count++];
    *op = (struct txn_op){.kind = kind,
                          .level = (int)(node < 0 ? -node : node) - 1,
                          .is_in_else = node < 0,
                          .number = number};
    return op;
}

static void read_ranges(struct txn *txn, const struct pg_query *query)
{
    struct pg_elements nodes = elements_of(query, RANGE_NODE), ops = elements_of(query, RANGE_OP);
    struct pg_elements lows = elements_of(query, RANGE_LOW), highs = elements_of(query, RANGE_HIGH);
    struct pg_elements limits = elements_of(query, RANGE_LIMIT);
    struct pg_elements sorts = elements_of(query, RANGE_SORT);
    struct pg_elements creates = elements_of(query, RANGE_MAX_CREATE);
    struct pg_elements flags = elements_of(query, RANGE_FLAGS);
    while (nodes.count) {
        int64_t node = elements_number(&nodes), number = elements_number(&ops);
        struct txn_op *op = new_op(txn, TXN_RANGE, node, number);
        int64_t flag = elements_number(&flags);
        op->low = elements_bytes(&lows);
        op->high = elements_bytes(&highs);
        op->limit = elements_number(&limits);
        op->sort = elements_number(&sorts);
        op->max_create = elements_number(&creates);
        op->keys_only = flag & FLAG_KEYS_ONLY;
        op->count_only = flag & FLAG_COUNT_ONLY;
    }
}

static void read_puts(struct txn *txn, const struct pg_query *query, bool want_previous)
{
    struct pg_elements nodes = elements_of(query, PUT_NODE), ops = elements_of(query, PUT_OP);
    struct pg_elements keys = elements_of(query, PUT_KEY), values = elements_of(query, PUT_VALUE);
    struct pg_elements leases = elements_of(query, PUT_LEASE);
    while (nodes.count) {
        int64_t node = elements_number(&nodes), number = elements_number(&ops);
        struct txn_op *op = new_op(txn, TXN_PUT, node, number);
        op->low = elements_bytes(&keys);
        op->value = elements_bytes(&values);
        op->lease = elements_number(&leases);
        op->want_previous = want_previous;
    }
}

static void read_deletes(struct txn *txn, const struct pg_query *query, bool want_previous)
{
    struct pg_elements nodes = elements_of(query, DEL_NODE), ops = elements_of(query, DEL_OP);
    struct pg_elements lows = elements_of(query, DEL_LOW), highs = elements_of(query, DEL_HIGH);
    while (nodes.count) {
        int64_t node = elements_number(&nodes), number = elements_number(&ops);
        struct txn_op *op = new_op(txn, TXN_DELETE, node, number);
        op->low = elements_bytes(&lows);
        op->high = elements_bytes(&highs);
        op->want_previous = want_previous;
    }
}

static void read_txn(struct txn *txn, const struct pg_query *query, struct arena *arena)
{
    bool is_write = query->statement == PG_TXN;
    bool want_previous = is_write && pg_number(query, HOW) & HOW_PREVIOUS;
    size_t ops = (size_t)elements_of(query, RANGE_NODE).count;
    read_levels(txn, query, arena);
    read_compares(txn, query, arena);
    if (is_write)
        ops += (size_t)(elements_of(query, PUT_NODE).count + elements_of(query, DEL_NODE).count);
    txn->ops = arena_array(arena, ops, sizeof(*txn->ops));
    read_ranges(txn, query);
    if (is_write) {
        read_puts(txn, query, want_previous);
        read_deletes(txn, query, want_previous);
        txn->tag = pg_number(query, TAG);
    }
}

/* ---- rows ---- */

static void add_head(PGresult *rows, const struct pg_play *pg, const char *branches, int64_t rev,
                     bool is_own)
{
    rows_add(rows);
    rows_int4(rows, WHAT, HEAD);
    rows_int4(rows, OP, 0);
    rows_text(rows, VALUE, branches);
    rows_int8(rows, CREATE_REV, rev);
    rows_int8(rows, MOD_REV, pg->base.incarnation);
    rows_int8(rows, VERSION, is_own);
    rows_int8(rows, LEASE, 0);
}

static void on_found(void *context, const struct txn_op *op, int64_t count)
{
    PGresult *rows = context;
    if (op->kind == TXN_PUT)
        return;
    rows_add(rows);
    rows_int4(rows, WHAT, A_COUNT);
    rows_int4(rows, OP, (int)op->number);
    rows_int8(rows, VERSION, count);
}

static void on_pair(void *context, const struct txn_op *op, const struct model_version *version)
{
    PGresult *rows = context;
    rows_add(rows);
    rows_int4(rows, WHAT, A_KEY);
    rows_int4(rows, OP, (int)op->number);
    rows_bytes(rows, KEY, version->key->bytes, version->key->length);
    rows_bytes(rows, VALUE, version->value, op->keys_only ? 0 : version->length);
    rows_int8(rows, CREATE_REV, version->create_revision);
    rows_int8(rows, MOD_REV, version->mod_revision);
    rows_int8(rows, VERSION, version->version);
    rows_int8(rows, LEASE, version->lease);
}

/* The first answer of one that was done, without what its ranges found; NULL: it was not. */
static struct pg_answer *answer_again(const struct pg_play *pg, int64_t seen, int64_t tag)
{
    int64_t rev = seen >= 0 ? play_find_tag(&pg->base, seen, tag) : 0;
    if (!rev)
        return NULL;
    PGresult *rows = rows_new(COLUMNS);
    add_head(rows, pg, pg->base.tags[rev].branches, rev, true);
    return pg_answer_rows(rows);
}

static bool has_puts(const struct txn *txn)
{
    for (size_t i = 0; i < txn->op_count; i++)
        if (txn->ops[i].kind == TXN_PUT)
            return true;
    return false;
}

struct pg_answer *pg_transact(struct pg_play *pg, const struct pg_query *query)
{
    struct play *play = &pg->base;
    int64_t before = play->model->revision;
    struct pg_answer *answer = NULL;
    if (query->statement == PG_TXN)
        answer = answer_again(pg, pg_number(query, SEEN), pg_number(query, TAG));
    if (answer)
        return answer;
    struct txn txn = {.found = on_found, .pair = on_pair, .context = rows_new(COLUMNS)};
    strbuf_init(&txn.branches);
    read_txn(&txn, query, &play->arena);
    if (play->model->is_full && has_puts(&txn))
        answer = pg_answer_error("53100", "could not extend file: No space left on device");
    else if (!play_txn(play, &txn))
        answer = pg_answer_error("PL404", "the lease is gone");
    if (answer) {
        PQclear(txn.context);
    } else {
        int64_t rev = play->model->revision;
        add_head(txn.context, pg, txn.branches.text, rev, rev > before);
        answer = pg_answer_rows(txn.context);
    }
    strbuf_release(&txn.branches);
    if (play->model->revision > before && pg_number(query, HOW) & HOW_NOTIFY && pg->has_lock)
        pg_notify(play);
    return answer;
}
