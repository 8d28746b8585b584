/* The number of jobs per namespace. The job a/b/c is in a and in a/b. Counted are the first part of
 * each name, and deeper namespaces on request only, so that a name with many slashes costs no more
 * than another. */
#ifndef PEAL_NAMESPACES_H
#define PEAL_NAMESPACES_H

#include <stdint.h>

#include "table.h"

struct namespaces {
    struct table by_name;
};

void namespaces_init(struct namespaces *namespaces);
void namespaces_release(struct namespaces *namespaces);

/* Adds `count`, which may be negative, to the namespaces of this name. E_NOMEM: not all are
 * counted. */
enum status namespaces_add(struct namespaces *namespaces, const char *job_name, int64_t count);

/* Counts a namespace from now on, which has `count` jobs already. */
MUST_CHECK enum status namespaces_watch(struct namespaces *namespaces, const char *namespace,
                                        int64_t count);
bool namespaces_watches(const struct namespaces *namespaces, const char *namespace);

/* 0: no jobs, or not counted. */
int64_t namespaces_count(const struct namespaces *namespaces, const char *namespace, size_t length);

/* Is the job of this name in the namespace? */
bool namespace_has(const char *namespace, size_t length, const char *job_name);

#endif
