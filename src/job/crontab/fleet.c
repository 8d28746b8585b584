#include "crontab/fleet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

struct fleet_item {
    char *text; /* its definition, without a name */
    struct job *job;
    struct strbuf hosts; /* "db-1,web-1", in the order in which they came */
    char *last;          /* of them */
    size_t host_count;
};

static const struct table_type by_text = {.key_at = offsetof(struct fleet_item, text),
                                          .is_pointer = true};

void fleet_init(struct fleet *fleet)
{
    *fleet = (struct fleet){.items = NULL};
    table_init(&fleet->by_text, &by_text);
}

static void free_item(struct fleet_item *item)
{
    free(item->text);
    free(item->last);
    strbuf_release(&item->hosts);
    job_free(item->job);
    free(item);
}

void fleet_release(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        free_item(fleet->items[i]);
    free(fleet->items);
    table_release(&fleet->by_text);
    fleet_init(fleet);
}

/* ---- the jobs of a host ---- */

/* What is the same in two jobs that are alike. NULL: out of memory. */
static char *text_of(const struct job *job)
{
    json_t *definition = job_encode_json(job, false);
    if (!definition || json_object_del(definition, "name") != 0) {
        json_decref(definition);
        return NULL;
    }
    char *text = json_dumps(definition, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(definition);
    return text;
}

static enum status add_host(struct fleet_item *item, const char *host)
{
    char *copy = strdup(host);
    strbuf_addf(&item->hosts, "%s%s", item->host_count ? "," : "", host);
    if (!copy || item->hosts.failed) {
        free(copy);
        return E_NOMEM;
    }
    free(item->last);
    item->last = copy;
    item->host_count++;
    return OK;
}

/* Takes job and text over. */
static enum status add_item(struct fleet *fleet, const char *host, struct job *job, char *text)
{
    struct fleet_item *item = calloc(1, sizeof(*item));
    if (!item) {
        free(text);
        job_free(job);
        return E_NOMEM;
    }
    item->text = text;
    item->job = job;
    strbuf_init(&item->hosts);
    enum status st = array_grow(&fleet->items, fleet->count, sizeof(*fleet->items));
    if (st == OK)
        st = add_host(item, host);
    if (st == OK)
        st = table_insert(&fleet->by_text, item);
    if (st == OK)
        fleet->items[fleet->count++] = item;
    else
        free_item(item);
    return st;
}

enum status fleet_add(struct fleet *fleet, const char *host, struct job *job, bool *ret_twice)
{
    char *text = text_of(job);
    struct fleet_item *same = text ? table_find(&fleet->by_text, text) : NULL;
    *ret_twice = same && strcmp(same->last, host) == 0;
    if (text && !same)
        return add_item(fleet, host, job, text);
    enum status st = !text ? E_NOMEM : *ret_twice ? OK : add_host(same, host);
    free(text);
    job_free(job);
    return st;
}

/* ---- names and nodes ---- */

/* A name that is taken, or a set of hosts and its number. */
struct word {
    char *text;
    size_t number;
};

static const struct table_type by_word = {.key_at = offsetof(struct word, text),
                                          .is_pointer = true};

static enum status add_word(struct table *words, const char *text, size_t number)
{
    struct word *word = calloc(1, sizeof(*word));
    if (!word)
        return E_NOMEM;
    *word = (struct word){strdup(text), number};
    if (word->text && table_insert(words, word) == OK)
        return OK;
    free(word->text);
    free(word);
    return E_NOMEM;
}

static void release_words(struct table *words)
{
    struct word *word;
    for (size_t at = 0; (word = table_next(words, &at));) {
        free(word->text);
        free(word);
    }
    table_release(words);
}

struct naming {
    const char *prefix;
    struct table names, sets;
    fleet_label *tell;
    void *context;
};

static enum status set_name(struct naming *naming, const struct fleet_item *item)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "%s%s/%s", naming->prefix ? naming->prefix : "",
                item->host_count > 1 ? "fleet" : item->last, item->job->name);
    size_t length = name.length;
    for (int number = 2; table_find(&naming->names, name.text) && !name.failed; number++) {
        strbuf_truncate(&name, length);
        strbuf_addf(&name, "-%d", number);
    }
    enum status st = strbuf_status(&name);
    if (st == OK)
        st = add_word(&naming->names, name.text, 0);
    if (st == OK)
        st = job_set_text(&item->job->name, name.text);
    strbuf_release(&name);
    return st;
}

static enum status set_nodes(struct naming *naming, const struct fleet_item *item)
{
    struct strbuf where;
    const struct word *set = table_find(&naming->sets, item->hosts.text);
    bool is_one = item->host_count == 1;
    size_t number = set ? set->number : naming->sets.count + 1;
    strbuf_init(&where);
    if (is_one)
        strbuf_addf(&where, "host=%s", item->last);
    else
        strbuf_addf(&where, "fleet-%zu", number);
    enum status st = strbuf_status(&where);
    if (st == OK && !is_one && !set) {
        naming->tell(naming->context, where.text, item->hosts.text);
        st = add_word(&naming->sets, item->hosts.text, number);
    }
    if (st == OK)
        st = job_set_text(&item->job->where, where.text);
    if (st == OK && !is_one)
        st = job_set_text(&item->job->spread, "all");
    strbuf_release(&where);
    return st;
}

enum status fleet_finish(struct fleet *fleet, const char *prefix, struct job_list *jobs,
                         fleet_label *tell, void *context)
{
    struct naming naming = {.prefix = prefix, .tell = tell, .context = context};
    enum status st = OK;
    table_init(&naming.names, &by_word);
    table_init(&naming.sets, &by_word);
    for (size_t i = 0; i < fleet->count && st == OK; i++) {
        struct fleet_item *item = fleet->items[i];
        st = set_name(&naming, item);
        if (st == OK)
            st = set_nodes(&naming, item);
        if (st == OK)
            st = array_grow(&jobs->items, jobs->count, sizeof(struct job *));
        if (st != OK)
            break;
        jobs->items[jobs->count++] = item->job;
        item->job = NULL;
    }
    release_words(&naming.names);
    release_words(&naming.sets);
    return st;
}

const char *fleet_hosts_of(const struct fleet *fleet, size_t index)
{
    return fleet->items[index]->hosts.text;
}

/* ---- anacron ---- */

enum { FIRST_HOUR = 3, MINUTES_MAX = 20 * 60 };

/* When a job of this period runs; false: it is no period. */
static bool add_time(const char *period, int hour, int delay, struct strbuf *out)
{
    char *end;
    int minute = delay % 60;
    hour = (hour + delay / 60) % 24;
    long days = strtol(period, &end, 10);
    bool is_days = isdigit((unsigned char)*period) && !*end;
    if ((is_days && days == 1) || strcmp(period, "@daily") == 0)
        strbuf_addf(out, "%d %d * * *", minute, hour);
    else if ((is_days && days == 7) || strcmp(period, "@weekly") == 0)
        strbuf_addf(out, "%d %d * * 0", minute, hour);
    else if ((is_days && days >= 28 && days <= 31) || strcmp(period, "@monthly") == 0)
        strbuf_addf(out, "%d %d 1 * *", minute, hour);
    else if (strcmp(period, "@yearly") == 0 || strcmp(period, "@annually") == 0)
        strbuf_addf(out, "%d %d 1 1 *", minute, hour);
    else
        return false;
    return true;
}

/* "1 5 cron.daily nice run-parts /etc/cron.daily" */
static bool add_job(const char *line, int hour, struct strbuf *out)
{
    char period[16] = "", id[64] = "";
    int delay = 0, used = 0;
    struct strbuf time;
    if (sscanf(line, "%15s %d %63s %n", period, &delay, id, &used) < 3 || !used || !line[used] ||
        delay < 0 || delay > MINUTES_MAX)
        return false;
    strbuf_init(&time);
    bool is_good = add_time(period, hour, delay, &time);
    if (is_good)
        strbuf_addf(out, "%s root ", time.text);
    for (const char *at = line + used; is_good && *at; at++) {
        if (*at == '%')
            strbuf_addc(out, '\\');
        strbuf_addc(out, *at);
    }
    out->failed = out->failed || time.failed;
    strbuf_release(&time);
    return is_good;
}

void fleet_anacrontab(const char *text, size_t length, struct strbuf *out)
{
    static const char range[] = "START_HOURS_RANGE=";
    int hour = FIRST_HOUR;
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        char *line = strndup(text, (size_t)(stop - text));
        if (!line) {
            out->failed = true;
            return;
        }
        if (strncmp(line, range, strlen(range)) == 0) {
            int value = atoi(line + strlen(range));
            hour = value >= 0 && value < 24 ? value : hour;
        } else if (strchr(line, '=') || *line == '#' || !add_job(line, hour, out)) {
            strbuf_adds(out, line);
        }
        strbuf_addc(out, '\n');
        free(line);
        text = newline ? newline + 1 : end;
    }
}
