/* The options and arguments of commands, one row each: name, type of value, where the value is
 * stored, help and completion. The parser, --help, shell completion and manual pages use the same
 * rows. */
#ifndef PEAL_OPTIONS_H
#define PEAL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct command;
struct option_row;

/* What shell completion offers for a value. */
enum complete {
    COMPLETE_NOTHING, /* or the row's choices */
    COMPLETE_FILES,
    COMPLETE_JOBS,
    COMPLETE_DELETED_JOBS,
    COMPLETE_NODES,
    COMPLETE_CALENDARS,
    COMPLETE_GROUPS,
    COMPLETE_CHANNELS,
    COMPLETE_USERS,
    COMPLETE_SETTINGS,
};

/* One value of the command line, to be stored in the request. */
struct option_use {
    const struct command *command;
    const struct option_row *row;
    const char *text; /* NULL: a flag */
    void *place;
};

struct option_row {
    const char *name;  /* "count"; of an argument "JOB"; NULL with no group ends a table */
    const char *value; /* name of its value in the help; NULL: a flag. For an argument: its name in
                          messages; NULL: `name` */
    const char *help;
    const char *help_zh; /* of a row whose table has both languages; NULL: as text/ has it */
    const char *heading; /* a line above this row in the help; NULL: none */

    /* False: the text is invalid, which has been reported. */
    bool (*take)(const struct option_use *use);
    size_t place;     /* offset in the request */
    int64_t min, max; /* of a number; `max` of a list: its length */
    const char *const
        *choices;      /* NULL-terminated; accepted values, or only offered by completion */
    const char *field; /* name of the value in a JSON document or the environment */
    enum complete complete;

    char letter;               /* 'n'; 0: none */
    bool is_optional, is_many; /* only arguments; many are stored in a struct words */
    bool is_after_dashes;      /* the words after `--`; only the first row can be */

    const struct option_row *group; /* instead of all else: these rows, whose places count from
                                     * `place` */
    const struct option_row *(*make_group)(void); /* the same, for rows that another table gives */
};

/* Arguments, in the argv that was parsed. */
struct words {
    char **items;
    int count;
};

/* The values of an option that may repeat. */
enum { OPTION_LIST_MAX = 256 };
struct option_list {
    const char *items[OPTION_LIST_MAX];
    size_t count;
};

/* The first member of every request. */
struct request_base {
    const struct command *command; /* for cli_usage */
    const char *data;              /* --data, of commands that talk to an agent */
};

/* ---- rows ---- */

/* clang-format off */
/* A member whose type is not the one that the row writes does not compile.
 * NOLINTBEGIN(bugprone-macro-parentheses): a type can't have any */
#define OPTION_PLACE(of, member, type) \
    _Generic(&((struct of *)0)->member, type *: offsetof(struct of, member))
/* NOLINTEND(bugprone-macro-parentheses) */
#define OPTION_ROW(function, of, member, type, key, long_name, what, text, ...) \
    {.name = (long_name), .letter = (key), .value = (what), .help = (text), .take = (function), \
     .place = OPTION_PLACE(of, member, type), __VA_ARGS__}
#define OPTION_FLAG(of, member, key, long_name, text, ...) \
    OPTION_ROW(take_flag, of, member, bool, key, long_name, NULL, text, __VA_ARGS__)
#define OPTION_TEXT(of, member, key, long_name, what, text, ...) \
    OPTION_ROW(take_text, of, member, const char *, key, long_name, what, text, __VA_ARGS__)
#define OPTION_NUMBER(of, member, key, long_name, from, to, text) \
    OPTION_ROW(take_number, of, member, int64_t, key, long_name, "N", text, .min = (from), .max = (to))
#define OPTION_CHOICE(of, member, key, long_name, what, words, text) \
    OPTION_ROW(take_choice, of, member, unsigned, key, long_name, what, text, .choices = (words))
#define OPTION_WORD(of, member, key, long_name, what, words, text, ...) \
    OPTION_ROW(take_word, of, member, const char *, key, long_name, what, text, \
               .choices = (words), __VA_ARGS__)
#define OPTION_LIST(of, member, key, long_name, what, text, ...) \
    OPTION_ROW(take_list, of, member, struct option_list, key, long_name, what, text, __VA_ARGS__)
#define OPTION_VARIABLE(variable, long_name, what, text, ...) \
    {.name = (long_name), .value = (what), .help = (text), .take = take_variable, \
     .field = (variable), __VA_ARGS__}
#define OPTION_GROUP(of, member, rows) {.place = offsetof(struct of, member), .group = (rows)}
#define OPTION_MADE(of, member, function) \
    {.place = offsetof(struct of, member), .make_group = (function)}
#define ARGUMENT(of, member, what, ...) \
    {.name = (what), .take = take_text, .place = OPTION_PLACE(of, member, const char *), __VA_ARGS__}
#define ARGUMENTS(of, member, what, ...) \
    {.name = (what), .is_many = true, .place = OPTION_PLACE(of, member, struct words), __VA_ARGS__}
#define ROWS(...) (const struct option_row[]) {__VA_ARGS__, {0}}
/* clang-format on */

bool take_flag(const struct option_use *use);     /* bool */
bool take_text(const struct option_use *use);     /* const char * */
bool take_number(const struct option_use *use);   /* int64_t, from min to max */
bool take_choice(const struct option_use *use);   /* an enum in the order of the choices */
bool take_word(const struct option_use *use);     /* const char *, one of the choices */
bool take_list(const struct option_use *use);     /* struct option_list */
bool take_pairs(const struct option_use *use);    /* the same, of NAME=VALUE */
bool take_variable(const struct option_use *use); /* the variable `field` of the environment */

/* Reports the option with this message and a pointer to the help. Returns false. */
bool option_wrong(const struct option_use *use, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The options of every command: --lang. They fill no request. */
extern const struct option_row shared_options[];

/* ---- going through them ---- */

/* Walks the rows, with groups expanded. */
struct option_walk {
    const struct option_row *next[5];
    size_t base[5];
    int depth;
    size_t place; /* of the last row */
};
struct option_walk option_walk(const struct option_row *rows);    /* accepts NULL */
struct option_walk option_walk_of(const struct command *command); /* with the shared ones */
const struct option_row *option_next(struct option_walk *walk);

/* Fills the request; words that are not options are moved to the front of argv, which does not
 * contain the names of program and command. `parent` is the parent command, or NULL. False: an
 * error, which has been reported. */
MUST_CHECK bool options_parse(const struct command *command, const struct command *parent, int argc,
                              char **argv, void *request);

/* The index of the first word that is neither an option of these commands nor an option's value;
 * argc: none. The commands end with {0}. */
int options_find_word(const struct command *commands, int argc, char **argv);

#endif
