#include "definition/undecoded.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/account.h"
#include "calendar_codec.h"
#include "change.h"
#include "channel.h"
#include "group/group.h"
#include "hooks/webhook.h"
#include "mute.h"
#include "params/run_input.h"
#include "secret_doc.h"
#include "text/message.h"

/* ---- readers ---- */

static enum status read_user(const struct store_doc *doc, struct job_error *reterr)
{
    struct user user;
    (void)reterr;
    return user_decode(doc->name, doc->json, &user);
}

static enum status read_token(const struct store_doc *doc, struct job_error *reterr)
{
    struct token token;
    (void)reterr;
    return token_decode(doc->name, doc->json, &token);
}

static enum status read_calendar(const struct store_doc *doc, struct job_error *reterr)
{
    struct calendar_definition calendar = {0};
    enum status st =
        calendar_decode_text(doc->json, strlen(doc->json), doc->name, NULL, &calendar, reterr);
    if (st == OK)
        calendar_definition_release(&calendar);
    return st;
}

static enum status read_channel(const struct store_doc *doc, struct job_error *reterr)
{
    struct channel *channel = NULL;
    json_t *value = json_loads(doc->json, 0, NULL);
    enum status st = value ? channel_decode(doc->name, value, NULL, &channel, reterr) : E_CORRUPT;
    json_decref(value);
    channel_free(channel);
    return st;
}

static enum status read_webhook(const struct store_doc *doc, struct job_error *reterr)
{
    struct webhook hook;
    (void)reterr;
    return webhook_decode(doc->name, doc->json, &hook);
}

static enum status read_group(const struct store_doc *doc, struct job_error *reterr)
{
    struct group group;
    enum status st = group_decode_text(doc->json, doc->name, &group, reterr);
    if (st == OK)
        group_release(&group);
    return st;
}

static enum status read_secret(const struct store_doc *doc, struct job_error *reterr)
{
    struct secret secret;
    (void)reterr;
    enum status st = secret_decode(doc->name, doc->json, &secret);
    if (st == OK)
        secret_release(&secret);
    return st;
}

static enum status read_mute(const struct store_doc *doc, struct job_error *reterr)
{
    struct mute mute;
    (void)reterr;
    return mute_decode(doc->name, doc->json, &mute);
}

static enum status read_change(const struct store_doc *doc, struct job_error *reterr)
{
    struct change_record change;
    char node[64];
    (void)reterr;
    enum status st = change_decode_text(doc->name, doc->json, &change, node);
    if (st == OK)
        change_record_release(&change);
    return st;
}

static enum status read_delivery(const struct store_doc *doc, struct job_error *reterr)
{
    struct delivery delivery;
    (void)reterr;
    return delivery_decode(doc, &delivery);
}

static const struct {
    const char *kind;
    enum status (*read)(const struct store_doc *doc, struct job_error *reterr);
} readers[] = {
    {USER_DOC, read_user},         {TOKEN_DOC, read_token},     {CALENDAR_DOC, read_calendar},
    {CHANNEL_DOC, read_channel},   {WEBHOOK_DOC, read_webhook}, {CHANGE_DOC, read_change},
    {DELIVERY_DOC, read_delivery}, {SECRET_DOC, read_secret},   {MUTE_DOC, read_mute},
    {GROUP_DOC, read_group},
};

/* ---- the feed ---- */

static const struct table_type docs_type = {.key_at = offsetof(struct undecoded_doc, key)};

void undecoded_init(struct undecoded *undecoded)
{
    table_init(&undecoded->docs, &docs_type);
}

void undecoded_release(struct undecoded *undecoded)
{
    table_release_items(&undecoded->docs);
}

void undecoded_print_why(const char *path, enum language language, char why[UNDECODED_WHY])
{
    if (*path)
        snprintf(why, UNDECODED_WHY, message_in(language, "this version can't read it, at %.120s"),
                 path);
    else
        snprintf(why, UNDECODED_WHY, "%s", message_in(language, "this version can't read it"));
}

/* E_NOMEM does not count: the document may be valid. */
static bool is_readable(const struct store_doc *doc, struct job_error *reterr)
{
    enum status st = OK;
    for (size_t i = 0; doc->json && i < sizeof(readers) / sizeof(readers[0]); i++) {
        if (strcmp(readers[i].kind, doc->kind) == 0)
            st = readers[i].read(doc, reterr);
    }
    return st == OK || st == E_NOMEM;
}

static void take_doc(struct undecoded *undecoded, const struct store_change *change)
{
    struct job_error error = {0};
    struct undecoded_doc named, *doc;
    snprintf(named.key, sizeof(named.key), "docs/%s/%s", change->doc->kind, change->doc->name);
    doc = table_find(&undecoded->docs, named.key);
    if (doc) {
        table_remove(&undecoded->docs, doc);
        free(doc);
    }
    if (is_readable(change->doc, &error))
        return;
    snprintf(named.path, sizeof(named.path), "%.120s", error.path);
    (void)table_add(&undecoded->docs, &named, sizeof(named));
}

/* Kinds without a reader here are added by undecoded_add, and leave when they are deleted. */
void undecoded_take(struct undecoded *undecoded, const struct store_change *change)
{
    if (change->kind != STORE_CHANGE_DOC)
        return;
    bool matters = !change->doc->json && undecoded->docs.count;
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
        matters |= strcmp(readers[i].kind, change->doc->kind) == 0;
    if (matters)
        take_doc(undecoded, change);
}

void undecoded_add(struct undecoded *undecoded, const char *kind, const char *name)
{
    struct undecoded_doc named = {.path = ""};
    snprintf(named.key, sizeof(named.key), "docs/%s/%s", kind, name);
    if (!table_find(&undecoded->docs, named.key))
        (void)table_add(&undecoded->docs, &named, sizeof(named));
}
