#include "zone/zone_db.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cron/cron_memo.h"
#include "zone/zone_file.h"
#include "zone/zone_local.h"
#include "zone/zone_suggest.h"

#define DEFAULT_DIR "/usr/share/zoneinfo"

struct loaded {
    struct zone *zone;
    struct zone_file_id id;
    struct zone *fresh; /* during a refresh: what the file says now, if it was changed */
    struct zone_file_id fresh_id;
};

struct zone_db {
    char *dir;
    struct loaded *zones; /* in order of their names */
    size_t count;
    struct cron_memo *memo; /* NULL: not asked for yet */
};

enum status zone_db_new(const char *dir, struct zone_db **ret)
{
    struct zone_db *db = calloc(1, sizeof(*db));
    if (!db)
        return E_NOMEM;
    db->dir = strdup(dir ? dir : DEFAULT_DIR);
    if (!db->dir) {
        zone_db_free(db);
        return E_NOMEM;
    }
    *ret = db;
    return OK;
}

struct zone_db *zone_db_free(struct zone_db *db)
{
    if (!db)
        return NULL;
    for (size_t i = 0; i < db->count; i++)
        zone_free(db->zones[i].zone);
    cron_memo_free(db->memo);
    free(db->zones);
    free(db->dir);
    free(db);
    return NULL;
}

struct cron_memo *zone_db_memo(struct zone_db *db)
{
    if (db && !db->memo)
        db->memo = cron_memo_new();
    return db ? db->memo : NULL;
}

/* Index of the zone, or where it is to be inserted. */
static size_t position(const struct zone_db *db, const char *name, bool *ret_found)
{
    size_t low = 0, high = db->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(zone_name(db->zones[middle].zone), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_found = low < db->count && strcmp(zone_name(db->zones[low].zone), name) == 0;
    return low;
}

/* Quotes a name from user input for a message of one line. */
static void add_quoted(struct strbuf *out, const char *name)
{
    enum { SHOWN_MAX = 64 };
    size_t length = strnlen(name, SHOWN_MAX + 1);
    strbuf_addc(out, '"');
    for (size_t i = 0; i < length && i < SHOWN_MAX; i++)
        strbuf_addc(out, name[i] >= ' ' && name[i] <= '~' ? name[i] : '?');
    strbuf_adds(out, length > SHOWN_MAX ? "...\"" : "\"");
}

static enum status fail_unknown(const struct zone_db *db, const char *name,
                                struct parse_error *reterr)
{
    struct strbuf message;
    enum status st = E_INVALID;
    struct zone_suggestions near = zone_suggest(db->dir, name);
    strbuf_init(&message);
    if (near.any_zone) {
        strbuf_adds(&message, "unknown time zone ");
        add_quoted(&message, name);
        for (int i = 0; i < near.count; i++)
            strbuf_addf(&message, "%s\"%s\"", i ? ", " : "; did you mean ", near.names[i]);
        strbuf_adds(&message, near.count ? "?" : "");
    } else {
        st = E_IO;
        strbuf_adds(&message, "time zone ");
        add_quoted(&message, name);
        strbuf_addf(&message,
                    " cannot be looked up: no time zone data in %s; install the package tzdata",
                    db->dir);
    }
    parse_fail(reterr, 0, "%s", message.text);
    if (strbuf_status(&message) != OK)
        st = E_NOMEM;
    strbuf_release(&message);
    return st;
}

enum status zone_db_get(struct zone_db *db, const char *name, const struct zone **ret,
                        struct parse_error *reterr)
{
    if (strcmp(name, "UTC") == 0 || strcmp(name, "Etc/UTC") == 0) {
        *ret = zone_utc();
        return OK;
    }
    bool found;
    size_t at = position(db, name, &found);
    if (found) {
        *ret = db->zones[at].zone;
        return OK;
    }
    struct loaded loaded = {0};
    enum status st = E_NOT_FOUND;
    if (zone_name_is_safe(name))
        st = zone_file_load(db->dir, name, &loaded.zone, &loaded.id, reterr);
    if (st == E_NOT_FOUND)
        return fail_unknown(db, name, reterr);
    if (st == OK)
        st = array_grow(&db->zones, db->count, sizeof(*db->zones));
    if (st != OK) {
        zone_free(loaded.zone);
        return st;
    }
    memmove(&db->zones[at + 1], &db->zones[at], (db->count - at) * sizeof(*db->zones));
    db->zones[at] = loaded;
    db->count++;
    *ret = loaded.zone;
    return OK;
}

/* Reads the file again if it has changed. A failure is reported in *problems and tried again with
 * the next refresh. */
static enum status look_again(const struct zone_db *db, struct loaded *loaded,
                              struct strbuf *problems)
{
    const char *name = zone_name(loaded->zone);
    struct parse_error why;
    enum status st = zone_file_identify(db->dir, name, &loaded->fresh_id, &why);
    if (st == OK && zone_file_id_equal(&loaded->fresh_id, &loaded->id))
        return OK;
    if (st == OK)
        st = zone_file_load(db->dir, name, &loaded->fresh, &loaded->fresh_id, &why);
    if (st == OK || st == E_NOMEM)
        return st;
    if (st == E_NOT_FOUND)
        parse_fail(&why, 0, "%s/%s: gone, or not a time zone any more", db->dir, name);
    if (problems)
        strbuf_addf(problems, "%s; its old rules stay in force\n", why.message);
    return OK;
}

enum status zone_db_refresh(struct zone_db *db, int *ret_changed, struct strbuf *problems)
{
    enum status st = OK;
    int changed = 0;
    /* First all files are read, then all zones are changed: out of memory changes none. */
    for (size_t i = 0; i < db->count && st == OK; i++)
        st = look_again(db, &db->zones[i], problems);
    for (size_t i = 0; i < db->count; i++) {
        struct loaded *loaded = &db->zones[i];
        if (loaded->fresh && st == OK) {
            changed += zone_swap_rules(loaded->zone, loaded->fresh);
            loaded->id = loaded->fresh_id;
        }
        loaded->fresh = zone_free(loaded->fresh);
    }
    if (st == OK)
        *ret_changed = changed;
    return st;
}

bool zone_db_local_name(const struct zone_db *db, struct strbuf *out)
{
    return zone_local_name(db->dir, getenv("TZ"), "/etc", out);
}
