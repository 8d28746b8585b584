/* The input of a run: a document that is made with the run, and goes with the last attempt at its
 * tick, or at the last part of it; that of a workflow goes with the instance. What a step has
 * written goes with its last attempt. And what is known of the webhook that asked for the run. */
#include <stdio.h>

#include "params/run_input.h"
#include "rules/rules_internal.h"

enum status rules_put_input(struct rules *rules, const struct store_add_run *add)
{
    char name[ID_TEXT + 1];
    struct store_put_doc put = {.kind = INPUT_DOC, .json = add->input, .expected_revision = -1};
    id_format(&add->run.input, name);
    snprintf(put.name, sizeof(put.name), "%s", name);
    return rules_put_large_doc(rules, &put, INPUT_DOC_MAX);
}

enum status rules_find_delivery(struct rules *rules, struct store_add_run *add)
{
    int64_t revision;
    if (!add->delivery)
        return OK;
    enum status st = rules->ops->get_doc(rules->tables, DELIVERY_DOC, add->delivery, &revision);
    add->is_delivered = st == OK || st == E_SET_ASIDE;
    return st == E_NOT_FOUND || st == E_SET_ASIDE ? OK : st;
}

enum status rules_put_delivery(struct rules *rules, const struct store_add_run *add)
{
    struct store_put_doc put = {.kind = DELIVERY_DOC, .json = add->delivery_json};
    snprintf(put.name, sizeof(put.name), "%s", add->delivery);
    return rules_put_doc(rules, &put);
}

enum status rules_drop_webhook(struct rules *rules, const struct id *job_uid)
{
    char name[ID_TEXT + 1];
    struct store_put_doc put = {.kind = WEBHOOK_DOC, .expected_revision = -1};
    id_format(job_uid, name);
    snprintf(put.name, sizeof(put.name), "%s", name);
    enum status st = rules_put_doc(rules, &put);
    return st == E_SET_ASIDE ? OK : st;
}

/* *ret: is this attempt at the part still in the store, with the same input? It is read, so that it
 * can't be forgotten at the same moment without one of the two seeing the other. */
static enum status shares_input(struct rules *rules, const struct run *run, int attempt, int part,
                                bool *ret)
{
    struct id id;
    struct run_row row;
    *ret = false;
    if (attempt == run->attempt && part == run->part)
        return OK;
    enum status st =
        rules->ops->find_run(rules->tables, &run->job_uid, run->tick_ms, attempt, part, &id);
    if (st == OK)
        st = rules->ops->get_run(rules->tables, &id, &row);
    *ret = st == OK && id_compare(&row.run.input, &run->input) == 0;
    return st == E_NOT_FOUND ? OK : st;
}

/* Another attempt at the tick of this run, of any of its parts. */
static enum status has_other(struct rules *rules, const struct run *run, bool *ret)
{
    int last = (run->attempts > run->attempt ? run->attempts : run->attempt) + 1;
    int parts = run->parts ? run->parts : 1;
    enum status st = OK;
    *ret = false;
    for (int part = 0; part < parts; part++)
        for (int attempt = 1; st == OK && attempt <= last && !*ret; attempt++)
            st = shares_input(rules, run, attempt, part, ret);
    return st;
}

enum status rules_remove_input(struct rules *rules, const struct id *input)
{
    char name[ID_TEXT + 1];
    struct store_put_doc put = {.kind = INPUT_DOC, .expected_revision = -1};
    id_format(input, name);
    snprintf(put.name, sizeof(put.name), "%s", name);
    enum status st = rules_put_doc(rules, &put);
    return st == E_SET_ASIDE ? OK : st;
}

static enum status drop_input(struct rules *rules, const struct run *run)
{
    bool is_shared = false;
    enum status st = OK;
    if (id_is_zero(&run->input))
        return OK;
    if (!run_is_instance(run))
        st = has_other(rules, run, &is_shared);
    return st != OK || is_shared ? st : rules_remove_input(rules, &run->input);
}

static enum status drop_output(struct rules *rules, const struct run *run)
{
    enum status st = run->retried ? OK : rules_put_output(rules, run, NULL);
    return st == E_SET_ASIDE ? OK : st;
}

enum status rules_drop_docs(struct rules *rules, const struct id *run_id, bool *ret_is_kept)
{
    struct run_row row;
    *ret_is_kept = false;
    enum status st = rules->ops->get_run(rules->tables, run_id, &row);
    if (st != OK || state_is_open(row.run.state))
        return st == E_NOT_FOUND ? OK : st;
    if (!run_is_step(&row.run))
        return drop_input(rules, &row.run);
    st = rules_is_kept(rules, &row.run, ret_is_kept);
    return st != OK || *ret_is_kept ? st : drop_output(rules, &row.run);
}
