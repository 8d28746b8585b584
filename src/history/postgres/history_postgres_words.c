/* Messages for failures, with a next step. */
#include <string.h>

#include "postgres/history_postgres_internal.h"

/* Adds the server's message on one line, without libpq's prefix. */
static void add_message(struct strbuf *words, const char *message)
{
    static const char *const starts[] = {"FATAL:  ", "ERROR:  ", "failed: "};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        const char *found = strstr(message, starts[i]);
        if (found)
            message = found + strlen(starts[i]);
    }
    size_t length = strcspn(message, "\n");
    while (length && (message[length - 1] == '.' || message[length - 1] == ' '))
        length--;
    strbuf_add(words, message, length);
}

/* Advice by message text: libpq has no SQLSTATE for an error during connection. */
static const struct {
    const char *part, *advice;
} causes[] = {
    {"password authentication failed",
     "Put the right password into ~/.pgpass, PGPASSWORD or the history's address, or change it: "
     "ALTER ROLE ... PASSWORD ..."},
    {"no password supplied",
     "Put the password into ~/.pgpass, PGPASSWORD or the history's address."},
    {"pg_hba.conf", "Let this machine and user in, in the server's pg_hba.conf."},
    {"role \"", "Make the role: CREATE ROLE ... LOGIN."},
    {"database \"", "Make the database: CREATE DATABASE ...; or name another one in the history's "
                    "address."},
    {"permission denied", "Grant it: GRANT CONNECT ON DATABASE ..."},
    {"too many clients", "Raise max_connections of the server: each node of peal takes two."},
    {"remaining connection slots",
     "Raise max_connections of the server: each node of peal takes two."},
    {"certificate", "Check sslmode and sslrootcert in the history's address."},
    {"could not translate host name", "Check the host in the history's address."},
    {"Connection refused", "Start it, or check host and port in the history's address."},
};

enum status explain_away(const struct place *place, const char *message, struct strbuf *words)
{
    strbuf_addf(words, "PostgreSQL at %s is away: ", place->at.name);
    add_message(words, message);
    strbuf_adds(words, ". ");
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strstr(message, causes[i].part)) {
            strbuf_addf(words, "%s ", causes[i].advice);
            break;
        }
    }
    strbuf_adds(words, SERVER_WAITS);
    return E_UNREACHABLE;
}

/* Status and advice by the first characters of SQLSTATE. */
static const struct {
    const char *state;
    enum status st;
    const char *advice;
} failures[] = {
    {"53100", E_IO, "Its disk is full: make room there."},
    {"53300", E_UNREACHABLE, "Raise max_connections of the server: each node of peal takes two."},
    {"53", E_IO, "The server lacks a resource: see its log."},
    {"25006", E_IO,
     "It is read-only: name the primary in the history's address (several hosts and "
     "target_session_attrs=read-write find it), or unset default_transaction_read_only."},
    {"42501", E_IO, "Grant the rights on the schema and its tables to peal's role."},
    {"57014", E_BUSY, "It took too long: see what else keeps the server busy."},
    {"55P03", E_CONFLICT, "Another session holds a lock on peal's tables: end it."},
    {"40", E_CONFLICT, "Others were in the way."},
    {"23514", E_CONFLICT, "A partition is missing."},
    {"XX001", E_CORRUPT, "Its data are damaged: restore a backup."},
    {"XX002", E_CORRUPT, "An index is damaged: REINDEX it."},
    {"", E_IO, "See the server's log."},
};

enum status explain_failure(const struct place *place, const char *sqlstate, const char *message,
                            struct strbuf *words)
{
    size_t i = 0;
    while (strncmp(sqlstate, failures[i].state, strlen(failures[i].state)) != 0)
        i++;
    strbuf_addf(words, "PostgreSQL at %s: ", place->at.name);
    add_message(words, message);
    strbuf_addf(words, ". %s " SERVER_WAITS, failures[i].advice);
    return failures[i].st;
}
