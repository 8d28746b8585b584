#include "run_secrets.h"

#include <stdlib.h>
#include <string.h>

#include "params/secret_use.h"
#include "secrets.h"
#include "spawn_message.h"

/* What the message to the spawner has room for, with all else that is in it. */
enum { ALL_MAX = 64 * 1024 };

static enum status add(struct run_environment *environment, const struct job *job,
                       const struct secret_use *use, const struct known_secrets *secrets,
                       size_t *all, struct strbuf *why)
{
    char *value = NULL;
    enum status st = secrets_value(secrets, job->name, use->name, &value, why);
    if (st != OK)
        return st;
    size_t length = strlen(value);
    *all += length;
    if (*all > ALL_MAX) {
        strbuf_adds(why, "the secrets of this job have more than 64 KiB in all");
        st = E_TOO_LARGE;
    } else {
        st = run_environment_add_secret(environment, use->variable, value);
    }
    explicit_bzero(value, length);
    free(value);
    return st;
}

enum status run_secrets_add(struct run_environment *environment, const struct job *job,
                            const struct known_secrets *secrets, struct strbuf *why)
{
    size_t all = 0;
    _Static_assert((int)SECRETS_MAX <= SPAWN_SECRETS_MAX, "the spawner takes all");
    for (size_t i = 0; job->secrets[i]; i++) {
        struct secret_use use = secret_use_read(job->secrets[i]);
        if (!secrets) {
            strbuf_adds(why, "its secrets are kept by agents: a program has none");
            return E_NOT_FOUND;
        }
        enum status st = add(environment, job, &use, secrets, &all, why);
        if (st != OK)
            return st;
    }
    return OK;
}
