#include "records/lib_records.h"

#include <openssl/crypto.h>

#include "function/progress.h"
#include "lib_node.h"
#include "program/history_handover.h"
#include "records/kept_history.h"

/* Nobody asks here: a program has no port. */
static bool is_announced(void *context, const char *fingerprint)
{
    (void)context;
    (void)fingerprint;
    return false;
}

static void tell_kept_here(void *context)
{
    const struct peal_node *peal = context;
    lib_log(peal, PEAL_WARNING,
            "no agent has taken the records of this program's runs, and %s/spool is full: further "
            "ones are in %s/history.db alone",
            peal->folder, peal->folder);
}

enum status lib_records_open(struct lib_records *records, struct peal_node *peal,
                             struct history **ret, struct strbuf *why)
{
    struct kept_history_config config = {
        .dir = peal->folder, .wake = {lib_wake, peal}, .told = tell_kept_here, .context = peal};
    enum status st = gather_tls_new(is_announced, NULL, &records->tls);
    if (st == OK)
        st = history_handover_new(peal->loop, records->tls, &records->choice, config.wake,
                                  &config.agent);
    return st == OK ? kept_history_open(&config, ret, why) : st;
}

void lib_records_release(struct lib_records *records)
{
    output_offer_free(records->offer);
    gather_tls_free(records->tls);
    OPENSSL_thread_stop(); /* what it keeps for this thread: who waits for its end may exit before
                            */
    *records = (struct lib_records){0};
}

const char *lib_records_fingerprint(const struct lib_records *records)
{
    return gather_tls_fingerprint(records->tls);
}

enum status lib_records_join(struct lib_records *records, struct side *side)
{
    records->choice.peers = engine_peers(side->engine);
    records->side = side;
    return output_offer_new(side->peal->loop, records->tls, &records->choice,
                            outside_live(side->outside), &records->offer);
}

void lib_records_turn(struct lib_records *records)
{
    struct side *side = records->side;
    char progress[PROGRESS_SIZE] = "";
    const struct known_peer *agent = agent_choose(&records->choice);
    bool has_calls = calls_progress(side->calls, progress);
    engine_set_via(side->engine, agent ? agent->peer.name : "");
    engine_set_has_history(side->engine, history_waiting(side->history) > 0);
    engine_set_progress(side->engine, progress);
    bool has_output = has_calls || !outside_is_recorded(side->outside);
    output_offer_set(records->offer, agent && has_output);
}
