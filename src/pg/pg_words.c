#include "pg_words.h"

#include <string.h>

/* By the first letters of SQLSTATE, the more precise ones first. */
static const struct {
    const char *state;
    enum pg_verdict verdict;
    enum status st;
} verdicts[] = {
    {"40001", PG_AGAIN, E_CONFLICT},    {"40P01", PG_AGAIN, E_CONFLICT},
    {"55P03", PG_BLOCKED, E_BUSY},      {"54000", PG_MUTE, E_BUSY},
    {"PL404", PG_REFUSED, E_NOT_FOUND}, {"21000", PG_REFUSED, E_INVALID},
    {"25006", PG_LOST, E_UNREACHABLE},  {"26000", PG_LOST, E_UNREACHABLE},
    {"42P05", PG_LOST, E_UNREACHABLE},  {"42P01", PG_LOST, E_UNREACHABLE},
    {"42883", PG_LOST, E_UNREACHABLE},  {"3F000", PG_LOST, E_UNREACHABLE},
    {"57014", PG_REFUSED, E_BUSY},      {"57", PG_LOST, E_UNREACHABLE},
    {"08", PG_LOST, E_UNREACHABLE},     {"53300", PG_LOST, E_UNREACHABLE},
    {"53", PG_REFUSED, E_BUSY},         {"54", PG_REFUSED, E_TOO_LARGE},
    {"42501", PG_REFUSED, E_INVALID},   {"XX", PG_REFUSED, E_CORRUPT},
    {"", PG_REFUSED, E_INVALID},
};

enum pg_verdict pg_judge(const char *sqlstate, enum status *ret)
{
    size_t i = 0;
    while (strncmp(sqlstate, verdicts[i].state, strlen(verdicts[i].state)) != 0)
        i++;
    *ret = verdicts[i].st;
    return verdicts[i].verdict;
}

/* By the text: libpq has no SQLSTATE for an error while it connects. */
static const struct {
    const char *part, *advice;
} causes[] = {
    {"password authentication failed", "give the right one in ~/.pgpass, PGPASSWORD or "
                                       "a file that passfile= names"},
    {"no password supplied", "give it in ~/.pgpass, PGPASSWORD or a file that passfile= names"},
    {"pg_hba.conf", "let this machine and user in, in the server's pg_hba.conf"},
    {"role \"", "make the role: CREATE ROLE ... LOGIN"},
    {"database \"", "make the database: CREATE DATABASE ..., or name another one"},
    {"permission denied", "grant it: GRANT CREATE ON DATABASE ..., for peal's own schema"},
    {"too many clients", "raise max_connections: each node takes two, and two for a history"},
    {"remaining connection slots", "raise max_connections: each node takes two, and two for a "
                                   "history"},
    {"certificate", "check sslmode and sslrootcert"},
    {"could not translate host name", "check the host"},
    {"Connection refused", "start it, or check host and port"},
};

void pg_explain(const struct pg_address *address, const char *message, struct strbuf *why)
{
    static const char *const starts[] = {"FATAL:  ", "ERROR:  ", "failed: "};
    const char *shown = message;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        const char *found = strstr(shown, starts[i]);
        if (found)
            shown = found + strlen(starts[i]);
    }
    strbuf_addf(why, "%s: %.*s", address->name, (int)strcspn(shown, "\n"), shown);
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strstr(message, causes[i].part)) {
            strbuf_addf(why, "; %s", causes[i].advice);
            break;
        }
    }
}
