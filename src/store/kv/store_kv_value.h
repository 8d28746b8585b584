/* The values below the keys in etcd: a version byte, then the fields one after the other. Numbers
 * are varints, texts have their length in front. */
#ifndef PEAL_STORE_ETCD_VALUE_H
#define PEAL_STORE_ETCD_VALUE_H

#include "kv.h"
#include "rules/rules.h"

/* What a write tells those who watch. */
enum tell {
    TELL_NOTHING,
    TELL_CHANGE,
    TELL_KILL, /* a run's: it is to be killed */
};

enum { BATCH_PLACES = 128 }; /* a place in a batch is less than this */

/* Whose the revisions are, and which restore from a backup they follow. With each lift the
 * generation grows; revisions have gone back by less than 2^32. Written by an older peal, it has
 * neither stamp nor cluster id. */
struct epoch {
    struct id lineage;
    int64_t generation;   /* less than GENERATIONS */
    uint64_t stamp;       /* random, made by the lift that began the generation; 0: none */
    uint64_t cluster_id;  /* of the etcd cluster in which it began; 0: not on record */
    int64_t since;        /* the revision with which it began */
    int64_t mod_revision; /* of its key; 0: there is none */
};

/* Of generations below this one all fences are exact in a JSON reader's double (2^53). */
enum { GENERATIONS = 1 << 14 };

/* A number for what was done at this place of the transaction with this revision: it grows with
 * every write to etcd, also after a restore. Fences and seqs are such numbers. */
int64_t place_number(const struct epoch *epoch, int64_t revision, int place);

void value_write_job(struct strbuf *to, const struct job_row *row, const char *name,
                     const char *json);
void value_write_cursor(struct strbuf *to, const struct job_row *row, enum tell tell);
/* A seq of 0, and a BEGUN run's fence of 0, are the number of the write itself. */
void value_write_run(struct strbuf *to, const struct run_row *row, enum tell tell, int place);
/* The value of a run that waits for a node, at `at`: a peal that does not know all fields of the
 * job's definition can't read it. Such nodes would take the run, and could not start it. Out of
 * memory: any peal can. */
void value_leave_to_newer(struct strbuf *value, size_t at, const char *json);
/* The same for a run, in whatever state, that gets a body: a peal that does not know of bodies
 * would start it without. */
void value_leave_body_to_newer(struct strbuf *value, size_t at);
void value_write_entry(struct strbuf *to, const struct ledger_entry *entry);
void value_write_doc(struct strbuf *to, const struct store_doc *doc);
void value_write_name(struct strbuf *to, const struct id *uid);
void value_write_epoch(struct strbuf *to, const struct epoch *epoch);

/* E_VERSION, E_CORRUPT, E_NOMEM. */
MUST_CHECK enum status value_read_job(const struct kv_pair *kv, struct job_row *row, char **name,
                                      char **json); /* the texts are the caller's */
MUST_CHECK enum status value_read_cursor(const struct kv_pair *kv, struct job_row *row,
                                         enum tell *tell);
MUST_CHECK enum status value_read_run(const struct kv_pair *kv, const struct epoch *epoch,
                                      struct run_row *ret, enum tell *tell);
MUST_CHECK enum status value_read_entry(const struct kv_pair *kv, struct ledger_entry *ret);
MUST_CHECK enum status value_read_doc(const struct kv_pair *kv, int64_t *revision,
                                      char **json); /* the caller's */
MUST_CHECK enum status value_read_name(const struct kv_pair *kv, struct id *ret);
MUST_CHECK enum status value_read_epoch(const struct kv_pair *kv, struct epoch *ret);

#endif
