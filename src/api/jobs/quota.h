/* How much there may be: jobs in all and in a namespace, bytes of definitions, streams of an
 * account. The operator's, by the configuration file. A node decides by the jobs that it knows of:
 * of two nodes that write at the same instant both may find room for the last job. */
#ifndef PEAL_QUOTA_H
#define PEAL_QUOTA_H

#include "auth/principal.h"
#include "state/namespaces.h"
#include "strbuf.h"
#include "text/message.h"

struct catalog;
struct store_put_job;

enum { QUOTA_NAMESPACES_MAX = 256 };

struct quota_namespace {
    char name[NAMESPACE_SIZE];
    int64_t jobs;
};

/* 0: no limit. */
struct quotas {
    int64_t jobs;                       /* that are not deleted */
    int64_t namespace_jobs;             /* of each namespace that is the first part of names */
    int64_t bytes;                      /* of definitions; deleted jobs count until they are gone */
    int64_t streams;                    /* of events and output that an account has open at once */
    struct quota_namespace *namespaces; /* with a value of their own; may have slashes */
    size_t namespace_count;
};

MUST_CHECK enum status quotas_copy(const struct quotas *from, struct quotas *ret);
void quotas_release(struct quotas *quotas);

/* One more value of its own, or another one. E_INVALID: *reterr; E_NOMEM. */
MUST_CHECK enum status quotas_set_namespace(struct quotas *quotas, const char *name, int64_t jobs,
                                            struct parse_error *reterr);

/* What a write adds, or takes away. */
struct quota_item {
    const char *name; /* of the job */
    int64_t jobs, bytes;
};

/* By what the catalog has of the job now. */
struct quota_item quota_item_of(const struct catalog *catalog, const struct store_put_job *put);

/* Writes that are not in the catalog yet. */
struct quota_sum {
    int64_t jobs, bytes;
    struct namespaces namespaces;
};

MUST_CHECK enum status quota_sum_init(struct quota_sum *sum, const struct quotas *quotas);
void quota_sum_release(struct quota_sum *sum);
MUST_CHECK enum status quota_sum_add(struct quota_sum *sum, const struct quota_item *item);
void quota_sum_take_back(struct quota_sum *sum, const struct quota_item *item);

enum quota_kind { QUOTA_JOBS, QUOTA_NAMESPACE, QUOTA_BYTES };

/* Which quota is in the way. */
struct quota_excess {
    enum quota_kind kind;
    char namespace[NAMESPACE_SIZE];
    bool is_own; /* the value is the namespace's own, not that of all */
    int64_t limit, used;
};

/* The rule: what adds to something may not take it beyond its quota. What is beyond already, since
 * the quota was lowered, stays, and may be changed or become less. `planned` (NULL: nothing) is
 * what will have been written before. */
bool quota_allows(const struct quotas *quotas, const struct catalog *catalog,
                  const struct quota_sum *held, const struct quota_sum *planned,
                  const struct quota_item *item, struct quota_excess *ret);

/* A sentence with what is there, the quota and what to do. */
void quota_print(enum language language, const struct quota_excess *excess, struct strbuf *out);

/* "jobs", "namespace_jobs", "namespaces", "definitions": the key of the configuration file. */
const char *quota_key(const struct quota_excess *excess);

#endif
