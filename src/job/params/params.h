/* Parameters of a job: named values that a request for a run may choose. A run finds them in its
 * environment as PEAL_PARAM_NAME, and as ${NAME} in the words of its command and in its HTTP call;
 * a shell never reads them as code. */
#ifndef PEAL_PARAMS_H
#define PEAL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

enum {
    PARAMS_MAX = 64,
    PARAM_NAME_MAX = 63,
    PARAM_VALUE_MAX = 8 * 1024,
    PARAM_ALLOWED_MAX = 100,
    PARAM_HELP_MAX = 500,
};

#define PARAM_VARIABLE "PEAL_PARAM_"

enum param_type { PARAM_STRING, PARAM_INTEGER, PARAM_NUMBER, PARAM_BOOLEAN };

extern const char *const param_type_names[]; /* by type; NULL at the end */

struct job_param {
    char *name;
    enum param_type type;
    char *initial;  /* the default; NULL: a request must choose */
    char **allowed; /* NULL-terminated; NULL: any value of the type */
    char *help;     /* NULL: none */
    char *value;    /* of one run; NULL: the default. Not part of the definition */
};

struct job_params {
    struct job_param *items;
    size_t count;
};

void job_params_release(struct job_params *params);

/* NULL: no parameter of this name, which need not end there. */
const struct job_param *job_params_find(const struct job_params *params, const char *name,
                                        size_t length);

/* The value for a run; NULL: a request should have chosen one. */
const char *job_param_value(const struct job_param *param);

/* What is wrong with the name; NULL: nothing. */
const char *param_name_complaint(const char *name);

/* Is the text a value of the type, and allowed? E_INVALID: `why` has the rest of a sentence that
 * begins with the parameter's name. */
enum { PARAM_WHY_SIZE = 200 };
MUST_CHECK enum status param_value_check(const struct job_param *param, const char *text,
                                         char why[PARAM_WHY_SIZE]);

/* ---- ${NAME} in the words of a command: params_argv.c ---- */

/* The declared parameter that a `${NAME}` at or after *at names, and *at set to its `$`; NULL: no
 * more. `$${NAME}` names none. */
const struct job_param *params_next_use(const struct job_params *params, const char **at);

/* Does a shell, or another interpreter, read this word of the command as code? */
bool argv_word_is_code(char *const *argv, size_t index);

/* A value that begins with a dash would be read as an option where a word begins with it, unless
 * the definition lists the value as allowed or the type is a number. */
bool param_value_is_option(const struct job_param *param, const char *value, char *const *argv);

/* The command with the values of this run; free with job_names_free. E_INVALID: a value is missing.
 */
struct job;
MUST_CHECK enum status params_expand_argv(const struct job *job, char ***ret);

#endif
