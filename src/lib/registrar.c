#include "registrar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "definition/job_codec.h"
#include "lib_node.h"

enum { RETRY_MS = 1000 };

/* What is to be done about a function. */
enum verdict {
    VERDICT_LEAVE,  /* the store has it, as the program wants it or as people have changed it */
    VERDICT_CREATE, /* there is no such job */
    VERDICT_CHANGE, /* the program wants it otherwise than it did */
    VERDICT_REFUSE, /* the name is somebody else's */
};

void registrar_init(struct registrar *registrar, struct side *side)
{
    *registrar = (struct registrar){.side = side};
}

bool registrar_is_idle(const struct registrar *registrar)
{
    return !registrar->is_busy;
}

/* ---- deciding ---- */

static enum verdict refuse(const struct registrar *registrar, const struct function *function,
                           const char *whose)
{
    lib_log(registrar->side->peal, PEAL_ERROR,
            "%s%sthe name \"%s\" is taken: %s; choose another name for the function",
            function->place, *function->place ? ": " : "", function->name, whose);
    return VERDICT_REFUSE;
}

static enum verdict compare(const struct registrar *registrar, const struct function *function,
                            const struct job *there)
{
    char whose[200];
    const struct job_function *known = &there->function;
    if (!known->program)
        return refuse(registrar, function, "a job of that name is no function");
    if (strcmp(known->program, registrar->side->functions.program) != 0) {
        snprintf(whose, sizeof(whose), "program %s has a function of that name", known->program);
        return refuse(registrar, function, whose);
    }
    if (known->digest && strcmp(known->digest, function->job->function.digest) == 0)
        return VERDICT_LEAVE;
    if (known->version <= registrar->side->functions.version)
        return VERDICT_CHANGE;
    lib_log(registrar->side->peal, PEAL_INFO,
            "function \"%s\" is registered by version %lld of the program; this is version %d, and "
            "leaves it as it is",
            function->name, (long long)known->version, registrar->side->functions.version);
    return VERDICT_LEAVE;
}

static enum verdict decide(const struct registrar *registrar, const struct function *function,
                           const struct catalog_job *there, struct job **ret_old)
{
    struct job_error error;
    *ret_old = NULL;
    if (!there || there->deleted)
        return VERDICT_CREATE;
    if (job_decode_stored(there->json, NULL, ret_old, &error) != OK)
        return refuse(registrar, function, "a job that this version can't read has it");
    return compare(registrar, function, *ret_old);
}

/* ---- writing ---- */

/* People's own marks on the job stay. */
static void inherit(struct job *job, const struct job *old)
{
    job->paused = old->paused;
    job->created_ms = old->created_ms;
    job->paused_ms = old->paused_ms;
    job->resumed_ms = old->resumed_ms;
    job->skip_until_ms = old->skip_until_ms;
}

/* Any agent that leads brings it to the history: a program has no node of its own name. */
static void record(struct registrar *registrar, struct registration *item,
                   struct store_put_job *put, const struct job *old_job, const char *before)
{
    struct peal_node *peal = registrar->side->peal;
    const char *program = registrar->side->functions.program;
    uint8_t random[10];
    struct change_record change = {.at_ms = item->function->job->updated_ms,
                                   .via = VIA_NODE,
                                   .action = old_job ? CHANGE_CHANGE : CHANGE_CREATE,
                                   .target_kind = TARGET_JOB,
                                   .job_uid = put->uid,
                                   .before = (char *)before,
                                   .after = item->json};
    random_from_block(&peal->random, random, sizeof(random));
    change.id = id_make((struct wall_ms){change.at_ms}, random);
    snprintf(change.actor, sizeof(change.actor), "%s", peal->node);
    snprintf(change.target, sizeof(change.target), "%s", put->name);
    snprintf(change.job_name, sizeof(change.job_name), "%s", put->name);
    snprintf(change.detail, sizeof(change.detail), "function of program %s, version %d", program,
             registrar->side->functions.version);
    strbuf_init(&item->record);
    if (change_write_record(&change, program, &item->record)) {
        put->record = item->record.text;
        put->record_id = change.id;
    }
}

static enum status fill(struct registrar *registrar, size_t i, struct now now,
                        struct function *function, struct catalog_job *there, const struct job *old)
{
    struct registration *item = &registrar->items[i];
    struct store_put_job *put = &registrar->puts[i];
    struct job *job = function->job;
    job->updated_ms = now.wall.ms;
    if (old) {
        job->uid = there->uid;
        inherit(job, old);
    } else {
        random_from_block(&registrar->side->peal->random, registrar->random,
                          sizeof(registrar->random));
        job->uid = id_make(now.wall, registrar->random);
        job->created_ms = now.wall.ms;
    }
    *put = (struct store_put_job){.uid = job->uid,
                                  .name = function->name,
                                  .paused = job->paused,
                                  .expected_revision = old ? there->revision : 0,
                                  .cursor_ms = now.wall.ms,
                                  .seen_cursor_ms = old ? there->cursor_ms : 0};
    enum status st = OK;
    if (old)
        st = engine_pass(registrar->side->engine, there, now.wall.ms, REASON_EDITED, &item->passed,
                         &put->passed_count);
    put->passed = item->passed;
    if (st == OK && !(item->json = job_encode_text(job)))
        st = E_NOMEM;
    put->json = item->json;
    item->function = function;
    if (st == OK)
        record(registrar, item, put, old, there ? there->json : NULL);
    return st;
}

static void release(struct registration *item)
{
    free(item->passed);
    free(item->json);
    strbuf_release(&item->record);
    *item = (struct registration){0};
}

static void written(struct store_request *request, enum status st)
{
    struct registrar *registrar = request->context;
    for (size_t i = 0; i < request->count; i++) {
        struct registration *item = &registrar->items[i];
        bool is_done = st == OK && registrar->puts[i].result == PUT_OK;
        /* Else somebody was faster, or the store is away: it is looked at again. */
        functions_settle(&registrar->side->functions, item->function,
                         is_done ? FUNCTION_KNOWN : FUNCTION_NEW);
        release(item);
    }
    registrar->is_busy = false;
    if (st != OK)
        registrar->retry_ms = INT64_MIN; /* set by the next turn, which knows the time */
    turns_ask(registrar->side->peal->turns);
}

/* True: it is in the request. */
static bool take(struct registrar *registrar, size_t i, struct now now, struct function *function)
{
    struct job *old;
    struct catalog_job *there =
        catalog_by_name(engine_catalog(registrar->side->engine), function->name);
    enum verdict verdict = decide(registrar, function, there, &old);
    enum function_state state = verdict == VERDICT_REFUSE ? FUNCTION_REFUSED : FUNCTION_KNOWN;
    bool is_to_write = verdict == VERDICT_CREATE || verdict == VERDICT_CHANGE;
    if (is_to_write && fill(registrar, i, now, function, there, old) != OK) {
        release(&registrar->items[i]);
        is_to_write = false;
        state = FUNCTION_NEW;
        registrar->retry_ms = now.wall.ms + RETRY_MS;
    }
    job_free(old);
    if (!is_to_write)
        functions_settle(&registrar->side->functions, function, state);
    return is_to_write;
}

void registrar_step(struct registrar *registrar, struct now now)
{
    struct function *function;
    size_t count = 0;
    if (registrar->retry_ms == INT64_MIN)
        registrar->retry_ms = now.wall.ms + RETRY_MS;
    if (registrar->is_busy || now.wall.ms < registrar->retry_ms)
        return;
    registrar->retry_ms = 0;
    while (count < REGISTRAR_AT_ONCE && !registrar->retry_ms &&
           (function = functions_next(&registrar->side->functions)))
        count += take(registrar, count, now, function);
    if (!count)
        return;
    registrar->is_busy = true;
    registrar->request = (struct store_request){.op = STORE_PUT_JOB,
                                                .count = count,
                                                .items.puts = registrar->puts,
                                                .done = written,
                                                .context = registrar};
    store_submit(registrar->side->store, &registrar->request);
}
