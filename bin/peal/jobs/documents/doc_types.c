#include "jobs/documents/doc_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "channel.h"
#include "cli/when.h"
#include "gates/maintenance.h"
#include "group/group.h"
#include "jobs/documents/channel_secrets.h"
#include "text/tr.h"

const char doc_type_words[] = "job, workflow, group, calendar, channel or maintenance";

static enum status set_shown(struct file_doc *doc, json_t *shown)
{
    doc->shown = shown;
    return shown ? OK : E_NOMEM;
}

static enum status read_group(struct file_doc *doc, struct zone_db *zones, struct job_error *reterr)
{
    struct group group;
    (void)zones;
    enum status st = group_decode_json(doc->value, doc->name, &group, reterr);
    if (st != OK)
        return st;
    char *text = group_encode_text(&group);
    group_release(&group);
    st = set_shown(doc, text ? json_loads(text, 0, NULL) : NULL);
    free(text);
    return st;
}

static enum status read_calendar(struct file_doc *doc, struct zone_db *zones,
                                 struct job_error *reterr)
{
    static const char *const lists[] = {"dates", "weekdays"};
    struct calendar_definition definition;
    enum status st = calendar_decode_json(doc->value, doc->name, zones, &definition, reterr);
    if (st != OK)
        return st;
    st = set_shown(doc, calendar_encode_json(&definition));
    calendar_definition_release(&definition);
    for (size_t i = 0; st == OK && i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (json_array_size(json_object_get(doc->shown, lists[i])) == 0)
            json_object_del(doc->shown, lists[i]);
    }
    return st;
}

/* What is not known here is shown as it is sent: as a mask, or as no URL at all. */
static int show_holes(const struct file_doc *doc)
{
    const char *pointer;
    json_t *where;
    int failed = 0;
    json_object_foreach (doc->holes, pointer, where) {
        json_t *url = json_object_get(doc->value, "url");
        if (strcmp(pointer, "/url") == 0)
            failed |= url ? json_object_set(doc->shown, "url", url)
                          : json_object_set_new(doc->shown, "url", json_null());
    }
    return failed;
}

static enum status read_channel(struct file_doc *doc, struct zone_db *zones,
                                struct job_error *reterr)
{
    struct channel *channel = NULL;
    json_t *whole = channel_secrets_fill(doc->value, doc->holes);
    (void)zones;
    if (!whole)
        return E_NOMEM;
    enum status st = channel_decode(doc->name, whole, NULL, &channel, reterr);
    json_decref(whole);
    if (st == OK)
        st = set_shown(doc, channel_encode(channel, true));
    if (st == OK && show_holes(doc) != 0)
        st = E_NOMEM;
    channel_free(channel);
    return st;
}

/* ---- maintenance ---- */

static enum status fail_at(struct job_error *err, const char *field, const char *message)
{
    snprintf(err->path, sizeof(err->path), "/%s", field);
    snprintf(err->message, sizeof(err->message), "%s: %s", field, tr(message));
    return E_INVALID;
}

static enum status check_texts(const json_t *value, struct job_error *err)
{
    static const char *const known[] = {"namespace", "from", "to", "reason", NULL};
    const char *name;
    json_t *each;
    json_object_foreach ((json_t *)value, name, each) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], name) != 0)
            i++;
        if (!known[i]) {
            snprintf(err->path, sizeof(err->path), "/%.64s", name);
            snprintf(err->message, sizeof(err->message),
                     tr("unknown field \"%.60s\"; known: namespace, from, to, reason"), name);
            return E_INVALID;
        }
        if (!json_is_string(each))
            return fail_at(err, name, TR("expected a text"));
    }
    return OK;
}

/* One spelling for each instant, so that texts can be compared. */
static enum status settle_time(json_t *value, const char *name)
{
    int64_t at_ms = answer_time(value, name);
    struct strbuf text;
    if (at_ms == NO_TIME)
        return OK;
    strbuf_init(&text);
    when_print_api(at_ms, &text);
    if (at_ms % 1000 == 0) { /* 2027-01-01T00:00:00.000Z */
        strbuf_truncate(&text, strcspn(text.text, "."));
        strbuf_addc(&text, 'Z');
    }
    enum status st = strbuf_status(&text);
    if (st == OK && json_object_set_new(value, name, json_string(text.text)) != 0)
        st = E_NOMEM;
    strbuf_release(&text);
    return st;
}

void maintenance_words(const json_t *shown, struct strbuf *out)
{
    const char *space = answer_text(shown, "namespace");
    const char *from = answer_text(shown, "from"), *to = answer_text(shown, "to");
    strbuf_adds(out, *space ? space : "*");
    if (*from && *to)
        strbuf_addf(out, " %s/%s", from, to);
    else if (*from || *to)
        strbuf_addf(out, " %s%s", *from ? "from " : "to ", *from ? from : to);
}

static enum status read_maintenance(struct file_doc *doc, struct zone_db *zones,
                                    struct job_error *reterr)
{
    static const char *const times[] = {"from", "to"};
    const char *space = answer_text(doc->value, "namespace");
    enum status st = check_texts(doc->value, reterr);
    (void)zones;
    for (size_t i = 0; st == OK && i < 2; i++) {
        if (json_object_get(doc->value, times[i]) && answer_time(doc->value, times[i]) == NO_TIME)
            return fail_at(reterr, times[i], TR("expected a time like \"2027-01-01T00:00:00Z\""));
    }
    if (st == OK && *space && namespace_complaint(space))
        return fail_at(reterr, "namespace", TR("expected a namespace like \"shop\""));
    if (st == OK && strlen(answer_text(doc->value, "reason")) > MAINTENANCE_REASON_MAX)
        return fail_at(reterr, "reason", TR("expected a text of up to 150 bytes"));
    if (st != OK)
        return st;
    st = set_shown(doc, json_copy(doc->value));
    for (size_t i = 0; st == OK && i < 2; i++)
        st = settle_time(doc->shown, times[i]);
    if (st == OK && !doc->name) {
        struct strbuf name;
        strbuf_init(&name);
        maintenance_words(doc->shown, &name);
        doc->name = strbuf_detach(&name);
        st = doc->name ? OK : E_NOMEM;
    }
    return st;
}

/* ---- the table ---- */

#define MEMBERS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct doc_type_row doc_type_rows[DOC_TYPES] = {
    [DOC_GROUP] = {GROUP_DOC, "/groups", "groups", group_any_name_complaint,
                   MEMBERS("cluster", "node", "labels", "notes"), read_group},
    [DOC_CALENDAR] = {CALENDAR_DOC, "/calendars", "calendars", calendar_name_complaint,
                      MEMBERS("dates", "weekdays", "windows", "timezone", "notes"), read_calendar},
    [DOC_CHANNEL] = {CHANNEL_DOC, "/channels", "channels", channel_name_complaint,
                     MEMBERS("type", "url", "headers", "secret", "token", "chat", "from", "to",
                             "user", "password", "unencrypted", "on", "default", "language",
                             "quiet", "group", "give_up", "title", "text", "notes"),
                     read_channel},
    [DOC_MAINTENANCE] = {MAINTENANCE_DOC, "/maintenance", NULL, NULL,
                         MEMBERS("namespace", "from", "to", "reason"), read_maintenance},
};

enum doc_type doc_type_of(const char *kind)
{
    enum doc_type type = DOC_GROUP;
    while (type < DOC_TYPES && strcmp(doc_type_rows[type].kind, kind) != 0)
        type++;
    return type;
}

/* The members that people write; one that has begun needs no beginning. NULL: out of memory. */
static json_t *written_members(enum doc_type type, const json_t *item)
{
    json_t *value = json_object();
    for (const char *const *name = doc_type_rows[type].members; value && *name; name++) {
        json_t *member = json_object_get(item, *name);
        bool has_begun = type == DOC_MAINTENANCE && strcmp(*name, "from") == 0 &&
                         strcmp(answer_text(item, "state"), "coming") != 0;
        if (!member || json_is_null(member) || has_begun)
            continue;
        if (json_object_set(value, *name, member) != 0) {
            json_decref(value);
            return NULL;
        }
    }
    return value;
}

enum status doc_of_agent(enum doc_type type, const json_t *item, struct zone_db *zones,
                         json_t **ret)
{
    struct file_doc doc = {.type = type, .value = written_members(type, item)};
    struct job_error error = {0};
    enum status st = doc.value ? OK : E_NOMEM;
    if (st == OK && type != DOC_MAINTENANCE)
        st = (doc.name = strdup(answer_text(item, "name"))) ? OK : E_NOMEM;
    if (st == OK && type == DOC_CHANNEL)
        st = channel_secrets_take(doc.value, NULL, &doc.holes, &error);
    if (st == OK)
        st = doc_type_rows[type].read(&doc, zones, &error);
    if (st == OK)
        *ret = json_incref(doc.shown);
    free(doc.name);
    json_decref(doc.value);
    json_decref(doc.holes);
    json_decref(doc.shown);
    return st;
}

json_t *doc_document(enum doc_type type, const char *name, json_t *shown)
{
    json_t *value = json_pack("{s:s}", "kind", doc_type_rows[type].kind);
    int failed = !value;
    if (!failed && doc_type_rows[type].complain)
        failed = json_object_set_new(value, "name", json_string(name));
    if (!failed)
        failed = json_object_update(value, shown);
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

json_t *file_doc_document(const struct file_doc *doc)
{
    json_t *shown = json_deep_copy(doc->shown);
    json_t *value = shown && channel_secrets_restore(shown, doc->holes) == OK
                        ? doc_document(doc->type, doc->name, shown)
                        : NULL;
    json_decref(shown);
    return value;
}

void doc_words(enum doc_type type, const char *name, struct strbuf *out)
{
    strbuf_addf(out, "%s %s", tr(doc_type_rows[type].kind), name);
}
