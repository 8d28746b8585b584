#include "gathering.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gather_merge.h"
#include "gather_wire.h"
#include "gather_words.h"

enum { ANSWER_WITHIN_MS = 2000 };

/* The answer of one node; the first is the own history. */
struct part {
    struct gathering *gathering;
    struct gather_ask *ask; /* NULL: not under way */
    char node[64];
    bool is_own, has_answer;
    const char *why_not; /* NULL: answered, or pending */
    union gather_answer answer;
};

/* One request of the caller. */
struct gathering {
    struct gathering_place *place;
    struct history_request *request;
    struct part *parts;
    size_t count, pending;
    enum status own_status;
    struct loop_timer *deadline;
    TAILQ_ENTRY(gathering) entry;
};

/* NULL: none are to be asked. */
static const struct peers *peers_of(const struct gathering_place *place)
{
    return place->is_alone ? NULL : gather_net_peers(place->net);
}

/* The request that it is the part of. */
static void *whole_of(struct history_request *request)
{
    switch (request->kind) {
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

/* ---- the answer ---- */

static void gathering_free(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        if (gathering->parts[i].has_answer)
            gather_answer_release(gathering->request->kind, &gathering->parts[i].answer);
    }
    loop_timer_free(gathering->deadline);
    free(gathering->parts);
    free(gathering);
}

/* What the own history, the first part, lacks. */
static struct history_absences lacked_by_own(const struct gathering *gathering)
{
    const struct part *own = &gathering->parts[0];
    return own->has_answer && gathering->request->kind == HISTORY_READ
               ? own->answer.read.absent
               : (struct history_absences){0};
}

static enum status list_absent(const struct gathering *gathering, struct history_absences *ret)
{
    struct history_absences absent = {0}, lacked = lacked_by_own(gathering);
    absent.count = lacked.count;
    for (size_t i = 0; i < gathering->count; i++)
        absent.count += gathering->parts[i].why_not != NULL;
    if (!absent.count)
        return OK;
    absent.items = calloc(absent.count, sizeof(*absent.items));
    if (!absent.items)
        return E_NOMEM;
    for (size_t i = 0; i < lacked.count; i++)
        absent.items[i] = lacked.items[i];
    absent.count = lacked.count;
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

/* Collects the answers that have come. */
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
    void *request = whole_of(gathering->request);
    switch (gathering->request->kind) {
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

/* Another node has the run, though the own history failed. */
static bool has_log(const struct gathering *gathering)
{
    for (size_t i = 1; gathering->request->kind == HISTORY_LOG && i < gathering->count; i++) {
        if (gathering->parts[i].has_answer && gathering->parts[i].answer.log.found)
            return true;
    }
    return false;
}

static enum status put_together(struct gathering *gathering)
{
    struct history_absences absent = {0}, *to = NULL;
    size_t count = 0;
    if (gathering->own_status != OK && !has_log(gathering))
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
        gather_answer_release(gathering->request->kind, &answers[i]);
    free(answers);
    return st;
}

static void finish(struct gathering *gathering)
{
    struct gathering_place *place = gathering->place;
    enum status st = place->closing ? E_UNREACHABLE : put_together(gathering);
    TAILQ_REMOVE(&place->open, gathering, entry);
    place->answered(place, gathering->request, st);
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
        st = wire_decode_answer(part->gathering->request->kind, text, length, &part->answer);
    part->has_answer = st == OK;
    part->why_not = st == OK ? NULL : NODE_IS_OUT_OF_REACH;
    part_done(part);
}

static void ask_part(struct part *part, const char *question)
{
    struct gathering *gathering = part->gathering;
    if (gather_net_ask(gathering->place->net, LANE_HISTORY, part->node,
                       wire_path(gathering->request->kind), question, peer_answered, part,
                       &part->ask, &part->why_not) == OK)
        gathering->pending++;
}

/* No callback comes before this has returned. */
static void ask_others(struct gathering *gathering)
{
    struct strbuf question;
    strbuf_init(&question);
    enum status st =
        wire_encode_question(gathering->request->kind, whole_of(gathering->request), &question);
    for (size_t i = 0; i < gathering->count; i++) {
        struct part *part = &gathering->parts[i];
        if (!part->is_own && st == OK)
            ask_part(part, question.text);
        else if (!part->is_own)
            part->why_not = NODE_IS_OUT_OF_REACH;
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
    give_up(gathering, NODE_IS_SILENT);
    if (!gathering->pending)
        finish(gathering);
}

/* ---- the own history ---- */

/* A lost run is recorded by the leader, and its real end perhaps by the node where it ran. */
static bool is_settled(const struct history_log *log)
{
    return log->found && log->run.state != RUN_LOST;
}

static void own_answered(struct part *part, enum status st)
{
    struct gathering *gathering = part->gathering;
    gathering->own_status = st;
    part->has_answer = st == OK;
    bool is_settled_here = st == OK ? is_settled(&part->answer.log) : st == E_INVALID;
    if (gathering->request->kind == HISTORY_LOG && !is_settled_here && peers_of(gathering->place))
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

/* Copies the query, without the answer's members. */
static void ask_own(struct part *part, struct history *own)
{
    union gather_answer *to = &part->answer;
    void *request = whole_of(part->gathering->request);
    const struct history_log *log = request;
    const struct history_stats *stats = request;
    switch (part->gathering->request->kind) {
    case HISTORY_READ:
        to->read = (struct history_read){
            .query = ((struct history_read *)request)->query, .done = own_read, .context = part};
        history_read(own, &to->read);
        break;
    case HISTORY_LOG:
        to->log = (struct history_log){.run_id = log->run_id,
                                       .offset = log->offset,
                                       .limit = log->limit,
                                       .with_input = log->with_input,
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

/* ---- from start to end ---- */

/* Is it the history of another agent, which may have this one's name? */
static bool is_other(const struct gathering_place *place, const struct known_peer *known)
{
    const struct peer *self = peers_of(place)->self;
    return known->peer.has_history &&
           (strcmp(known->peer.name, self->name) != 0 || known->peer.home != self->home);
}

struct others {
    const struct gathering_place *place;
    struct gathering *gathering; /* NULL: only count them */
    size_t count;
};

static bool take_other(void *context, const struct known_peer *known)
{
    struct others *others = context;
    if (!is_other(others->place, known))
        return true;
    others->count++;
    if (others->gathering) {
        struct part *part = &others->gathering->parts[others->count];
        snprintf(part->node, sizeof(part->node), "%s", known->peer.name);
    }
    return true;
}

/* With the own part and one for each other node. NULL: out of memory. */
static struct gathering *gathering_new(struct gathering_place *place, size_t others)
{
    struct gathering *gathering = calloc(1, sizeof(*gathering));
    if (!gathering)
        return NULL;
    gathering->place = place;
    gathering->parts = calloc(1 + others, sizeof(*gathering->parts));
    if (!gathering->parts || loop_timer_new_patient(gather_net_loop(place->net), on_deadline,
                                                    gathering, &gathering->deadline) != OK) {
        gathering_free(gathering);
        return NULL;
    }
    gathering->count = 1 + others;
    for (size_t i = 0; i < gathering->count; i++)
        gathering->parts[i].gathering = gathering;
    gathering->parts[0].is_own = true;
    struct others fill = {.place = place, .gathering = gathering};
    if (others)
        peers_each(peers_of(place), take_other, &fill);
    return gathering;
}

size_t gathering_others(const struct gathering_place *place)
{
    struct others others = {.place = place};
    if (peers_of(place))
        peers_each(peers_of(place), take_other, &others);
    return others.count;
}

enum status gathering_start(struct gathering_place *place, struct history_request *request)
{
    struct gathering *gathering = gathering_new(place, gathering_others(place));
    if (!gathering)
        return E_NOMEM;
    gathering->request = request;
    TAILQ_INSERT_TAIL(&place->open, gathering, entry);
    gathering->pending = 1;
    if (request->kind != HISTORY_LOG)
        ask_others(gathering);
    ask_own(&gathering->parts[0], place->own);
    return OK;
}

void gathering_give_up_all(struct gathering_place *place)
{
    struct gathering *gathering, *next;
    for (gathering = TAILQ_FIRST(&place->open); gathering; gathering = next) {
        next = TAILQ_NEXT(gathering, entry);
        give_up(gathering, NODE_IS_AWAY);
        if (!gathering->pending)
            finish(gathering);
    }
}

/* ---- the place ---- */

void gathering_place_init(struct gathering_place *place)
{
    TAILQ_INIT(&place->open);
}

const char *gathering_why_not(const struct gathering_place *place, const struct known_peer *known)
{
    if (!peers_of(place) || !is_other(place, known))
        return "";
    return gather_net_why_not(place->net, LANE_HISTORY, known);
}
