/* Jobs that a filter takes instead of their names, for commands that do one thing to many: a look
 * first, then all of them, page by page, by the agent (POST /jobs:act). */
#ifndef PEAL_JOB_MATCH_H
#define PEAL_JOB_MATCH_H

#include "client/client.h"

struct job_match {
    const char *query, *label, *owner, *status; /* NULL: any */
    bool all, dry_run, yes;
    bool is_given; /* one of them: jobs are not meant by their names */
};

enum {
    OPTION_MATCH_LABEL = OPTION_LONG_ONLY + 800,
    OPTION_MATCH_OWNER,
    OPTION_MATCH_STATUS,
    OPTION_MATCH_ALL,
    OPTION_MATCH_DRY_RUN,
};
/* clang-format off */
#define MATCH_OPTIONS                                                                              \
    {"query", required_argument, NULL, 'q'},                                                       \
        {"label", required_argument, NULL, OPTION_MATCH_LABEL},                                    \
        {"owner", required_argument, NULL, OPTION_MATCH_OWNER},                                    \
        {"status", required_argument, NULL, OPTION_MATCH_STATUS},                                  \
        {"all", no_argument, NULL, OPTION_MATCH_ALL},                                              \
        {"dry-run", no_argument, NULL, OPTION_MATCH_DRY_RUN},                                      \
        {"yes", no_argument, NULL, 'y'}
/* clang-format on */
#define MATCH_HELP                                                                                 \
    "  -q, --query TEXT all jobs with TEXT in name, command or notes, instead of names\n"          \
    "  --label K=V      all with this label; --owner WHO; --status ok|failed|never|running|\n"     \
    "                   paused|broken; several of them: all that they have in common\n"            \
    "  --all            every job\n"                                                               \
    "  --dry-run        only say which, and what is left alone and why\n"                          \
    "  -y, --yes        do not ask (asked is on a terminal only)\n"

/* For commands with no options but these and CLIENT_OPTIONS, and NAME...: reads them, leaves
 * `optind` at the first name, and opens. EXIT_USAGE: neither names nor a filter are given
 * (`missing` is what to say then), or both, which has been told. */
MUST_CHECK enum exit_code job_match_open(const struct command *self, int argc, char **argv,
                                         const char *missing, struct job_match *ret,
                                         struct client **ret_client);

/* Does `action` to all of them; `done` is what to say of it. */
enum exit_code job_match_run(struct client *client, const struct job_match *match,
                             const char *action, const char *done);

#endif
