/* Messages for failures, with a next step. */
#include <string.h>

#include "mongo/history_mongo_internal.h"

/* Advice by message text, for a failed connection or server selection. */
static const struct {
    const char *part, *advice;
} causes[] = {
    {"connection refused", "Start it, or check host and port in the history's address."},
    {"Failed to resolve", "Check the host in the history's address."},
    {"TLS handshake failed",
     "Check tls=true, tlsCAFile and the server's certificate in the history's address."},
    {"certificate", "Check tlsCAFile in the history's address."},
    {"SRV", "Check the name in the history's address, and its SRV record in the DNS."},
    {"timeout", "See what keeps it from answering."},
};

/* Status and advice by the server's error code. */
static const struct {
    int code;
    enum status st;
    bool is_away; /* a new connection may help */
    const char *advice;
} failures[] = {
    {18, E_UNREACHABLE, true,
     "Put the right user and password into the history's address or its password_file, and "
     "authSource=admin if the user was made there."},
    {13, E_IO, false, "Grant peal's user the role readWrite on the database."},
    {10107, E_IO, true,
     "It is a secondary, which is read-only: name all members and replicaSet=NAME in the history's "
     "address, without directConnection."},
    {13435, E_IO, true,
     "It is a secondary, which is read-only: name all members and replicaSet=NAME in the history's "
     "address, without directConnection."},
    {189, E_UNREACHABLE, true, "The primary has changed."},
    {11602, E_UNREACHABLE, true, "The primary has changed."},
    {91, E_UNREACHABLE, true, "It is shutting down."},
    {11600, E_UNREACHABLE, true, "It is shutting down."},
    {14031, E_IO, false, "Its disk is full: make room there."},
    {12501, E_IO, false, "The user's quota is used up: make room there."},
    {64, E_BUSY, false,
     "Most members of the replica set have not confirmed it in time: see which are down."},
    {100, E_BUSY, false, "Too few members of the replica set are up: see which are down."},
    {50, E_BUSY, false, "It took too long: see what else keeps the server busy."},
    {112, E_CONFLICT, false, "Others were in the way."},
};

/* Adds the first line of the server's message. */
static void add_message(struct strbuf *words, const char *message)
{
    size_t length = strcspn(message, "\n");
    while (length && (message[length - 1] == '.' || message[length - 1] == ' '))
        length--;
    strbuf_add(words, message, length);
}

static const char *cause_of(const char *message)
{
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (strcasestr(message, causes[i].part))
            return causes[i].advice;
    }
    return "See the server's log.";
}

static bool is_of_connection(const bson_error_t *error)
{
    return error->domain == MONGOC_ERROR_STREAM || error->domain == MONGOC_ERROR_SERVER_SELECTION ||
           error->domain == MONGOC_ERROR_CLIENT || error->domain == MONGOC_ERROR_PROTOCOL;
}

enum status mongo_explain(const struct mongo_place *place, const bson_error_t *error,
                          bool *ret_is_away, struct strbuf *words)
{
    bool of_connection = is_of_connection(error);
    bool is_refused =
        (error->domain == MONGOC_ERROR_CLIENT && error->code == MONGOC_ERROR_CLIENT_AUTHENTICATE) ||
        strcasestr(error->message, "authentication failed");
    int code = is_refused ? 18 : of_connection ? 0 : (int)error->code;
    size_t i = 0, count = sizeof(failures) / sizeof(failures[0]);
    while (i < count && failures[i].code != code)
        i++;
    bool is_known = i < count;
    bool is_full = !is_known && strcasestr(error->message, "no space left");
    *ret_is_away = of_connection || is_refused || (is_known && failures[i].is_away);
    strbuf_addf(words, "MongoDB at %s%s: ", place->name, *ret_is_away ? " is away" : "");
    add_message(words, error->message);
    strbuf_addf(words, ". %s " SERVER_WAITS,
                is_known        ? failures[i].advice
                : of_connection ? cause_of(error->message)
                : is_full       ? "Its disk is full: make room there."
                                : "See the server's log.");
    return is_known ? failures[i].st : of_connection ? E_UNREACHABLE : E_IO;
}
