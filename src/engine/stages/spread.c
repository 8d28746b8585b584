#include "stages/spread.h"

#include <stdlib.h>
#include <string.h>

/* A node that the job may run on. */
struct candidate {
    const struct placement_node *node;
    double score;
};

static int by_name(const void *a, const void *b)
{
    const struct candidate *one = a, *other = b;
    return strcmp(one->node->name, other->node->name);
}

/* Those that accept runs come first; then as with a job that runs on one node. */
static int by_rank(const void *a, const void *b)
{
    const struct candidate *one = a, *other = b;
    if (one->node->accepts != other->node->accepts)
        return one->node->accepts ? -1 : 1;
    if (one->score != other->score)
        return one->score > other->score ? -1 : 1;
    return by_name(a, b);
}

/* NULL: out of memory. */
static struct candidate *find_candidates(struct placement *placement, const struct catalog_job *job,
                                         size_t *ret_count)
{
    struct placement_ask ask = placement_ask_of(job);
    struct candidate *found = calloc(placement->count + 1, sizeof(*found));
    *ret_count = 0;
    for (size_t i = 0; found && i < placement->count; i++) {
        const struct placement_node *node = &placement->nodes[i];
        if (node->is_there && placement_fits(placement, i, &ask))
            found[(*ret_count)++] = (struct candidate){node, placement_node_score(node, &ask)};
    }
    return found;
}

static size_t limit(const struct engine_ports *ports, const struct catalog_job *job, size_t count)
{
    if (count <= RUN_PARTS_MAX)
        return count;
    ports_log(ports, "spread_cut_short",
              "job=%s nodes=%zu runs=%d what=\"a tick has no more runs\"", job->name, count,
              RUN_PARTS_MAX);
    return RUN_PARTS_MAX;
}

static enum status fill_pinned(const struct engine_ports *ports, struct placement *placement,
                               const struct catalog_job *job, struct spread spread,
                               struct store_parts *ret)
{
    size_t count;
    struct candidate *found = find_candidates(placement, job, &count);
    if (!found)
        return E_NOMEM;
    if (spread.kind == SPREAD_NODES && count > (size_t)spread.count) {
        qsort(found, count, sizeof(*found), by_rank);
        count = (size_t)spread.count;
    }
    qsort(found, count, sizeof(*found), by_name);
    ret->count = limit(ports, job, count);
    for (size_t i = 0; i < ret->count; i++)
        memcpy(ret->parts[i].pinned, found[i].node->name, sizeof(ret->parts[i].pinned));
    free(found);
    return OK;
}

enum status spread_fill(const struct engine_ports *ports, struct placement *placement,
                        struct now now, const struct catalog_job *job, const struct id *first,
                        struct store_parts *ret)
{
    struct job_policy policy = catalog_job_policy(job);
    struct spread spread = policy.spread;
    *ret = (struct store_parts){.count = 0};
    if (spread.kind == SPREAD_ONE)
        return OK;
    ret->parts = calloc(RUN_PARTS_MAX, sizeof(*ret->parts));
    if (!ret->parts)
        return E_NOMEM;
    ret->count = (size_t)spread.count;
    enum status st =
        spread.kind == SPREAD_SHARDS ? OK : fill_pinned(ports, placement, job, spread, ret);
    if (st != OK) {
        free(ret->parts);
        *ret = (struct store_parts){.count = 0};
        return st;
    }
    ret->at_once = (size_t)policy.at_once;
    ret->stops = policy.stops_on_failure;
    for (size_t i = 0; i < ret->count; i++)
        ret->parts[i].id = i ? ports_new_id(ports, now.wall) : *first;
    return OK;
}
