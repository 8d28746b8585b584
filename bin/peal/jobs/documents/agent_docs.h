/* The documents that an agent has, as those of files are: for comparisons, and for export. */
#ifndef PEAL_AGENT_DOCS_H
#define PEAL_AGENT_DOCS_H

#include "client/client.h"
#include "jobs/documents/file_docs.h"

struct agent_doc {
    enum doc_type type;
    char *name;       /* as file_doc.name */
    json_t *shown;    /* as file_doc.shown; NULL: the caller may not see it whole, or this version
                         can't read it */
    int64_t revision; /* 0: it has none */
};

struct agent_docs {
    struct agent_doc *items; /* by type and name */
    size_t count;
};

/* The types as 1 << type. An agent that has no channels has none of them. Maintenance that is over
 * is left out. */
MUST_CHECK enum exit_code agent_docs_read(struct client *client, unsigned types,
                                          struct zone_db *zones, struct agent_docs *ret);
void agent_docs_release(struct agent_docs *docs);

/* NULL: there is none. */
const struct agent_doc *agent_docs_find(const struct agent_docs *docs, enum doc_type type,
                                        const char *name);

/* The types that the documents of files have. */
unsigned file_docs_types(const struct file_docs *docs);

/* What a document of a file is beside that of the agent. */
enum doc_state {
    DOC_IS_NEW,
    DOC_DIFFERS,
    DOC_IS_SAME,   /* as far as it can be seen: values of secrets can't */
    DOC_IS_OVER,   /* maintenance that has ended */
    DOC_IS_HIDDEN, /* the caller may not see the agent's */
};

/* Settles what depends on the time and on the agent: maintenance that has begun needs no beginning,
 * and a URL that is not here is that of the agent. E_NOMEM. */
MUST_CHECK enum status file_docs_meet(struct file_docs *docs, const struct agent_docs *agent,
                                      int64_t now_ms);

/* After that. `agent` may be NULL. */
enum doc_state doc_state_of(const struct file_doc *doc, const struct agent_doc *agent,
                            int64_t now_ms);

#endif
