/* The secrets of a job: "db-password", which the run has as DB_PASSWORD, or
 * "PGPASSWORD=db-password"; and the names of secrets. A secret belongs to the namespace of its
 * name, as a job does. Pure. */
#ifndef PEAL_SECRET_USE_H
#define PEAL_SECRET_USE_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

struct decoder;
struct job;
struct spot;

enum {
    SECRET_NAME_MAX = 127, /* bytes */
    SECRET_NAME_SIZE = SECRET_NAME_MAX + 1,
    SECRETS_MAX = 32, /* of one job */
    SECRET_VARIABLE_SIZE = 128,
};

/* One item of a job's list. */
struct secret_use {
    char variable[SECRET_VARIABLE_SIZE];
    const char *name; /* inside the item */
};

/* What is wrong; NULL: nothing. */
const char *secret_name_complaint(const char *name);
const char *secret_use_complaint(const char *item);

/* Of an item without complaint. */
struct secret_use secret_use_read(const char *item);

/* Is it the variable of a secret of the job? `name` need not end there. */
bool secret_use_has_variable(const struct job *job, const char *name, size_t length);

/* The names under which a secret may be known that a job uses: a name with a slash is whole; any
 * other is looked for in the namespace of the job, then in those around it, and at last without
 * one. False: there is no name number `i`, from 0. */
bool secret_candidate(const char *job_name, const char *name, unsigned i,
                      char ret[SECRET_NAME_SIZE]);

/* Is the job in the namespace? "": is it in none? */
bool namespace_has_job(const char *space, size_t length, const char *job_name);

/* May the job use a secret of that name, which is not shared? */
bool secret_is_of(const char *secret_name, const char *job_name);

/* No variable twice, none that `env` has (secret_use.c, for job_decode.c). */
enum status check_secrets(const struct decoder *d, const struct spot *root);

#endif
