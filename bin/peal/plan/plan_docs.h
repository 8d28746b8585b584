/* What a plan does to groups, calendars, channels and maintenance. */
#ifndef PEAL_PLAN_DOCS_H
#define PEAL_PLAN_DOCS_H

#include "jobs/documents/agent_docs.h"

enum plan_action {
    PLAN_CREATE,
    PLAN_CHANGE,
    PLAN_DELETE,
    PLAN_MOVE, /* of a job that stays as it is: its ticks change, by a calendar */
};
extern const char *const plan_action_names[]; /* "create" */

/* One field: "pointer", "before", "after" of the API, secrets masked, and where it stands. */
struct plan_field {
    const char *pointer;
    const json_t *before, *after; /* null: not given */
    struct source_place place;
};

struct plan_doc {
    enum doc_type type;
    enum plan_action action;
    const char *name;
    const struct file_doc *doc; /* NULL: deleted */
    struct source_place place;
    json_t *changes; /* owns what the fields point to */
    struct plan_field *fields;
    size_t field_count;
};

struct plan_docs {
    struct plan_doc *items;
    size_t count, same;
    size_t counts[3]; /* by action */
};

void plan_docs_release(struct plan_docs *plan);

/* What becomes of the documents of an agent, or of other files as if they were an agent's; both
 * outlive the plan. `removes`: what no file has is deleted. */
MUST_CHECK enum status plan_docs_compare(struct plan_docs *plan, const struct file_docs *after,
                                         const struct agent_docs *before, bool removes,
                                         int64_t now_ms);

/* Adds one that is deleted, and outlives the plan. */
MUST_CHECK enum status plan_docs_delete(struct plan_docs *plan, const struct agent_doc *doc);

/* Does it change this one? */
bool plan_docs_change(const struct plan_docs *plan, enum doc_type type, const char *name);

/* The documents of files as if they were those of an agent. */
MUST_CHECK enum status agent_docs_of_files(const struct file_docs *docs, struct agent_docs *ret);

#endif
