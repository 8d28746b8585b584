/* Quotas: jobs in all and per namespace, bytes of definitions, streams per account; set in the
 * configuration file. A node decides by its own catalog: two nodes that write at the same instant
 * may both find room for the last job. */
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
    int64_t jobs;           /* without deleted ones */
    int64_t namespace_jobs; /* of each top-level namespace */
    int64_t bytes;          /* of definitions; deleted jobs count until they are purged */
    int64_t streams;        /* open event and output streams per account */
    struct quota_namespace *namespaces; /* with their own limit; may have slashes */
    size_t namespace_count;
};

MUST_CHECK enum status quotas_copy(const struct quotas *from, struct quotas *ret);
void quotas_release(struct quotas *quotas);

/* Sets the own limit of a namespace. E_INVALID: *reterr; E_NOMEM. */
MUST_CHECK enum status quotas_set_namespace(struct quotas *quotas, const char *name, int64_t jobs,
                                            struct parse_error *reterr);

/* What a write adds, or frees. */
struct quota_item {
    const char *name; /* of the job */
    int64_t jobs, bytes;
    char from[JOB_NAME_SIZE]; /* of a rename: the name that it gives up; else empty */
};

/* Compared with the job in the catalog. */
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

/* The exceeded quota. */
struct quota_excess {
    enum quota_kind kind;
    char namespace[NAMESPACE_SIZE];
    bool is_own; /* the limit is the namespace's own, not the general one */
    int64_t limit, used;
};

/* A write that adds must stay within the quota. Usage beyond a lowered quota may stay, change or
 * shrink. `planned` (NULL: nothing) is written before this item. */
bool quota_allows(const struct quotas *quotas, const struct catalog *catalog,
                  const struct quota_sum *held, const struct quota_sum *planned,
                  const struct quota_item *item, struct quota_excess *ret);

/* A sentence with the usage, the limit and what to do. */
void quota_print(enum language language, const struct quota_excess *excess, struct strbuf *out);

/* "jobs", "namespace_jobs", "namespaces", "definitions": the key of the configuration file. */
const char *quota_key(const struct quota_excess *excess);

#endif
