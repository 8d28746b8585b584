/* What the readers of a timer and of its service share. */
#ifndef PEAL_SYSTEMD_BUILD_H
#define PEAL_SYSTEMD_BUILD_H

#include "foreign/foreign_build.h"
#include "systemd/systemd.h"
#include "systemd/unit_file.h"
#include "systemd/unit_words.h"

struct systemd_build {
    struct foreign_build foreign;
    const struct systemd_options *options;
    const struct unit_set *units;
};

/* A timer on its way to a job. */
struct systemd_timer {
    struct foreign_task who;
    const struct unit *timer, *service;
    struct unit_names names; /* of the service, for specifiers */
    const struct unit_line *when,
        *what;    /* where errors about the schedule, and about the command, are */
    bool is_lost; /* an error was noted */
};

/* A note at this line; `line` NULL: about the timer as such. An error loses the timer. */
MUST_CHECK enum status systemd_note(struct systemd_build *build, struct systemd_timer *timer,
                                    const struct unit_line *line, enum foreign_severity severity,
                                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* An error in the text of a line's value. */
MUST_CHECK enum status systemd_fail(struct systemd_build *build, struct systemd_timer *timer,
                                    const struct unit_line *line, const struct parse_error *err);

/* Takes the value over. */
MUST_CHECK enum status systemd_set(json_t *definition, const char *name, json_t *value);
MUST_CHECK enum status systemd_set_seconds(json_t *definition, const char *name, int64_t seconds);

/* Reads a time span, in whole seconds, up. *ret_s is -1 if there is none, or it is infinite. */
MUST_CHECK enum status systemd_seconds(struct systemd_build *build, struct systemd_timer *timer,
                                       const struct unit_line *line, int64_t *ret_s);

/* Sets what the service runs, and how: command, env, cwd, user, limits and so on. */
MUST_CHECK enum status systemd_set_service(struct systemd_build *build, struct systemd_timer *timer,
                                           json_t *definition);

/* Sets `command`, or `shell` where systemd does what only a shell does for peal. */
MUST_CHECK enum status systemd_set_command(struct systemd_build *build, struct systemd_timer *timer,
                                           json_t *definition);

/* A warning for each line with a value whose name is not among `known`. */
MUST_CHECK enum status systemd_note_rest(struct systemd_build *build, struct systemd_timer *timer,
                                         const struct unit *unit, const char *section,
                                         const char *const *known);

#endif
