/* How the runs of a program are seen from the cluster's agents: its records go to one of them,
 * which also passes on the output and the progress of calls that go on. The loop's. */
#ifndef PEAL_LIB_RECORDS_H
#define PEAL_LIB_RECORDS_H

#include "gather_tls.h"
#include "history.h"
#include "program/agent_choice.h"
#include "program/output_offer.h"

struct peal_node;
struct side;

struct lib_records {
    struct gather_tls *tls;
    struct agent_choice choice;
    struct output_offer *offer;
    struct side *side; /* whose records they are; NULL: not known yet */
};

/* Zero before; lib_records_release also after a failure. *ret is the history for the engine, which
 * must be freed before. */
MUST_CHECK enum status lib_records_open(struct lib_records *records, struct peal_node *peal,
                                        struct history **ret, struct strbuf *why);
void lib_records_release(struct lib_records *records);

/* The certificate of this node, for its heartbeats. */
const char *lib_records_fingerprint(const struct lib_records *records);

/* From now on the other nodes are known, and what is called here. */
MUST_CHECK enum status lib_records_join(struct lib_records *records, struct side *side);

/* Before the engine's turn, which tells the others. */
void lib_records_turn(struct lib_records *records);

#endif
