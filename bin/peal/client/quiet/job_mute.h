/* Shared by the commands that mute, acknowledge and unmute jobs, and by those that show it. */
#ifndef PEAL_JOB_MUTE_H
#define PEAL_JOB_MUTE_H

#include "cli/when.h"
#include "client/client.h"

struct mute_request {
    struct request_base base;
    struct words names;
    int64_t for_s; /* 0: not given */
    struct when_text until;
    const char *reason;
};

/* Of mute and of ack; unmute has those of the client alone. */
extern const struct option_row mute_options[];

/* POSTs /jobs/NAME/COMMAND for each job, and says how it is then. All are tried; returns the last
 * failure. */
enum exit_code job_mute_run(struct client *client, void *place);

/* "muted until Thu 2026-11-19 14:00:00 (in 1h 12m) by alice: a reason", or how it has ended. */
void mute_print(const json_t *mute, struct strbuf *out);

#endif
