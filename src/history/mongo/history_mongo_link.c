/* One client. The socket time-out limits every operation. After a time-out or a lost connection the
 * client is discarded, and the next attempt makes a new one. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "mongo/history_mongo_internal.h"

static const char *const collection_names[MONGO_COLLECTIONS] = {
    [MONGO_RUNS] = "runs",       [MONGO_OUTPUT] = "output", [MONGO_STATS] = "stats",
    [MONGO_CHANGES] = "changes", [MONGO_META] = "meta",
};

void mongo_link_init(struct mongo_link *link, const struct mongo_place *place, enum mongo_use use)
{
    *link = (struct mongo_link){.place = place, .use = use};
    if (getrandom(&link->writer, sizeof(link->writer), 0) != sizeof(link->writer))
        link->writer = getpid();
}

static void disconnect(struct mongo_link *link)
{
    for (int i = 0; i < MONGO_COLLECTIONS; i++) {
        if (link->collections[i])
            mongoc_collection_destroy(link->collections[i]);
        link->collections[i] = NULL;
    }
    if (link->client)
        mongoc_client_destroy(link->client);
    link->client = NULL;
    link->base.is_up = false;
}

void mongo_link_release(struct mongo_link *link)
{
    disconnect(link);
    stats_changes_release(&link->pending);
}

/* ---- failures ---- */

enum status mongo_fail(struct mongo_link *link, const bson_error_t *error)
{
    bool is_away;
    strbuf_reset(&link->base.words);
    enum status st = mongo_explain(link->place, error, &is_away, &link->base.words);
    if (is_away)
        link->base.is_up = false; /* the client stays until reconnect: open cursors need it */
    return st;
}

enum status mongo_refuse(struct mongo_link *link, enum status st, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_reset(&link->base.words);
    strbuf_addf(&link->base.words, "MongoDB at %s: ", link->place->name);
    strbuf_addv(&link->base.words, format, args);
    va_end(args);
    link->base.is_up = false;
    return st;
}

/* ---- operations ---- */

enum status mongo_command(struct mongo_link *link, const bson_t *command, bson_t *ret)
{
    bson_error_t error;
    bson_t reply;
    bool done = mongoc_client_command_simple(link->client, link->place->database, command, NULL,
                                             &reply, &error);
    if (done && ret)
        bson_copy_to(&reply, ret);
    bson_destroy(&reply);
    return done ? OK : mongo_fail(link, &error);
}

void mongo_find(struct mongo_link *link, enum mongo_collection collection, const bson_t *filter,
                const bson_t *opts, struct mongo_cursor *ret)
{
    ret->link = link;
    ret->cursor =
        mongoc_collection_find_with_opts(link->collections[collection], filter, opts, NULL);
}

enum status mongo_next(struct mongo_cursor *cursor, const bson_t **ret)
{
    bson_error_t error;
    if (mongoc_cursor_next(cursor->cursor, ret))
        return OK;
    if (mongoc_cursor_error(cursor->cursor, &error))
        return mongo_fail(cursor->link, &error);
    return E_NOT_FOUND;
}

void mongo_cursor_release(struct mongo_cursor *cursor)
{
    mongoc_cursor_destroy(cursor->cursor);
}

enum status mongo_find_one(struct mongo_link *link, enum mongo_collection collection,
                           const bson_t *filter, const bson_t *opts, bson_t *ret)
{
    struct mongo_cursor cursor;
    const bson_t *document;
    mongo_find(link, collection, filter, opts, &cursor);
    enum status st = mongo_next(&cursor, &document);
    if (st == OK)
        bson_copy_to(document, ret);
    mongo_cursor_release(&cursor);
    return st;
}

enum status mongo_delete(struct mongo_link *link, enum mongo_collection collection,
                         const bson_t *filter, int64_t *ret_count)
{
    bson_error_t error;
    bson_t reply;
    bool done =
        mongoc_collection_delete_many(link->collections[collection], filter, NULL, &reply, &error);
    if (done)
        *ret_count = mongo_get_int(&reply, "deletedCount");
    bson_destroy(&reply);
    return done ? OK : mongo_fail(link, &error);
}

/* ---- bulks ---- */

mongoc_bulk_operation_t *mongo_bulk(struct mongo_link *link, enum mongo_collection collection)
{
    bson_t opts = BSON_INITIALIZER;
    BSON_APPEND_BOOL(&opts, "ordered", false);
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(link->collections[collection], &opts);
    bson_destroy(&opts);
    return bulk;
}

enum { DUPLICATE_KEY = 11000 };

/* Calls `exists` for each write whose _id exists. False: the reply has other errors, too. */
static bool only_duplicates(const bson_t *reply, void (*exists)(void *context, size_t place),
                            void *context)
{
    bson_iter_t iter, errors, field;
    bool found = false;
    if (bson_iter_init_find(&iter, reply, "writeConcernErrors") &&
        bson_iter_recurse(&iter, &errors) && bson_iter_next(&errors))
        return false;
    if (!bson_iter_init_find(&iter, reply, "writeErrors") || !bson_iter_recurse(&iter, &errors))
        return false;
    while (bson_iter_next(&errors)) {
        if (!bson_iter_recurse(&errors, &field) || !bson_iter_find(&field, "code") ||
            bson_iter_as_int64(&field) != DUPLICATE_KEY)
            return false;
        if (bson_iter_recurse(&errors, &field) && bson_iter_find(&field, "index") && exists)
            exists(context, (size_t)bson_iter_as_int64(&field));
        found = true;
    }
    return found;
}

enum status mongo_bulk_do(struct mongo_link *link, mongoc_bulk_operation_t *bulk,
                          void (*exists)(void *context, size_t place), void *context)
{
    bson_error_t error;
    bson_t reply;
    uint32_t server = mongoc_bulk_operation_execute(bulk, &reply, &error);
    bool done = server || (error.code == DUPLICATE_KEY && only_duplicates(&reply, exists, context));
    bson_destroy(&reply);
    mongoc_bulk_operation_destroy(bulk);
    return done ? OK : mongo_fail(link, &error);
}

/* ---- opening ---- */

static enum status read_password(struct mongo_link *link, mongoc_uri_t *uri)
{
    char text[512];
    const char *path = link->place->password_file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (length < 0)
        return mongo_refuse(link, E_IO, "the password cannot be read from %s: %m.", path);
    text[length] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    bool is_right = mongoc_uri_set_password(uri, text);
    explicit_bzero(text, sizeof(text));
    return is_right ? OK : mongo_refuse(link, E_IO, "%s has no password in UTF-8.", path);
}

/* A write is acknowledged when it is in the journal of a majority of the members. */
static void set_concerns(struct mongo_link *link)
{
    mongoc_write_concern_t *concern = mongoc_write_concern_new();
    mongoc_write_concern_set_w(concern, MONGOC_WRITE_CONCERN_W_MAJORITY);
    mongoc_write_concern_set_wtimeout_int64(concern, link->place->limits.write_ms);
    mongoc_write_concern_set_journal(concern, true);
    mongoc_client_set_write_concern(link->client, concern);
    mongoc_write_concern_destroy(concern);
}

static enum status make_client(struct mongo_link *link)
{
    const struct history_server_limits *limits = &link->place->limits;
    mongoc_uri_t *uri = mongoc_uri_copy(link->place->uri);
    bson_error_t error;
    enum status st = OK;
    if (!mongoc_uri_has_option(uri, MONGOC_URI_SOCKETTIMEOUTMS))
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS,
                                       link->use == MONGO_WRITES ? limits->write_ms
                                                                 : limits->read_ms);
    if (link->place->password_file)
        st = read_password(link, uri);
    if (st == OK) {
        link->client = mongoc_client_new_from_uri_with_error(uri, &error);
        st = link->client ? OK : mongo_fail(link, &error);
    }
    mongoc_uri_destroy(uri);
    if (st != OK)
        return st;
    mongoc_client_set_error_api(link->client, MONGOC_ERROR_API_VERSION_2);
    set_concerns(link);
    for (int i = 0; i < MONGO_COLLECTIONS; i++)
        link->collections[i] =
            mongoc_client_get_collection(link->client, link->place->database, collection_names[i]);
    return OK;
}

enum status mongo_link_open(struct history_link *base)
{
    struct mongo_link *link = mongo_link_of(base);
    disconnect(link);
    enum status st = make_client(link);
    if (st == OK)
        st = mongo_schema_ensure(link);
    if (st != OK)
        disconnect(link);
    return st;
}
