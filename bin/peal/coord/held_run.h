/* Runs a command while a lock is held, or an election is won. */
#ifndef PEAL_HELD_RUN_H
#define PEAL_HELD_RUN_H

#include "coord/coord_place.h"
#include "coord/held_child.h"

enum { HELD_TTL_S = 10, HELD_GRACE_S = 3 };

struct held_options {
    int64_t ttl_s, grace_s;
    bool keep_on_loss;
};
extern const struct option_row held_options[];
MUST_CHECK enum exit_code held_check_options(const struct command *command,
                                             const struct held_options *options);

struct held_run {
    const struct held_start *start;
    struct coord_place *place;
    enum coord_kind kind;
    const char *name, *id;
    int64_t wait_s; /* 0: not at all; less: as long as it takes */
    const struct held_options *options;
    char **words; /* of the command, ended by NULL */

    /* Afterwards: */
    int64_t fence; /* 0: it was never held */
    bool was_lost;
    int signal; /* that asked for its end, before or while the command ran; 0: none */
};

/* The status of the command, or EXIT_NOT_GOT, EXIT_LOST and so on, which was reported. */
enum exit_code held_run(struct held_run *run);

#endif
