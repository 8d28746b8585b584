/* Where processes that coordinate meet: an etcd, or the data folder of this machine. */
#ifndef PEAL_COORD_PLACE_H
#define PEAL_COORD_PLACE_H

#include "cli/cli.h"
#include "config/agent_config.h"
#include "coord.h"
#include "node_store.h"

/* The first member of the requests of commands that coordinate. */
struct coord_request {
    struct request_base base; /* with --data */
    const char *store, *config;
    int64_t timeout_s;
};
enum { COORD_TIMEOUT_S = 5, COORD_ID_MAX = COORD_ID_SIZE };
extern const struct option_row coord_place_options[];

struct coord_place {
    struct loop *loop;
    struct coord *coord;
    struct agent_config config;
    struct strbuf where; /* for messages and the next step: a URL, or a folder */
    bool is_keys;        /* on servers, not in a folder */
};

/* From --store, the configuration file, $PEAL_STORE, what the agent of the data folder used last;
 * else the data folder itself. What is wrong is reported. Close it in any case. */
MUST_CHECK enum exit_code coord_place_open(const struct coord_request *request,
                                           struct coord_place *place);
void coord_place_close(struct coord_place *place);

/* Reports why something could not be done there, with a next step. */
enum exit_code coord_place_fail(const struct coord_place *place, const char *name, enum status st,
                                const char *message);

/* EXIT_USAGE, and a report, if name or id are not allowed. An id that is not given (NULL) is made:
 * of the host's name, and of the process if it is to stand for that. */
MUST_CHECK enum exit_code coord_check_name(const struct command *command, const char *name);
MUST_CHECK enum exit_code coord_make_id(const struct command *command, const char *given,
                                        bool is_of_process, char ret[COORD_ID_MAX]);

#endif
