/* A notice as text, English or Chinese. Plain text: callers escape it for other formats. */
#ifndef PEAL_NOTICE_TEXT_H
#define PEAL_NOTICE_TEXT_H

#include "notice.h"
#include "zone/zone_db.h"

/* Context of the text besides the notice. */
struct notice_world {
    struct zone_db *zones;  /* for times of the job's zone; NULL: UTC */
    const char *public_url; /* of the console, for links; NULL: none */
};

/* One line: "backup failed: exit code 3". */
void notice_title(const struct notice *notice, enum language language, struct strbuf *out);

/* "Job: backup\nState: failed, ..." and so on; the output is not in it. */
void notice_facts(const struct notice *notice, enum language language,
                  const struct notice_world *world, struct strbuf *out);

/* The words above the output: "The last lines of its output:". */
const char *notice_output_title(const struct notice *notice, enum language language);

/* A time in the zone of the job; 850 ms, 12.3 s, 1h2m. */
void notice_time(const struct notice *notice, const struct notice_world *world, int64_t ms,
                 struct strbuf *out);
void notice_span(int64_t ms, enum language language, struct strbuf *out);

/* The URL of the run in the console, or of the job if there was no run; nothing without
 * public_url. */
void notice_link(const struct notice *notice, const struct notice_world *world, struct strbuf *out);

#endif
