#include "params/secret_use.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "definition/job_decode.h"
#include "job.h"
#include "job_name.h"

/* ---- names ---- */

/* Files may have them, too: none is hidden, or leads out of its folder. */
const char *secret_name_complaint(const char *name)
{
    const char *complaint = job_name_complaint(name);
    if (complaint)
        return complaint;
    if (strlen(name) > SECRET_NAME_MAX)
        return "is longer than 127 bytes";
    return strstr(name, "/.") ? "has a part that begins with a dot" : NULL;
}

/* The length of the variable in front of '='; 0: none. */
static size_t variable_length(const char *item)
{
    const char *equals = strchr(item, '=');
    return equals ? (size_t)(equals - item) : 0;
}

/* Linux takes more, shells do not. */
static bool is_variable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!(isalpha((unsigned char)text[i]) || text[i] == '_' ||
              (i && isdigit((unsigned char)text[i]))))
            return false;
    return length > 0 && length < SECRET_VARIABLE_SIZE;
}

/* db-password -> DB_PASSWORD, billing/db-password too. */
static void derive_variable(const char *name, char ret[SECRET_VARIABLE_SIZE])
{
    const char *slash = strrchr(name, '/');
    snprintf(ret, SECRET_VARIABLE_SIZE, "%s", slash ? slash + 1 : name);
    for (char *at = ret; *at; at++)
        *at = *at == '-' || *at == '.' ? '_' : (char)toupper((unsigned char)*at);
}

struct secret_use secret_use_read(const char *item)
{
    struct secret_use use = {.name = item};
    size_t length = variable_length(item);
    if (strchr(item, '='))
        use.name = item + length + 1;
    if (length && length < sizeof(use.variable))
        memcpy(use.variable, item, length);
    else
        derive_variable(use.name, use.variable);
    return use;
}

const char *secret_use_complaint(const char *item)
{
    size_t length = variable_length(item);
    if (strchr(item, '=') && !is_variable(item, length))
        return "is not VARIABLE=SECRET: a variable has letters, digits and _ only";
    struct secret_use use = secret_use_read(item);
    const char *complaint = secret_name_complaint(use.name);
    if (complaint)
        return complaint;
    if (!is_variable(use.variable, strlen(use.variable)))
        return "has a name that is no variable: name one, as in PGPASSWORD=2nd-password";
    if (strncmp(use.variable, "PEAL_", 5) != 0 || strcmp(use.variable, "PEAL_TOKEN") == 0)
        return NULL; /* a token is what lets the job ask the agent */
    return "has a variable of peal's own: another is named by VARIABLE=SECRET";
}

/* ---- whose ---- */

bool namespace_has_job(const char *space, size_t length, const char *job_name)
{
    if (!length)
        return !strchr(job_name, '/');
    return strncmp(job_name, space, length) == 0 && job_name[length] == '/';
}

bool secret_is_of(const char *secret_name, const char *job_name)
{
    const char *slash = strrchr(secret_name, '/');
    return namespace_has_job(secret_name, slash ? (size_t)(slash - secret_name) : 0, job_name);
}

bool secret_candidate(const char *job_name, const char *name, unsigned i,
                      char ret[SECRET_NAME_SIZE])
{
    const char *end = strrchr(job_name, '/');
    if (strchr(name, '/')) {
        snprintf(ret, SECRET_NAME_SIZE, "%s", name);
        return i == 0;
    }
    for (; end && i > 0; i--) {
        const char *before = end;
        for (end = NULL; before > job_name && !end; before--)
            end = before[-1] == '/' ? before - 1 : NULL;
    }
    if (i > 0)
        return false;
    int length = end ? (int)(end - job_name) : 0;
    int size = snprintf(ret, SECRET_NAME_SIZE, "%.*s%s%s", length, job_name, end ? "/" : "", name);
    if (size >= SECRET_NAME_SIZE) /* no secret has such a name */
        ret[0] = '\0';
    return true;
}

/* ---- with the other fields ---- */

bool secret_use_has_variable(const struct job *job, const char *name, size_t length)
{
    for (size_t i = 0; job->secrets && job->secrets[i]; i++) {
        struct secret_use use = secret_use_read(job->secrets[i]);
        if (strlen(use.variable) == length && strncmp(use.variable, name, length) == 0)
            return true;
    }
    return false;
}

static bool has_variable(const struct job *job, const char *variable)
{
    for (size_t i = 0; i < job->env.count; i++)
        if (strcmp(job->env.items[i].name, variable) == 0)
            return true;
    return false;
}

enum status check_secrets(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    struct spot spot = {root, "secrets", 0, node_get(root->node, "secrets")};
    for (size_t i = 0; job->secrets && job->secrets[i]; i++) {
        struct secret_use use = secret_use_read(job->secrets[i]);
        if (has_variable(job, use.variable))
            return spot_fail(d->err, &spot, "\"env\" has the variable %s already", use.variable);
        for (size_t k = 0; k < i; k++) {
            struct secret_use other = secret_use_read(job->secrets[k]);
            if (strcmp(other.variable, use.variable) == 0)
                return spot_fail(d->err, &spot, "%s and %s would both be the variable %s",
                                 job->secrets[k], job->secrets[i], use.variable);
        }
    }
    return OK;
}
