#include "history_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module.h"
#include "postgres/history_postgres.h"
#include "spool/history_spool.h"

static enum status open_postgres(const char *url, struct history_wake wake, struct history **ret,
                                 struct strbuf *why)
{
    return history_postgres_open(url, NULL, wake, ret, why);
}

/* The signature of history_mongo_open. */
typedef enum status mongo_opener(const char *url, const struct history_server_limits *limits,
                                 struct history_wake wake, struct history **ret,
                                 struct strbuf *why);

/* libmongoc keeps counters in a file in shared memory, which a killed process leaves behind. The
 * variable turns that off while the library is loaded. */
static enum status open_mongo(const char *url, struct history_wake wake, struct history **ret,
                              struct strbuf *why)
{
    void (*open)(void) = NULL;
    setenv("MONGOC_DISABLE_SHM", "1", 1);
    enum status st = module_load(NULL, "peal-mongo", "MongoDB", &open, why);
    unsetenv("MONGOC_DISABLE_SHM");
    return st == OK ? ((mongo_opener *)open)(url, NULL, wake, ret, why) : st;
}

static const struct kind {
    const char *scheme;
    enum status (*open)(const char *url, struct history_wake wake, struct history **ret,
                        struct strbuf *why);
} kinds[] = {
    {"postgresql://", open_postgres},
    {"postgres://", open_postgres},
    {"mongodb://", open_mongo},
    {"mongodb+srv://", open_mongo},
};

/* NULL: unknown scheme. */
static const struct kind *find_kind(const char *url)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncmp(url, kinds[i].scheme, strlen(kinds[i].scheme)) == 0)
            return &kinds[i];
    }
    return NULL;
}

bool history_is_known(const char *url)
{
    return find_kind(url) != NULL;
}

/* Quotes only the scheme of the URL: the rest may hold a password. */
static enum status refuse(const char *url, struct strbuf *why)
{
    size_t length = strcspn(url, ":/@?");
    if (length < 20 && url[length] == ':')
        strbuf_addf(why, "peal knows no history at \"%.*s:\".", (int)length, url);
    else
        strbuf_adds(why, "this is no address of a history.");
    strbuf_adds(why, " Name one that starts with postgresql:// or mongodb://, or none: then it is "
                     "kept in a file of peal's own.");
    return E_INVALID;
}

/* Whether DIR/spool holds files. Removes an empty DIR/spool. */
static bool has_spool(const char *dir)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/spool", dir);
    bool has = rmdir(path.text) != 0 && (errno == ENOTEMPTY || errno == EEXIST);
    strbuf_release(&path);
    return has;
}

enum status history_open(const char *url, const char *dir, struct history_wake wake,
                         struct history **ret, struct strbuf *why)
{
    return history_open_limited(url, dir, 0, wake, ret, why);
}

enum status history_open_limited(const char *url, const char *dir, int64_t spool_bytes,
                                 struct history_wake wake, struct history **ret, struct strbuf *why)
{
    const struct history_spool_limits limits = {.max_bytes = spool_bytes};
    struct history *history = NULL;
    bool is_remote = url && url[0];
    const struct kind *kind = is_remote ? find_kind(url) : NULL;
    if (is_remote && !kind)
        return refuse(url, why);
    enum status st =
        kind ? kind->open(url, wake, &history, why) : history_sqlite_open(dir, wake, &history, why);
    if (st != OK)
        return st;
    if (is_remote || has_spool(dir))
        return history_spool_open(dir, &limits, history, wake, ret, why);
    *ret = history;
    return OK;
}
