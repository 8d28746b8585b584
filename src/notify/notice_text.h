/* A notice in words, English or Chinese. Plain text: who puts it into another format escapes it. */
#ifndef PEAL_NOTICE_TEXT_H
#define PEAL_NOTICE_TEXT_H

#include "notice.h"
#include "zone/zone_db.h"

/* Where the words come from besides the notice. */
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

/* Of the run in the console, or of the job if there was no run; nothing if it has no address. */
void notice_link(const struct notice *notice, const struct notice_world *world, struct strbuf *out);

#endif
