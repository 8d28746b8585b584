#include "records/kept_history.h"

#include <stdlib.h>

#include "history_internal.h"
#include "spool/history_spool.h"

enum {
    SPOOL_BYTES = 64 << 20,
    RETRY_MS = 30000,
    KEEP_RUNS = 1000,    /* of each job, where nobody else has them */
    PRUNE_AFTER = 10000, /* records */
};

struct kept_history {
    struct history base;
    struct kept_history_config config;
    struct history *spool, *own; /* own: NULL until it is needed */
    struct history_queue answered;
    struct history_prune prune;
    bool is_pruning, is_closing;
    size_t appended; /* to `own`, since it was pruned */
};

/* An append on its way: first to the spool, then to the own history. */
struct kept {
    struct history_append append;
    struct kept_history *kept;
    struct history_request *request;
};

static struct kept_history *of(struct history *history)
{
    return (struct kept_history *)history;
}

static void answer(struct kept_history *kept, struct history_request *request, enum status st)
{
    request->answer = st;
    history_queue_push(&kept->answered, request);
    if (kept->config.wake.wake)
        kept->config.wake.wake(kept->config.wake.context);
}

/* ---- the own history ---- */

static void pruned(struct history_prune *prune, enum status st)
{
    struct kept_history *kept = prune->context;
    (void)st; /* else there is more to remove the next time */
    kept->is_pruning = false;
}

static void prune_if_due(struct kept_history *kept)
{
    if (kept->is_pruning || kept->is_closing || kept->appended < PRUNE_AFTER)
        return;
    kept->is_pruning = true;
    kept->appended = 0;
    kept->prune = (struct history_prune){.keep_runs = KEEP_RUNS, .done = pruned, .context = kept};
    history_prune(kept->own, &kept->prune);
}

static enum status open_own(struct kept_history *kept)
{
    struct strbuf why;
    if (kept->own)
        return OK;
    strbuf_init(&why);
    enum status st = history_sqlite_open(kept->config.dir, kept->config.wake, &kept->own, &why);
    strbuf_release(&why);
    if (st == OK && kept->config.told)
        kept->config.told(kept->config.context);
    return st;
}

static void own_done(struct history_append *append, enum status st)
{
    struct kept *item = append->context;
    struct kept_history *kept = item->kept;
    kept->appended += append->count;
    answer(kept, item->request, st);
    free(item);
    prune_if_due(kept);
}

/* ---- the spool ---- */

static void spool_done(struct history_append *append, enum status st)
{
    struct kept *item = append->context;
    struct kept_history *kept = item->kept;
    if (st == E_TOO_LARGE && !kept->is_closing && open_own(kept) == OK) {
        append->done = own_done;
        history_append(kept->own, append);
        return;
    }
    answer(kept, item->request, st);
    free(item);
}

static void kept_submit(struct history *history, struct history_request *request)
{
    struct kept_history *kept = of(history);
    if (kept->is_closing) {
        answer(kept, request, E_UNREACHABLE);
        return;
    }
    if (request->kind != HISTORY_APPEND) {
        history_submit(kept->spool, request);
        return;
    }
    const struct history_append *append = history_request_of(request, history_append);
    struct kept *item = malloc(sizeof(*item));
    if (!item) {
        answer(kept, request, E_NOMEM);
        return;
    }
    *item = (struct kept){.kept = kept, .request = request};
    item->append = (struct history_append){
        .records = append->records, .count = append->count, .done = spool_done, .context = item};
    history_append(kept->spool, &item->append);
}

static void kept_dispatch(struct history *history)
{
    struct kept_history *kept = of(history);
    history_dispatch(kept->spool);
    if (kept->own)
        history_dispatch(kept->own);
    history_queue_done(&kept->answered);
}

/* That no agent is there is no failure: the records are on disk. */
static enum status kept_health(struct history *history, struct strbuf *why)
{
    struct kept_history *kept = of(history);
    struct strbuf of_spool;
    strbuf_init(&of_spool);
    enum status st = history_health(kept->spool, &of_spool);
    strbuf_release(&of_spool);
    if (kept->own)
        return history_health(kept->own, why);
    return st == E_UNREACHABLE ? OK : st;
}

static void kept_backlog(struct history *history, struct history_backlog *ret)
{
    *ret = history_backlog(of(history)->spool);
}

static struct history *kept_free(struct history *history)
{
    struct kept_history *kept = of(history);
    kept->is_closing = true;
    kept->spool = history_free(kept->spool);
    kept->own = history_free(kept->own);
    while (kept->answered.first)
        history_queue_done(&kept->answered);
    free(kept);
    return NULL;
}

static const struct history_ops kept_ops = {
    .submit = kept_submit,
    .dispatch = kept_dispatch,
    .health = kept_health,
    .backlog = kept_backlog,
    .free = kept_free,
};

enum status kept_history_open(const struct kept_history_config *config, struct history **ret,
                              struct strbuf *why)
{
    /* It looks for an agent with every turn anyway, and delivers then. */
    struct history_spool_limits limits = {.max_bytes = config->spool_bytes ? config->spool_bytes
                                                                           : SPOOL_BYTES,
                                          .retry_last_ms = RETRY_MS};
    struct kept_history *kept = calloc(1, sizeof(*kept));
    if (!kept) {
        history_free(config->agent);
        return E_NOMEM;
    }
    kept->base.ops = &kept_ops;
    kept->config = *config;
    enum status st =
        history_spool_open(config->dir, &limits, config->agent, config->wake, &kept->spool, why);
    if (st == OK)
        *ret = &kept->base;
    else
        free(kept);
    return st;
}
