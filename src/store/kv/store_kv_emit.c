/* A plan as a transaction of etcd. */
#include "kv/store_kv_tables.h"

/* Operations of one level, see plan_width: with few compares, and with many. */
enum { LEVEL_MAX = 60, LEVEL_BESIDE_MANY = 20 };

static struct kv_bytes key_bytes(const struct store_plan *plan, const struct plan_key *key)
{
    return (struct kv_bytes){plan->bytes.text + key->at, key->length};
}

static void emit_write(const struct store_plan *plan, const struct plan_write *write,
                       struct kv_txn *txn)
{
    struct kv_bytes key = key_bytes(plan, &write->key);
    struct kv_bytes value = {plan->bytes.text + write->value_at, write->value_length};
    if (write->is_delete)
        kv_txn_delete(txn, &(struct kv_delete){.key = key});
    else
        kv_txn_put(txn, &(struct kv_put){.key = key, .value = value});
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Many compares leave less of the limit for writes. */
static size_t level(const struct store_plan *plan)
{
    return plan->compare_count > LEVEL_MAX ? LEVEL_BESIDE_MANY : LEVEL_MAX;
}

size_t plan_width(const struct store_plan *plan)
{
    size_t wraps = (plan->write_count + level(plan) - 1) / level(plan);
    return wraps <= 1 ? larger(plan->compare_count, plan->write_count)
                      : larger(plan->compare_count, wraps) + level(plan);
}

/* Many writes are nested, to keep within etcd's limit per level. */
static void emit_writes(const struct store_plan *plan, struct kv_txn *txn)
{
    bool wrapped = plan->write_count > level(plan);
    size_t emitted = 0;
    for (int last = 0; last < 2; last++) {
        for (size_t i = 0; i < plan->write_count; i++) {
            const struct plan_write *write = &plan->writes[i];
            if (write->is_dropped || write->is_last != last)
                continue;
            if (wrapped && emitted % level(plan) == 0) {
                if (emitted)
                    kv_txn_end(txn);
                kv_txn_begin(txn);
            }
            emit_write(plan, write, txn);
            emitted++;
        }
    }
    if (wrapped && emitted)
        kv_txn_end(txn);
}

void plan_emit(const struct store_plan *plan, struct kv_txn *txn)
{
    kv_txn_begin(txn);
    for (size_t i = 0; i < plan->compare_count; i++)
        kv_txn_if_mod_revision(txn, key_bytes(plan, &plan->compares[i].key), KV_EQUAL,
                               plan->compares[i].mod_revision);
    emit_writes(plan, txn);
    kv_txn_end(txn);
}

bool plan_writes(const struct store_plan *plan)
{
    return plan->write_count > 0;
}

bool plan_puts(const struct store_plan *plan)
{
    for (size_t i = 0; i < plan->write_count; i++)
        if (!plan->writes[i].is_delete && !plan->writes[i].is_dropped)
            return true;
    return false;
}

bool plan_each_key(const struct store_plan *plan, bool written,
                   bool (*take)(void *context, uint64_t key_hash), void *context)
{
    bool go_on = true;
    for (size_t i = 0; written && go_on && i < plan->write_count; i++)
        go_on = plan->writes[i].is_dropped || take(context, plan->writes[i].key.hash);
    for (size_t i = 0; !written && go_on && i < plan->compare_count; i++)
        go_on = take(context, plan->compares[i].key.hash);
    return go_on;
}
