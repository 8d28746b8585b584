#include "state/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/selector.h"
#include "function/eligible.h"
#include "function/lacks.h"
#include "hash.h"

static void forget_choices(struct placement *placement)
{
    for (size_t i = 0; i < PLACEMENT_CHOICES; i++) {
        if (!placement->choices[i])
            continue;
        free(placement->choices[i]->where);
        free(placement->choices[i]);
        placement->choices[i] = NULL;
    }
}

void placement_release(struct placement *placement)
{
    forget_choices(placement);
    free(placement->nodes);
    *placement = (struct placement){0};
}

/* A node that is full, or can't start runs for the moment, is there all the same. */
static bool is_there(const struct known_peer *known)
{
    enum peer_refusal refusal = known->peer.refusal;
    return !known->is_drained && refusal != PEER_STOPPING && refusal != PEER_NO_WORKER;
}

static void add(struct placement *placement, const struct peer *peer, bool accepts, bool is_there)
{
    struct placement_node *node = &placement->nodes[placement->count++];
    node->hash = hash_text(0, peer->name);
    node->mark = node_mark(peer->name);
    node->capacity = peer->capacity > 0 ? peer->capacity : 1;
    node->free = 1;
    node->accepts = accepts;
    node->is_there = is_there;
    snprintf(node->name, sizeof(node->name), "%s", peer->name);
    snprintf(node->program, sizeof(node->program), "%s", peer->program);
    snprintf(node->labels, sizeof(node->labels), "%s", peer->labels);
    snprintf(node->lacks, sizeof(node->lacks), "%s", peer->lacks);
}

enum status placement_set(struct placement *placement, const struct peers *peers,
                          const struct peer *self)
{
    if (peers->by_name.count + 1 > placement->room) {
        size_t room = peers->by_name.count + 8;
        struct placement_node *nodes = reallocarray(placement->nodes, room, sizeof(*nodes));
        if (!nodes)
            return E_NOMEM;
        placement->nodes = nodes;
        placement->room = room;
    }
    forget_choices(placement);
    placement->count = 0;
    placement->generation++;
    add(placement, self, true, true);
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        bool counts = known->peer.is_alive && peer_runs_jobs(&known->peer);
        if (counts && strcmp(known->peer.name, self->name) != 0)
            add(placement, &known->peer, known_peer_accepts(known), is_there(known));
    }
    return OK;
}

void placement_weigh(struct placement *placement, const struct peers *peers)
{
    for (size_t i = 0; i < placement->count; i++) {
        const struct known_peer *known = peers_find(peers, placement->nodes[i].name);
        placement->nodes[i].free = known ? peer_free_share(&known->peer) : 0.5;
    }
}

/* Combines two well-mixed hashes into a third. */
static uint64_t combine(uint64_t a, uint64_t b)
{
    uint64_t z = a ^ (b + UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double placement_score(uint64_t name_hash, uint64_t id_hash, double weight)
{
    double u = ((double)(combine(name_hash, id_hash) >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */
    return -weight / log(u);
}

static uint64_t hash_of(const struct placement_ask *ask)
{
    uint64_t hash = hash_bytes(0, ask->id->bytes, sizeof(ask->id->bytes));
    return ask->place == PLACE_LEAST_LOADED ? combine(hash, (uint64_t)ask->tick_ms) : hash;
}

struct placement_ask placement_ask_of(const struct catalog_job *job)
{
    return (struct placement_ask){
        .id = &job->uid,
        .where = job->where,
        .function = catalog_job_function(job),
        .tick_ms = job->next_ms,
        .place = catalog_job_place(job),
        .last_node = job->last_node,
    };
}

static double score_of(const struct placement_node *node, const struct placement_ask *ask,
                       uint64_t id_hash)
{
    double free = ask->place == PLACE_LEAST_LOADED ? node->free : 1;
    return placement_score(node->hash, id_hash, node->capacity * free);
}

double placement_node_score(const struct placement_node *node, const struct placement_ask *ask)
{
    return score_of(node, ask, hash_of(ask));
}

/* NULL: out of memory. */
static struct placement_choice *choose(const struct placement *placement, const char *where)
{
    struct placement_choice *choice = malloc(sizeof(*choice) + placement->count * sizeof(bool));
    char *copy = strdup(where);
    if (!choice || !copy) {
        free(choice);
        free(copy);
        return NULL;
    }
    choice->where = copy;
    for (size_t i = 0; i < placement->count; i++)
        choice->fits[i] =
            eligible_matches(where, placement->nodes[i].program, placement->nodes[i].labels);
    return choice;
}

static const struct placement_choice *choice_of(struct placement *placement, const char *where)
{
    struct placement_choice **slot = &placement->choices[hash_text(0, where) % PLACEMENT_CHOICES];
    if (*slot && strcmp((*slot)->where, where) == 0)
        return *slot;
    struct placement_choice *choice = choose(placement, where);
    if (choice) {
        if (*slot)
            free((*slot)->where);
        free(*slot);
        *slot = choice;
    }
    return choice;
}

/* `choice` is that of `where`, or NULL. */
static bool fits(const struct placement *placement, size_t node, const char *where,
                 const struct placement_choice *choice)
{
    const struct placement_node *of = &placement->nodes[node];
    return choice ? choice->fits[node] : eligible_matches(where, of->program, of->labels);
}

/* Is it known that another node has not the function? */
static bool is_lacking(const struct placement *placement, size_t node, const char *function)
{
    return node > 0 && function && lacks_has(placement->nodes[node].lacks, function);
}

static bool is_named(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

/* What decides the order of two nodes, the first first. */
struct standing {
    bool has_failed;
    bool is_kept; /* a sticky job is there */
    double score;
    const char *name;
};

static struct standing standing_of(const struct placement_node *node,
                                   const struct placement_ask *ask, uint64_t id_hash)
{
    return (struct standing){
        .has_failed = ask->failed_on && *ask->failed_on && is_named(ask->failed_on, node->name),
        .is_kept = ask->place == PLACE_STICKY && ask->last_node == node->mark,
        .score = score_of(node, ask, id_hash),
        .name = node->name,
    };
}

static bool is_before(const struct standing *one, const struct standing *other)
{
    if (one->has_failed != other->has_failed)
        return other->has_failed;
    if (one->is_kept != other->is_kept)
        return one->is_kept;
    return one->score > other->score ||
           (one->score == other->score && strcmp(one->name, other->name) < 0);
}

/* *ret_count: how many nodes are ranked, with this one. */
static int rank_among(struct placement *placement, const struct placement_ask *ask, int *ret_count)
{
    const char *where = ask->where;
    const struct placement_choice *choice = where ? choice_of(placement, where) : NULL;
    if (!fits(placement, 0, where, choice))
        return NOT_ELIGIBLE;
    *ret_count = 1;
    if (placement->count == 1)
        return 0;
    uint64_t id_hash = hash_of(ask);
    struct standing own = standing_of(&placement->nodes[0], ask, id_hash);
    int rank = 0;
    for (size_t i = 1; i < placement->count; i++) {
        const struct placement_node *node = &placement->nodes[i];
        if (!node->accepts || !fits(placement, i, where, choice) ||
            is_lacking(placement, i, ask->function) ||
            (ask->without && strcmp(node->name, ask->without) == 0))
            continue;
        ++*ret_count;
        struct standing other = standing_of(node, ask, id_hash);
        rank += is_before(&other, &own);
    }
    return rank;
}

int placement_rank(struct placement *placement, const struct placement_ask *ask)
{
    int count = 0;
    return rank_among(placement, ask, &count);
}

int placement_rank_part(struct placement *placement, const struct placement_ask *ask, int part)
{
    int count = 1;
    int rank = rank_among(placement, ask, &count);
    return rank == NOT_ELIGIBLE ? rank : (rank + count - part % count) % count;
}

bool placement_fits(struct placement *placement, size_t node, const struct placement_ask *ask)
{
    const char *where = ask->where;
    return fits(placement, node, where, where ? choice_of(placement, where) : NULL) &&
           !is_lacking(placement, node, ask->function);
}

bool placement_is_before(struct placement *placement, const struct placement_ask *ask,
                         const char *name)
{
    const struct placement_choice *choice = ask->where ? choice_of(placement, ask->where) : NULL;
    uint64_t id_hash = hash_of(ask);
    struct standing own = standing_of(&placement->nodes[0], ask, id_hash);
    for (size_t i = 1; i < placement->count; i++) {
        const struct placement_node *node = &placement->nodes[i];
        if (strcmp(node->name, name) != 0)
            continue;
        struct standing other = standing_of(node, ask, id_hash);
        return node->accepts && fits(placement, i, ask->where, choice) &&
               !is_lacking(placement, i, ask->function) && is_before(&other, &own);
    }
    return false;
}

/* The rest of what it lacks it could not name: but what it can run, it claims. */
static bool may_have(const struct placement *placement, size_t node, const char *function)
{
    const struct placement_node *of = &placement->nodes[node];
    return !function ||
           (!is_lacking(placement, node, function) && !(of->accepts && lacks_more(of->lacks)));
}

bool placement_has_node(struct placement *placement, const char *where, const char *function,
                        bool has_it)
{
    const struct placement_choice *choice = where ? choice_of(placement, where) : NULL;
    if (placement->count && placement->nodes[0].program[0] && !eligible_is_program(where))
        return true;
    for (size_t i = 0; i < placement->count; i++) {
        if (fits(placement, i, where, choice) &&
            (i > 0 ? may_have(placement, i, function) : has_it))
            return true;
    }
    return false;
}

static bool has_process(struct placement *placement, const char *where)
{
    return placement_has_node(placement, where, NULL, true);
}

void placement_tell_nobody(struct placement *placement, const char *where, const char *function,
                           char *ret, size_t size)
{
    size_t length;
    const char *program = eligible_program(where, &length);
    const char *labels = eligible_where(where);
    if (!length && !labels)
        snprintf(ret, size,
                 "no agent that runs jobs is there; processes of programs run functions");
    else if (!length && eligible_has_limits(where))
        snprintf(ret, size, "no node has the labels that its limits need: %s", labels);
    else if (!length)
        snprintf(ret, size, "no node has the labels of its where: %s", labels);
    else if (function && has_process(placement, where))
        snprintf(ret, size, "no process of the program %.*s that is running has the function %s",
                 (int)length, program, function);
    else if (labels)
        snprintf(ret, size, "no process of the program %.*s has the labels of its where: %s",
                 (int)length, program, labels);
    else
        snprintf(ret, size, "no process of the program %.*s is there", (int)length, program);
}

static bool is_matched(const struct placement *placement, const char *where, const char *term)
{
    for (size_t i = 0; i < placement->count; i++) {
        const struct placement_node *node = &placement->nodes[i];
        if (eligible_is_kind(where, node->program) && selector_matches(term, node->labels))
            return true;
    }
    return false;
}

void placement_tell_unmatched(const struct placement *placement, const char *where, char *ret,
                              size_t size)
{
    const char *labels = eligible_where(where);
    bool has_matched = false;
    size_t length = 0;
    char term[512];
    *ret = '\0';
    while (labels && *labels) {
        size_t span = strcspn(labels, ",");
        snprintf(term, sizeof(term), "%.*s", (int)span, labels);
        labels += span + (labels[span] == ',');
        if (is_matched(placement, where, term))
            has_matched = true;
        else if (length < size)
            length +=
                (size_t)snprintf(ret + length, size - length, "%s%s", length ? "," : "", term);
    }
    if (!has_matched)
        *ret = '\0';
}
