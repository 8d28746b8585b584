/* The store in memory: the data that all nodes share, and a node's view of them. */
#ifndef PEAL_STORE_MEMORY_TABLES_H
#define PEAL_STORE_MEMORY_TABLES_H

#include <sys/queue.h>

#include "rules/rules.h"
#include "table.h"

enum { MEMORY_METAS = 8, MEMORY_DRAINS = 64 };

struct memory_run {
    struct run_row row;
    TAILQ_ENTRY(memory_run) of_job; /* in creation order */
};

TAILQ_HEAD(run_list, memory_run);

/* Kept after a purge while it has runs. */
struct memory_job {
    struct job_row row;
    char *name, *json;
    bool purged;
    struct run_list runs;
};

struct memory_doc {
    struct store_doc doc;
    char *json;
};

/* A node's view. */
struct store_memory {
    struct store base;
    struct memory_data *data;
    TAILQ_ENTRY(store_memory) link;
    struct store_wake wake;
    struct store_request *waiting, **waiting_end;
    bool loaded, closing;
    struct feed feed;
    struct feed_item *held;
    struct store_set_meta metas[MEMORY_METAS];
    size_t meta_count;
    struct peer self; /* the last heartbeat; without a name: none yet */
};

TAILQ_HEAD(view_list, store_memory);

struct memory_data {
    struct tables tables;
    struct table jobs;  /* by uid */
    struct table names; /* the jobs that are not deleted, by name */
    struct table runs, entries;
    struct table docs; /* by kind and name */
    struct store_drain drains[MEMORY_DRAINS];
    size_t drain_count;
    int64_t last_seq, last_fence, last_joined;
    struct view_list views;
    struct store_memory *leader; /* NULL: none */
    struct store_memory *asking; /* the view whose request is being applied */
};

struct memory_data *memory_data_new(void); /* NULL: out of memory */
void memory_data_free(struct memory_data *data);

#endif
