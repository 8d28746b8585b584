/* What an error of the server means for a request, and what a person can do. */
#include <string.h>

#include "redis_internal.h"

/* By the first word. */
static const struct {
    const char *word;
    enum redis_verdict verdict;
    enum status st;
} verdicts[] = {
    {"PEAL TWICE", REDIS_REFUSED, E_INVALID},
    {"PEAL NOLEASE", REDIS_REFUSED, E_NOT_FOUND},
    {"PEAL GONE", REDIS_LOST, E_UNREACHABLE}, /* somebody has flushed it: it is compared anew */
    {"PEAL FOREIGN", REDIS_REFUSED, E_INVALID},
    {"PEAL TORN", REDIS_LOST, E_UNREACHABLE},
    {"NOSCRIPT", REDIS_LOST, E_UNREACHABLE},
    {"READONLY", REDIS_LOST, E_UNREACHABLE},
    {"LOADING", REDIS_LOST, E_UNREACHABLE},
    {"UNBLOCKED", REDIS_LOST, E_UNREACHABLE},
    {"MASTERDOWN", REDIS_LOST, E_UNREACHABLE},
    {"NOAUTH", REDIS_LOST, E_UNREACHABLE},
    {"BUSY", REDIS_AGAIN, E_BUSY},
    {"NOREPLICAS", REDIS_AGAIN, E_BUSY},
    {"MISCONF", REDIS_REFUSED, E_BUSY},
    {"OOM", REDIS_REFUSED, E_BUSY},
    {"NOPERM", REDIS_REFUSED, E_INVALID},
    {"WRONGPASS", REDIS_REFUSED, E_INVALID},
    {"CLUSTERDOWN", REDIS_REFUSED, E_INVALID},
    {"MOVED", REDIS_REFUSED, E_INVALID},
    {"ERR max number of clients", REDIS_LOST, E_UNREACHABLE},
    {"", REDIS_REFUSED, E_CORRUPT},
};

enum redis_verdict redis_judge(const char *error, enum status *ret)
{
    size_t i = 0;
    while (strncmp(error, verdicts[i].word, strlen(verdicts[i].word)) != 0)
        i++;
    *ret = verdicts[i].st;
    return verdicts[i].verdict;
}

static const struct {
    const char *part, *advice;
} causes[] = {
    {"NOAUTH", "give its password: redis.password_file of the configuration, or "
               "PEAL_REDIS_PASSWORD"},
    {"WRONGPASS", "check the user, and redis.password_file or PEAL_REDIS_PASSWORD"},
    {"without any password configured", "it has none: give none"},
    {"NOPERM", "let this user do what peal's documentation lists (ACL SETUSER)"},
    {"max number of clients", "raise maxclients: each node takes two"},
    {"OOM", "raise maxmemory"},
    {"MISCONF", "see its log and its disk"},
    {"NOREPLICAS", "see its replicas, or lower min-replicas-to-write"},
    {"PEAL FOREIGN", "the prefix is in use by something else: choose another one (prefix=NAME)"},
    {"PEAL TORN", "a part of peal's data is gone, evicted or deleted: set maxmemory-policy "
                  "noeviction, and put a backup back, or remove all of it (DEL {PREFIX}:meta)"},
    {"certificate", "check redis.ca of the configuration"},
    {"Connection refused", "start it, or check host and port"},
    {"No such file", "check the socket's path"},
};

void redis_explain(const struct redis_place *place, const char *message, struct strbuf *why)
{
    strbuf_addf(why, "%s: %.*s", place->name, (int)strcspn(message, "\r\n"), message);
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strstr(message, causes[i].part)) {
            strbuf_addf(why, "; %s", causes[i].advice);
            break;
        }
    }
}
