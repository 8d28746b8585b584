/* The settings of an agent, as one table. The configuration file, the variables PEAL_..., the
 * options of `peal start` that say the same, `peal config`, the sample file, the manual page
 * peal.yaml(5), completion and docs/CONFIG.md are derived from it. A new setting is one row. */
#ifndef PEAL_SETTINGS_H
#define PEAL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "language.h"
#include "status.h"
#include "strbuf.h"

struct agent_config;

enum setting_kind {
    SETTING_PATH,  /* char *, absolute */
    SETTING_TEXT,  /* char * */
    SETTING_INT,   /* int */
    SETTING_COUNT, /* int64_t */
    SETTING_SPAN,  /* int64_t seconds */
    SETTING_SIZE,  /* int64_t bytes */
    SETTING_OWN,   /* `set` checks and stores it */
    SETTING_PAIRS, /* a map of names, each by `set` as NAME=VALUE */
};

typedef enum status set_setting(struct agent_config *config, const char *text,
                                struct parse_error *reterr);

struct setting {
    const char *name; /* in the file, with the maps around it: "retention.runs"; NULL ends the
                         table */
    enum setting_kind kind;
    bool reloads;   /* SIGHUP takes it over; others wait for the next start */
    bool is_secret; /* shown as asterisks */
    size_t offset;  /* in struct agent_config */
    set_setting *set;
    const char *option;   /* of `peal start`; NULL: none */
    const char *initial;  /* the default; NULL: none, or as `help` has it */
    const char *sample;   /* for the sample file */
    const char *standard; /* a variable that other programs have, too; NULL: none */
    const char *help[LANGUAGES];
};

/* In the order of the sample file; those of a map follow each other. */
extern const struct setting settings[];
enum { SETTINGS_MAX = 64 };

/* By its name, that of its option, or that of its variable; NULL: none. */
const struct setting *setting_find(const char *name);
const struct setting *setting_of_option(const char *option);
const struct setting *setting_of_variable(const char *variable);

/* Its index in the table. */
size_t setting_index(const struct setting *setting);

/* "runs" of "retention.runs". */
const char *setting_leaf(const struct setting *setting);

/* "PEAL_RETENTION_RUNS". */
enum { SETTING_VARIABLE_SIZE = 64 };
void setting_variable(const struct setting *setting, char variable[SETTING_VARIABLE_SIZE]);

/* Variables PEAL_... that are no settings: of the command line, of services and containers, of
 * runs. NULL ends the list. */
extern const char *const variables_besides[];

/* All settings as a configuration file in which every line is a comment. */
void settings_print_sample(enum language language, struct strbuf *out);

#endif
