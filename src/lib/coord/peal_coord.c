/* Locks, elections and selections, as programs see them (src/lib/coord). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator.h"
#include "failure.h"
#include "job_name.h"
#include "lib_node.h"

enum {
    TTL_MS = 10000,
    TTL_MIN_MS = 5000,
    TTL_MAX_MS = 3600000,
};

/* ---- the node's coordinator ---- */

static void log_warning(void *context, const char *message)
{
    lib_log(context, PEAL_WARNING, "%s", message);
}

/* Where `peal lock` meets, too: DATA/coord, or below the folder that several share. */
static char *print_folder(const struct peal_node *peal)
{
    const char *end = strrchr(peal->data, '/'); /* DATA/programs */
    char *folder = NULL;
    int length = peal->url.shared
                     ? asprintf(&folder, "%s/coord", peal->url.shared)
                     : asprintf(&folder, "%.*s/coord", (int)(end - peal->data), peal->data);
    return length < 0 ? NULL : folder;
}

static enum status make_coordinator(struct peal_node *peal, struct coordinator **ret,
                                    struct strbuf *why)
{
    peal->coord_folder = print_folder(peal);
    if (!peal->coord_folder)
        return E_NOMEM;
    const struct coordinator_config config = {
        .store = lib_node_store(peal),
        .folder = peal->coord_folder,
        .timeout_ms = lib_timeout_ms(peal),
        .log = log_warning,
        .context = peal,
    };
    enum status st = coordinator_new(&config, ret, why);
    if (st != OK) {
        free(peal->coord_folder);
        peal->coord_folder = NULL;
    }
    return st;
}

/* NULL: *ret_error. */
static struct coordinator *the_coordinator(struct peal_node *node, int *ret_error)
{
    struct coordinator *coordinator;
    struct strbuf why;
    enum status st = OK;
    struct peal_node *peal = lib_the(node, ret_error);
    if (!peal)
        return NULL;
    strbuf_init(&why);
    pthread_mutex_lock(&peal->lock);
    coordinator = atomic_load(&peal->coordinator);
    if (!coordinator && (st = make_coordinator(peal, &coordinator, &why)) == OK)
        atomic_store(&peal->coordinator, coordinator);
    pthread_mutex_unlock(&peal->lock);
    if (st != OK)
        *ret_error = lib_fail(st, why.text);
    else if (atomic_load(&peal->is_stopping))
        coordinator_stop(coordinator); /* the stop may have come before */
    strbuf_release(&why);
    return st == OK ? coordinator : NULL;
}

void lib_coord_stop(struct peal_node *peal)
{
    struct coordinator *coordinator = atomic_load(&peal->coordinator);
    if (coordinator)
        coordinator_stop(coordinator);
}

void lib_coord_close(struct peal_node *peal)
{
    coordinator_close(atomic_load(&peal->coordinator));
    atomic_store(&peal->coordinator, NULL);
    free(peal->coord_folder);
    peal->coord_folder = NULL;
}

/* ---- answers ---- */

/* `why` is read here, when the answer has been made. */
static int answer(struct answered answered, const struct strbuf *text)
{
    const char *why = text->text;
    switch (answered.answer) {
    case ANSWER_YES:
        return PEAL_OK;
    case ANSWER_BUSY:
        return lib_fail_as(PEAL_E_BUSY, why);
    case ANSWER_LOST:
        return lib_fail_as(PEAL_E_LOST, why);
    case ANSWER_STOPPED:
        return lib_fail_as(PEAL_E_STOPPED, why);
    case ANSWER_NOBODY:
        return lib_fail_as(PEAL_E_NOT_FOUND, why);
    case ANSWER_FAILED:
        break;
    }
    if (answered.status == E_CONFLICT) /* its place in the queue is gone */
        return lib_fail_as(PEAL_E_LOST, why);
    return lib_fail(answered.status, why);
}

static int complain(const char *what, const char *text, const char *complaint)
{
    char why[400];
    snprintf(why, sizeof(why), "the %s \"%.130s\" %s", what, text, complaint);
    return lib_fail_as(PEAL_E_INVALID, why);
}

static int check_name(const char *name)
{
    const char *complaint = name ? job_name_complaint(name) : "is missing";
    return complaint ? complain("name", name ? name : "", complaint) : PEAL_OK;
}

/* HOST-PROCESS, unless it is given. */
static int make_id(const char *given, char ret[COORD_ID_SIZE])
{
    char host[COORD_HOST_SIZE] = "";
    const char *complaint = given ? coord_id_complaint(given) : NULL;
    if (complaint)
        return complain("id", given, complaint);
    if (!given && (gethostname(host, sizeof(host) - 1) != 0 || coord_id_complaint(host)))
        snprintf(host, sizeof(host), "localhost");
    if (given)
        snprintf(ret, COORD_ID_SIZE, "%s", given);
    else
        snprintf(ret, COORD_ID_SIZE, "%s-%d", host, (int)getpid());
    return PEAL_OK;
}

/* ---- locks and elections ---- */

static int check_times(const peal_claim *claim)
{
    if (claim->wait_ms < -1)
        return lib_fail_as(PEAL_E_INVALID, ".wait_ms is -1, 0 or more");
    if (claim->ttl_ms < TTL_MIN_MS || claim->ttl_ms > TTL_MAX_MS || claim->ttl_ms % 1000)
        return lib_fail_as(PEAL_E_INVALID, ".ttl_ms must be 5000 to 3600000, in whole seconds");
    if (claim->margin_ms < 0 || claim->margin_ms * 2 >= claim->ttl_ms)
        return lib_fail_as(PEAL_E_INVALID, ".margin_ms must be less than half of .ttl_ms");
    return PEAL_OK;
}

static int check(const peal_claim *claim, char id[COORD_ID_SIZE])
{
    char why[600];
    int error = check_name(claim->name);
    if (error == PEAL_OK)
        error = check_times(claim);
    if (error == PEAL_OK)
        error = make_id(claim->id, id);
    if (error == PEAL_OK || !claim->place)
        return error;
    snprintf(why, sizeof(why), "%s:%d: %s", claim->place->file, claim->place->line, peal_why());
    return lib_fail_as(error, why);
}

static int make_claim(peal_node *node, enum coord_kind kind, peal_held **ret,
                      const peal_claim *given, size_t size)
{
    peal_claim claim = {0};
    char id[COORD_ID_SIZE];
    struct strbuf why;
    memcpy(&claim, given, size < sizeof(claim) ? size : sizeof(claim));
    claim.ttl_ms = claim.ttl_ms ? claim.ttl_ms : TTL_MS;
    claim.margin_ms = claim.margin_ms ? claim.margin_ms : claim.ttl_ms * 3 / 10;
    int error = check(&claim, id);
    struct coordinator *coordinator = error == PEAL_OK ? the_coordinator(node, &error) : NULL;
    if (!coordinator)
        return error;
    const struct claim_wish wish = {
        .want = {.kind = kind,
                 .name = claim.name,
                 .id = id,
                 .ttl_s = claim.ttl_ms / 1000,
                 .margin_ms = claim.margin_ms},
        .wait_ms = claim.wait_ms,
        .won = claim.won,
        .lost = claim.lost,
        .context = claim.context,
    };
    strbuf_init(&why);
    error = answer(coordinator_claim(coordinator, &wish, (struct claim **)ret, &why), &why);
    strbuf_release(&why);
    return error;
}

int peal_lock_sized(peal_node *node, peal_held **ret, const peal_claim *claim, size_t size)
{
    return make_claim(node, COORD_LOCK, ret, claim, size);
}

int peal_elect_sized(peal_node *node, peal_held **ret, const peal_claim *claim, size_t size)
{
    return make_claim(node, COORD_ELECTION, ret, claim, size);
}

bool peal_is_held(peal_held *held)
{
    struct claim *claim = (struct claim *)held;
    if (!claim_is_ours(claim))
        return lib_fail_forked() == PEAL_OK;
    return claim_is_held(claim);
}

int64_t peal_fence(peal_held *held)
{
    struct claim *claim = (struct claim *)held;
    return claim_is_ours(claim) ? claim_fence(claim) : lib_fail_forked();
}

int peal_release(peal_held *held)
{
    struct claim *claim = (struct claim *)held;
    struct strbuf why;
    if (!claim)
        return PEAL_OK;
    if (!claim_is_ours(claim))
        return lib_fail_forked();
    strbuf_init(&why);
    int error = answer(claim_release(claim, &why), &why);
    strbuf_release(&why);
    return error;
}

/* ---- who leads ---- */

struct peal_observer {
    struct observer *observer;
    void (*changed)(void *context, const peal_leader *leader);
    void *context;
};

static void on_changed(void *context, const struct coord_holder *holder)
{
    const struct peal_observer *observer = context;
    peal_leader leader = {0};
    if (holder)
        leader = (peal_leader){.id = holder->id,
                               .host = holder->host,
                               .process = holder->pid,
                               .since_ms = holder->since_ms,
                               .fence = holder->fence};
    observer->changed(observer->context, holder ? &leader : NULL);
}

int peal_observe(peal_node *node, const char *name,
                 void (*changed)(void *context, const peal_leader *leader), void *context,
                 peal_observer **ret)
{
    struct strbuf why;
    int error = check_name(name);
    struct coordinator *coordinator = error == PEAL_OK ? the_coordinator(node, &error) : NULL;
    if (!coordinator)
        return error;
    struct peal_observer *observer = calloc(1, sizeof(*observer));
    if (!observer)
        return lib_fail(E_NOMEM, "");
    *observer = (struct peal_observer){.changed = changed, .context = context};
    *ret = observer; /* the first call may come before this returns */
    strbuf_init(&why);
    error = answer(
        coordinator_observe(coordinator, name, on_changed, observer, &observer->observer, &why),
        &why);
    strbuf_release(&why);
    if (error != PEAL_OK)
        free(observer);
    return error;
}

/* Also within its own callback: on_changed reads nothing after it. */
int peal_observe_end(peal_observer *observer)
{
    if (!observer)
        return PEAL_OK;
    if (!observer_is_ours(observer->observer))
        return lib_fail_forked();
    observer_end(observer->observer);
    free(observer);
    return PEAL_OK;
}

int peal_who_leads(peal_node *node, const char *name, char ret_id[PEAL_ID_SIZE])
{
    struct coord_holder leader;
    struct strbuf why;
    int error = check_name(name);
    struct coordinator *coordinator = error == PEAL_OK ? the_coordinator(node, &error) : NULL;
    if (!coordinator)
        return error;
    strbuf_init(&why);
    error = answer(coordinator_leader(coordinator, name, &leader, &why), &why);
    strbuf_release(&why);
    if (error == PEAL_OK)
        snprintf(ret_id, PEAL_ID_SIZE, "%s", leader.id);
    return error;
}

/* ---- one of many ---- */

int peal_select(peal_node *node, const char *service, const char *id, int64_t hold_ms,
                char ret_id[PEAL_ID_SIZE])
{
    char own_id[COORD_ID_SIZE];
    struct coord_holder chosen;
    struct strbuf why;
    int error = check_name(service);
    if (error == PEAL_OK)
        error = make_id(id, own_id);
    if (error == PEAL_OK && hold_ms <= 0)
        error = lib_fail_as(PEAL_E_INVALID, "a selection is held for 1 ms or more");
    struct coordinator *coordinator = error == PEAL_OK ? the_coordinator(node, &error) : NULL;
    if (!coordinator)
        return error;
    strbuf_init(&why);
    struct answered answered =
        coordinator_select(coordinator, service, own_id, hold_ms, &chosen, &why);
    bool is_known = answered.answer == ANSWER_YES || answered.answer == ANSWER_BUSY;
    error = is_known ? answered.answer == ANSWER_YES : answer(answered, &why);
    strbuf_release(&why);
    if (is_known && ret_id)
        snprintf(ret_id, PEAL_ID_SIZE, "%s", chosen.id);
    return error;
}
