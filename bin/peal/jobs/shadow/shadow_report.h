/* What `peal shadow report` compares: the jobs of the agent that are shadows, and what cron has
 * logged; of one machine, or of a fleet. */
#ifndef PEAL_SHADOW_REPORT_H
#define PEAL_SHADOW_REPORT_H

#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"
#include "crontab/shadow.h"
#include "jobs/definition.h"

/* All jobs of the agent that have this value of the label. */
MUST_CHECK enum exit_code shadow_read_jobs(struct client *client, const struct reading *reading,
                                           const char *label, struct job_list *jobs);

/* Adds the starts of a log to *log, and sorts them. `place` is a file, or "-"; `zone_name` is that
 * of times without one. */
MUST_CHECK enum exit_code shadow_read_log(const char *place, const char *zone_name,
                                          const struct reading *reading, struct cron_log *log);

/* The time span that is compared: that of the log, or what was asked for. */
struct shadow_span {
    int64_t from_s, until_s;
};
struct shadow_span shadow_span_of(const struct cron_log *log, const struct when_text *since,
                                  const struct when_text *until);

/* One job beside the log: "job", "equal", "only_cron", "only_peal" in *ret_row, and in
 * *ret_differences "at", "only" and "why" of each, in the language of the command if `is_table`.
 * Both are new and the caller's. */
MUST_CHECK enum exit_code shadow_compare_job(const struct reading *reading, const struct job *job,
                                             const struct cron_log *log, struct shadow_span span,
                                             bool is_table, json_t **ret_row,
                                             json_t **ret_differences);

/* Everything in FOLDER/HOST/cron.log beside the jobs that stand for the crontabs of FOLDER. Prints
 * it. EXIT_ERROR: there are differences, or hosts that could not be compared. */
struct fleet_comparison {
    const char *folder;
    const struct when_text *since, *until;
    enum output output;
};
MUST_CHECK enum exit_code shadow_report_fleet(struct client *client,
                                              const struct fleet_comparison *request);

#endif
