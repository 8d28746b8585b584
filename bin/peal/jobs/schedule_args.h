/* Shared by the commands on schedules: options for parsing, and schedules from a command line or a
 * file. */
#ifndef PEAL_SCHEDULE_ARGS_H
#define PEAL_SCHEDULE_ARGS_H

#include "cli/cli.h"
#include "words/explain.h"

/* Options for parsing a schedule. */
struct schedule_args {
    const char *tz, *job;
    enum cron_profile profile;
};
extern const struct option_row schedule_options_rows[];

struct schedule_reader {
    struct zone_db *zones;
    struct strbuf local_tz; /* the default zone */
    struct schedule_options options;
};

/* Opens the zone database ($TZDIR, else the system's); release it in any case. EXIT_USAGE: unknown
 * time zone, which has been reported. */
MUST_CHECK enum exit_code schedule_reader_init(struct schedule_reader *reader,
                                               const struct command *command,
                                               const struct schedule_args *args);
void schedule_reader_release(struct schedule_reader *reader);

/* Schedules as text, each of one line. */
struct spec {
    char *text;
    int line; /* in its source, from 1; 0: a source of one line */
};
struct specs {
    struct spec *items;
    size_t count, capacity;
    bool unquoted; /* the arguments look like one schedule without its quotes */
};

void specs_init(struct specs *specs);
void specs_release(struct specs *specs);

/* Adds each line of a text; blank lines and those that start with `#` are left out. */
MUST_CHECK enum status specs_add_text(struct specs *specs, const char *text);

/* Adds each argument; five or more without white space are one schedule whose quotes the shell
 * never saw. */
MUST_CHECK enum status specs_add_args(struct specs *specs, int argc, char **argv);

/* Parses a spec; an error is shown with a caret below its column, and a hint where quotes may be
 * missing. */
MUST_CHECK enum exit_code spec_parse(const struct specs *specs, const struct spec *spec,
                                     const struct schedule_reader *reader, struct schedule **ret);

/* Prints the warnings of a schedule to stderr, a line each: `place`, "warning: ", a sentence. */
MUST_CHECK enum status schedule_print_warnings(const struct schedule *schedule, int64_t now_s,
                                               enum language language, const char *place);

#endif
