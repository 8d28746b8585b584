/* The options and arguments of commands, one row each: its name, its kind of value, where the value
 * goes, and what help and completion say of it. The parser, --help, the completion of shells and
 * the manual pages are made from the same rows. */
#ifndef PEAL_OPTIONS_H
#define PEAL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct command;
struct option_row;

/* What a shell offers in the place of a value. */
enum complete {
    COMPLETE_NOTHING, /* or the row's choices */
    COMPLETE_FILES,
    COMPLETE_JOBS,
    COMPLETE_DELETED_JOBS,
    COMPLETE_NODES,
    COMPLETE_CALENDARS,
    COMPLETE_CHANNELS,
    COMPLETE_USERS,
};

/* One value on its way from the command line to its place in the request. */
struct option_use {
    const struct command *command;
    const struct option_row *row;
    const char *text; /* NULL: it is a flag */
    void *place;
};

struct option_row {
    const char *name;  /* "count"; of an argument "JOB"; NULL with no group ends a table */
    char letter;       /* 'n'; 0: none */
    const char *value; /* what help calls its value; NULL: a flag. Of an argument: what messages
                        * call it, NULL: its name */
    const char *help;
    const char *heading; /* a line above this row in the help; NULL: none */

    /* False: the text is wrong, which has been reported. */
    bool (*take)(const struct option_use *use);
    size_t place;               /* offset in the request */
    int64_t min, max;           /* of a number; `max` of a list: how many */
    const char *const *choices; /* end with NULL; what is taken, or just offered by completion */
    const char *field; /* the name of the value elsewhere: in a document, the environment */
    enum complete complete;

    bool is_optional, is_many; /* arguments alone; many go to a struct words */
    bool is_after_dashes;      /* many, that come after `--`; the first row, if there is one */

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

/* What every request starts with. */
struct request_base {
    const struct command *command; /* for cli_usage */
    const char *data;              /* --data, of commands that talk to an agent */
};

/* ---- rows ---- */

/* clang-format off */
/* A member whose type is not the one that the row writes does not compile. */
#define OPTION_PLACE(of, member, type) \
    _Generic(&((struct of *)0)->member, type *: offsetof(struct of, member))
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

/* Reports "OPTION" and the text, and where the help is. False. */
bool option_wrong(const struct option_use *use, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- going through them ---- */

/* Rows one by one, those of groups in the place of the group. */
struct option_walk {
    const struct option_row *next[4];
    size_t base[4];
    int depth;
    size_t place; /* of the row that came last */
};
struct option_walk option_walk(const struct option_row *rows); /* NULL: there are none */
const struct option_row *option_next(struct option_walk *walk);

/* Fills the request; the words that are no options are moved to the front of argv, which has no
 * name of a program or command. `parent` is the command that this one is below, or NULL. False:
 * something is wrong, which has been reported. */
MUST_CHECK bool options_parse(const struct command *command, const struct command *parent, int argc,
                              char **argv, void *request);

/* Where the first word is that is neither an option of one of these commands nor the value of one;
 * argc: there is none. The commands end with {0}. */
int options_find_word(const struct command *commands, int argc, char **argv);

#endif
