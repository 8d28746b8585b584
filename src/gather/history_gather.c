#include "history_gather.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "gather_link.h"
#include "gather_port.h"
#include "gather_wire.h"
#include "history_internal.h"

enum { ANSWER_WITHIN_MS = 2000 };

static const char is_away[] = "is away", is_silent[] = "did not answer in time",
                  is_out_of_reach[] = "could not be reached",
                  is_closed[] = "lets nobody read its history (--peer-listen)";

struct gathering;

/* What one node has answered; the first is the own history. */
struct part {
    struct gathering *gathering;
    struct gather_ask *ask; /* NULL: not under way */
    char node[64];
    bool is_own, has_answer;
    const char *why_not; /* NULL: it has answered, or still may */
    union gather_answer answer;
};

/* One request of the caller. */
struct gathering {
    struct history_gather *owner;
    struct history_request *request;
    enum history_request_kind kind;
    struct part *parts;
    size_t count, pending;
    enum status own_status;
    struct loop_timer *deadline;
    TAILQ_ENTRY(gathering) entry;
};

TAILQ_HEAD(gathering_list, gathering);

struct history_gather {
    struct history base;
    struct loop *loop;
    struct history *own;
    struct history_wake wake;
    const struct peers *peers; /* NULL: not known yet */
    struct gather_tls *tls;
    struct gather_port *port; /* NULL: nobody can ask here */
    struct gather_link **links;
    size_t link_count;
    struct gathering_list open;
    struct history_queue answered;
    bool closing;
};

static struct history_gather *gather_of(const struct history *history)
{
    return (struct history_gather *)history;
}

/* ---- the end of a request ---- */

static void *request_of(enum history_request_kind kind, struct history_request *request)
{
    switch (kind) {
    case HISTORY_READ:
        return history_request_of(request, history_read);
    case HISTORY_LOG:
        return history_request_of(request, history_log);
    case HISTORY_STATS:
        return history_request_of(request, history_stats);
    case HISTORY_CHANGES:
        return history_request_of(request, history_changes);
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    return NULL;
}

static void answer(struct history_gather *gather, struct history_request *request,
                   enum history_request_kind kind, enum status st)
{
    request->kind = kind;
    request->answer = st;
    history_queue_push(&gather->answered, request);
    if (gather->wake.wake)
        gather->wake.wake(gather->wake.context);
}

static void gathering_free(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        if (gathering->parts[i].has_answer)
            gather_answer_release(gathering->kind, &gathering->parts[i].answer);
    }
    loop_timer_free(gathering->deadline);
    free(gathering->parts);
    free(gathering);
}

static enum status list_absent(const struct gathering *gathering, struct history_absences *ret)
{
    struct history_absences absent = {0};
    for (size_t i = 0; i < gathering->count; i++)
        absent.count += gathering->parts[i].why_not != NULL;
    if (!absent.count)
        return OK;
    absent.items = calloc(absent.count, sizeof(*absent.items));
    if (!absent.items)
        return E_NOMEM;
    absent.count = 0;
    for (size_t i = 0; i < gathering->count; i++) {
        const struct part *part = &gathering->parts[i];
        if (!part->why_not)
            continue;
        struct history_absence *item = &absent.items[absent.count++];
        snprintf(item->node, sizeof(item->node), "%s", part->node);
        snprintf(item->why, sizeof(item->why), "%s", part->why_not);
    }
    *ret = absent;
    return OK;
}

/* The answers that there are, in a row. */
static union gather_answer *take_answers(struct gathering *gathering, size_t *ret_count)
{
    union gather_answer *answers = calloc(gathering->count, sizeof(*answers));
    size_t count = 0;
    for (size_t i = 0; i < gathering->count && answers; i++) {
        struct part *part = &gathering->parts[i];
        if (part->has_answer)
            answers[count++] = part->answer;
        part->has_answer = false;
    }
    *ret_count = count;
    return answers;
}

static enum status merge(struct gathering *gathering, union gather_answer *answers, size_t count,
                         struct history_absences **ret_absent)
{
    void *request = request_of(gathering->kind, gathering->request);
    switch (gathering->kind) {
    case HISTORY_READ:
        *ret_absent = &((struct history_read *)request)->absent;
        return gather_merge_read(answers, count, request);
    case HISTORY_LOG:
        *ret_absent = &((struct history_log *)request)->absent;
        gather_merge_log(answers, count, request);
        return OK;
    case HISTORY_STATS:
        *ret_absent = &((struct history_stats *)request)->absent;
        return gather_merge_stats(answers, count, request);
    case HISTORY_CHANGES:
        *ret_absent = &((struct history_changes *)request)->absent;
        return gather_merge_changes(answers, count, request);
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    return E_INVALID;
}

static enum status put_together(struct gathering *gathering)
{
    struct history_absences absent = {0}, *to = NULL;
    size_t count = 0;
    if (gathering->own_status != OK)
        return gathering->own_status;
    enum status st = list_absent(gathering, &absent);
    if (st != OK)
        return st;
    union gather_answer *answers = take_answers(gathering, &count);
    st = answers ? merge(gathering, answers, count, &to) : E_NOMEM;
    if (st == OK)
        *to = absent;
    else
        history_absences_release(&absent);
    for (size_t i = 0; i < count; i++)
        gather_answer_release(gathering->kind, &answers[i]);
    free(answers);
    return st;
}

static void finish(struct gathering *gathering)
{
    struct history_gather *gather = gathering->owner;
    enum status st = gather->closing ? E_UNREACHABLE : put_together(gathering);
    TAILQ_REMOVE(&gather->open, gathering, entry);
    answer(gather, gathering->request, gathering->kind, st);
    gathering_free(gathering);
}

/* ---- the others ---- */

static void part_done(struct part *part)
{
    struct gathering *gathering = part->gathering;
    assert(gathering->pending);
    if (!--gathering->pending)
        finish(gathering);
}

static void peer_answered(void *context, enum status st, const char *text, size_t length)
{
    struct part *part = context;
    part->ask = NULL;
    if (st == OK)
        st = wire_decode_answer(part->gathering->kind, text, length, &part->answer);
    part->has_answer = st == OK;
    part->why_not = st == OK ? NULL : is_out_of_reach;
    part_done(part);
}

static struct gather_link *find_link(const struct history_gather *gather, const char *node)
{
    for (size_t i = 0; i < gather->link_count; i++) {
        if (strcmp(gather_link_node(gather->links[i]), node) == 0)
            return gather->links[i];
    }
    return NULL;
}

static struct gather_link *need_link(struct history_gather *gather, const char *node)
{
    struct gather_link *link = find_link(gather, node);
    if (link)
        return link;
    struct gather_link **grown =
        realloc(gather->links, (gather->link_count + 1) * sizeof(struct gather_link *));
    if (!grown)
        return NULL;
    gather->links = grown;
    if (gather_link_new(gather->loop, gather->tls, node, &link) != OK)
        return NULL;
    gather->links[gather->link_count++] = link;
    return link;
}

static void ask_part(struct part *part, const char *question)
{
    struct gathering *gathering = part->gathering;
    struct history_gather *gather = gathering->owner;
    const struct known_peer *known = peers_find(gather->peers, part->node);
    struct gather_link *link = NULL;
    if (!known || !known->peer.is_alive)
        part->why_not = is_away;
    else if (!*known->peer.history_address)
        part->why_not = is_closed;
    else if (!(link = need_link(gather, part->node)) ||
             gather_link_ask(link, &known->peer, wire_path(gathering->kind), question,
                             peer_answered, part, &part->ask) != OK)
        part->why_not = is_silent;
    else
        gathering->pending++;
}

/* No answer comes before this has returned. */
static void ask_others(struct gathering *gathering)
{
    struct strbuf question;
    strbuf_init(&question);
    enum status st = wire_encode_question(
        gathering->kind, request_of(gathering->kind, gathering->request), &question);
    for (size_t i = 0; i < gathering->count; i++) {
        struct part *part = &gathering->parts[i];
        if (!part->is_own && st == OK)
            ask_part(part, question.text);
        else if (!part->is_own)
            part->why_not = is_out_of_reach;
    }
    strbuf_release(&question);
    loop_timer_set(gathering->deadline, ANSWER_WITHIN_MS);
}

static void give_up(struct gathering *gathering, const char *why)
{
    for (size_t i = 0; i < gathering->count; i++) {
        struct part *part = &gathering->parts[i];
        if (!part->ask)
            continue;
        gather_link_give_up(part->ask);
        part->ask = NULL;
        part->why_not = why;
        gathering->pending--;
    }
}

static void on_deadline(void *context)
{
    struct gathering *gathering = context;
    give_up(gathering, is_silent);
    if (!gathering->pending)
        finish(gathering);
}

/* ---- the own history ---- */

/* Lost runs are on record where the leader was, and may be on record as they really ended where
 * they ran. */
static bool is_settled(const struct history_log *log)
{
    return log->found && log->run.state != RUN_LOST;
}

static void own_answered(struct part *part, enum status st)
{
    struct gathering *gathering = part->gathering;
    gathering->own_status = st;
    part->has_answer = st == OK;
    if (st == OK && gathering->kind == HISTORY_LOG && !is_settled(&part->answer.log) &&
        gathering->owner->peers)
        ask_others(gathering);
    part_done(part);
}

static void own_read(struct history_read *read, enum status st)
{
    own_answered(read->context, st);
}

static void own_log(struct history_log *log, enum status st)
{
    own_answered(log->context, st);
}

static void own_stats(struct history_stats *stats, enum status st)
{
    own_answered(stats->context, st);
}

static void own_changes(struct history_changes *changes, enum status st)
{
    own_answered(changes->context, st);
}

/* The same question, without the answer's members. */
static void ask_own(struct part *part, struct history *own)
{
    union gather_answer *to = &part->answer;
    void *request = request_of(part->gathering->kind, part->gathering->request);
    const struct history_log *log = request;
    const struct history_stats *stats = request;
    switch (part->gathering->kind) {
    case HISTORY_READ:
        to->read = (struct history_read){
            .query = ((struct history_read *)request)->query, .done = own_read, .context = part};
        history_read(own, &to->read);
        break;
    case HISTORY_LOG:
        to->log = (struct history_log){.run_id = log->run_id,
                                       .offset = log->offset,
                                       .limit = log->limit,
                                       .done = own_log,
                                       .context = part};
        history_log(own, &to->log);
        break;
    case HISTORY_STATS:
        to->stats = (struct history_stats){.job_uid = stats->job_uid,
                                           .from_ms = stats->from_ms,
                                           .to_ms = stats->to_ms,
                                           .span = stats->span,
                                           .done = own_stats,
                                           .context = part};
        history_stats(own, &to->stats);
        break;
    case HISTORY_CHANGES:
        to->changes = (struct history_changes){.query = ((struct history_changes *)request)->query,
                                               .done = own_changes,
                                               .context = part};
        history_changes(own, &to->changes);
        break;
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
}

/* ---- requests ---- */

static bool is_other(const struct history_gather *gather, const struct known_peer *known)
{
    return known->peer.has_history && strcmp(known->peer.name, gather->peers->self) != 0;
}

struct others {
    const struct history_gather *gather;
    struct gathering *gathering; /* NULL: only count them */
    size_t count;
};

static bool take_other(void *context, const struct known_peer *known)
{
    struct others *others = context;
    if (!is_other(others->gather, known))
        return true;
    others->count++;
    if (others->gathering) {
        struct part *part = &others->gathering->parts[others->count];
        snprintf(part->node, sizeof(part->node), "%s", known->peer.name);
    }
    return true;
}

/* The own part and one for each of the others. NULL: out of memory. */
static struct gathering *gathering_new(struct history_gather *gather, size_t others)
{
    struct gathering *gathering = calloc(1, sizeof(*gathering));
    if (!gathering)
        return NULL;
    gathering->owner = gather;
    gathering->parts = calloc(1 + others, sizeof(*gathering->parts));
    if (!gathering->parts ||
        loop_timer_new_patient(gather->loop, on_deadline, gathering, &gathering->deadline) != OK) {
        gathering_free(gathering);
        return NULL;
    }
    gathering->count = 1 + others;
    for (size_t i = 0; i < gathering->count; i++)
        gathering->parts[i].gathering = gathering;
    gathering->parts[0].is_own = true;
    struct others fill = {.gather = gather, .gathering = gathering};
    peers_each(gather->peers, take_other, &fill);
    return gathering;
}

/* True: the request is taken care of. False: there are no others, and it is for the own history. */
static bool gather_request(struct history_gather *gather, struct history_request *request,
                           enum history_request_kind kind)
{
    struct others others = {.gather = gather};
    if (gather->peers)
        peers_each(gather->peers, take_other, &others);
    if (!gather->closing && !others.count)
        return false;
    struct gathering *gathering = gather->closing ? NULL : gathering_new(gather, others.count);
    if (!gathering) {
        answer(gather, request, kind, gather->closing ? E_UNREACHABLE : E_NOMEM);
        return true;
    }
    gathering->request = request;
    gathering->kind = kind;
    TAILQ_INSERT_TAIL(&gather->open, gathering, entry);
    gathering->pending = 1;
    if (kind != HISTORY_LOG)
        ask_others(gathering);
    ask_own(&gathering->parts[0], gather->own);
    return true;
}

static void gather_append(struct history *history, struct history_append *append)
{
    struct history_gather *gather = gather_of(history);
    if (gather->closing)
        answer(gather, &append->request, HISTORY_APPEND, E_UNREACHABLE);
    else
        history_append(gather->own, append);
}

static void gather_read(struct history *history, struct history_read *read)
{
    if (!gather_request(gather_of(history), &read->request, HISTORY_READ))
        history_read(gather_of(history)->own, read);
}

static void gather_log(struct history *history, struct history_log *log)
{
    if (!gather_request(gather_of(history), &log->request, HISTORY_LOG))
        history_log(gather_of(history)->own, log);
}

static void gather_stats(struct history *history, struct history_stats *stats)
{
    if (!gather_request(gather_of(history), &stats->request, HISTORY_STATS))
        history_stats(gather_of(history)->own, stats);
}

static void gather_changes(struct history *history, struct history_changes *changes)
{
    if (!gather_request(gather_of(history), &changes->request, HISTORY_CHANGES))
        history_changes(gather_of(history)->own, changes);
}

static void gather_prune(struct history *history, struct history_prune *prune)
{
    struct history_gather *gather = gather_of(history);
    if (gather->closing)
        answer(gather, &prune->request, HISTORY_PRUNE, E_UNREACHABLE);
    else
        history_prune(gather->own, prune);
}

/* What is submitted from within `done` waits for the next time. */
static void answer_all(struct history_gather *gather)
{
    struct history_queue now = gather->answered;
    gather->answered = (struct history_queue){0};
    for (struct history_request *request; (request = history_queue_pop(&now));)
        history_request_done(request);
}

static void gather_dispatch(struct history *history)
{
    struct history_gather *gather = gather_of(history);
    history_dispatch(gather->own);
    answer_all(gather);
}

static enum status gather_health(struct history *history, struct strbuf *why)
{
    return history_health(gather_of(history)->own, why);
}

/* ---- life ---- */

static struct history *gather_free(struct history *history)
{
    struct history_gather *gather = gather_of(history);
    struct gathering *gathering, *next;
    for (gathering = TAILQ_FIRST(&gather->open); gathering; gathering = next) {
        next = TAILQ_NEXT(gathering, entry);
        give_up(gathering, is_away);
        if (!gathering->pending)
            finish(gathering);
    }
    /* Its end answers the rest; what is submitted from within is for it to refuse, too. */
    gather->peers = NULL;
    history_free(gather->own);
    gather->closing = true;
    while (gather->answered.first)
        answer_all(gather);
    gather_port_free(gather->port);
    for (size_t i = 0; i < gather->link_count; i++)
        gather_link_free(gather->links[i]);
    free(gather->links);
    gather_tls_free(gather->tls);
    free(gather);
    return NULL;
}

static const struct history_ops gather_ops = {
    .append = gather_append,
    .read = gather_read,
    .log = gather_log,
    .stats = gather_stats,
    .changes = gather_changes,
    .prune = gather_prune,
    .dispatch = gather_dispatch,
    .health = gather_health,
    .free = gather_free,
};

struct search {
    const char *fingerprint;
    bool is_found;
};

static bool has_fingerprint(void *context, const struct known_peer *known)
{
    struct search *search = context;
    search->is_found =
        known->peer.is_alive && strcmp(known->peer.fingerprint, search->fingerprint) == 0;
    return !search->is_found;
}

static bool is_announced(void *context, const char *fingerprint)
{
    const struct history_gather *gather = context;
    struct search search = {.fingerprint = fingerprint};
    if (gather->peers)
        peers_each(gather->peers, has_fingerprint, &search);
    return search.is_found;
}

enum status history_gather_new(struct loop *loop, struct history *own, struct history_wake wake,
                               struct history **ret)
{
    struct history_gather *gather = calloc(1, sizeof(*gather));
    enum status st = gather ? gather_tls_new(is_announced, gather, &gather->tls) : E_NOMEM;
    if (st != OK) {
        history_free(own);
        free(gather);
        return st;
    }
    gather->base.ops = &gather_ops;
    gather->loop = loop;
    gather->own = own;
    gather->wake = wake;
    TAILQ_INIT(&gather->open);
    *ret = &gather->base;
    return OK;
}

const char *history_gather_fingerprint(const struct history *history)
{
    return gather_tls_fingerprint(gather_of(history)->tls);
}

enum status history_gather_listen(struct history *history, int fd)
{
    struct history_gather *gather = gather_of(history);
    return gather_port_new(gather->loop, gather->tls, is_announced, gather, gather->own, fd,
                           &gather->port);
}

void history_gather_set_peers(struct history *history, const struct peers *peers)
{
    gather_of(history)->peers = peers;
}

const char *history_gather_state(const struct history *history, const struct known_peer *known)
{
    const struct history_gather *gather = gather_of(history);
    if (!gather->peers || !is_other(gather, known))
        return "";
    if (!known->peer.is_alive)
        return is_away;
    if (!*known->peer.history_address)
        return is_closed;
    const struct gather_link *link = find_link(gather, known->peer.name);
    return !link || gather_link_is_good(link) ? "" : is_out_of_reach;
}
