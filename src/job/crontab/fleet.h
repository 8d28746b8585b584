/* The crontabs of many machines as one set of jobs: what several of them have alike is one job.
 * Pure. */
#ifndef PEAL_FLEET_H
#define PEAL_FLEET_H

#include "definition/job_codec.h"
#include "table.h"

struct fleet_item;

struct fleet {
    struct fleet_item **items; /* in the order in which they came */
    size_t count;
    struct table by_text;
};
void fleet_init(struct fleet *fleet);
void fleet_release(struct fleet *fleet);

/* Takes over a job of this host, also when it fails. *ret_twice: the host has the same one already,
 * and it is dropped. */
MUST_CHECK enum status fleet_add(struct fleet *fleet, const char *host, struct job *job,
                                 bool *ret_twice);

/* Moves the jobs to *jobs, with names and nodes: those of one host are HOST/NAME on nodes with the
 * label host=HOST; those of several are fleet/NAME, run on each node (spread: all) that has the
 * label of these hosts, fleet-1 and so on. `prefix` may be NULL. `tell` is told of each label of a
 * set. */
typedef void fleet_label(void *context, const char *label, const char *hosts);
MUST_CHECK enum status fleet_finish(struct fleet *fleet, const char *prefix, struct job_list *jobs,
                                    fleet_label *tell, void *context);

/* "db-1,web-1": the hosts of the job at this index of *jobs; the fleet's, after fleet_finish. */
const char *fleet_hosts_of(const struct fleet *fleet, size_t index);

/* Appends an anacrontab as a system's crontab, line by line: a job of every day runs at the first
 * of START_HOURS_RANGE, plus its delay. Lines that are neither stay as they are, for the reader of
 * crontabs to refuse. */
void fleet_anacrontab(const char *text, size_t length, struct strbuf *out);

#endif
