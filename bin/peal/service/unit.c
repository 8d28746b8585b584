#include "service/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_templates.h" /* made from packaging/systemd */

static const char mark[] = "# Written by peal service install; peal service remove deletes it.\n";

/* The user of jobs that name none, for machines where no package makes it. */
static const char make_user[] = "--inline 'u peal-job - \"Jobs of peal\"'";

bool unit_is_ours(const char *text)
{
    return strncmp(text, mark, sizeof(mark) - 1) == 0;
}

/* What neither systemd nor its splitting of words reads in another way. */
static bool is_plain(const char *path)
{
    return strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+@:") ==
           strlen(path);
}

struct value {
    const char *name, *text;
};

static void fill_in(const char *template, const struct value *values, struct strbuf *out)
{
    while (*template) {
        const struct value *value = values;
        while (value->name && strncmp(template, value->name, strlen(value->name)) != 0)
            value++;
        if (value->name) {
            strbuf_adds(out, value->text);
            template += strlen(value->name);
        } else {
            strbuf_add(out, template ++, 1);
        }
    }
}

static enum status fill_in_all(const struct unit *unit, struct strbuf *out)
{
    struct strbuf bindir, options;
    const char *slash = strrchr(unit->program, '/');
    strbuf_init(&bindir);
    strbuf_init(&options);
    strbuf_add(&bindir, unit->program, slash ? (size_t)(slash - unit->program) : 0);
    if (unit->config)
        strbuf_addf(&options, "--config %s", unit->config);
    enum status st = strbuf_status(&bindir);
    if (st == OK)
        st = strbuf_status(&options);
    if (st == OK) {
        const struct value values[] = {
            {"@bindir@", bindir.text},
            {"@sysusers@", make_user},
            {"@data@", unit->data},
            {"@options@", options.length ? options.text : ""},
            {"/var/lib/peal", unit->data},
            {"$PEAL_OPTIONS", unit->config ? options.text : "$PEAL_OPTIONS"},
            {NULL, NULL},
        };
        strbuf_adds(out, mark);
        fill_in(unit->is_users ? users_template : machines_template, values, out);
        st = strbuf_status(out);
    }
    strbuf_release(&bindir);
    strbuf_release(&options);
    return st;
}

enum status unit_text(const struct unit *unit, struct strbuf *out)
{
    if (!is_plain(unit->program) || !is_plain(unit->data) ||
        (unit->config && !is_plain(unit->config)))
        return E_INVALID;
    return fill_in_all(unit, out);
}

enum status unit_path(const struct unit *unit, struct strbuf *out)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (!unit->is_users)
        strbuf_adds(out, "/etc/systemd/system/peal.service");
    else if (config && *config == '/')
        strbuf_addf(out, "%s/systemd/user/peal.service", config);
    else if (home && *home == '/')
        strbuf_addf(out, "%s/.config/systemd/user/peal.service", home);
    else
        return E_NOT_FOUND;
    return strbuf_status(out);
}

const char *unit_of_package(void)
{
    static const char *const places[] = {
        "/usr/local/lib/systemd/system/peal.service",
        "/usr/lib/systemd/system/peal.service",
        "/lib/systemd/system/peal.service",
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], F_OK) == 0)
            return places[i];
    return NULL;
}
