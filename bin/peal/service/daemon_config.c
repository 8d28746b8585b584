/* The configuration of an agent: options over the configuration file over variables over what the
 * data folder was last used with. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "data_folder.h"
#include "service/daemon.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

static enum exit_code set_path(char **member, const char *path)
{
    char *full = daemon_absolute(path);
    if (!full)
        return cli_fail(E_NOMEM);
    free(*member);
    *member = full;
    return EXIT_OK;
}

static enum exit_code read_file(struct agent_config *config)
{
    struct strbuf why, text;
    strbuf_init(&why);
    strbuf_init(&text);
    enum status st = agent_config_read(config, &why);
    if (st != OK) {
        tr_parsed_text(*why.text ? why.text : status_text(st), &text);
        cli_error("%s", text.text);
    }
    strbuf_release(&why);
    strbuf_release(&text);
    return st == OK            ? EXIT_OK
           : st == E_INVALID   ? EXIT_INVALID
           : st == E_NOT_FOUND ? EXIT_NOT_FOUND
                               : EXIT_ERROR;
}

/* ---- one value ---- */

/* `what` names the value in messages; `text` NULL: not given. */
static enum exit_code give(struct agent_config *config, const char *name, const char *what,
                           const char *text, const char *origin)
{
    const struct setting *setting = setting_find(name);
    struct parse_error err = {0};
    enum status st = text ? agent_config_give(config, setting, text, origin, &err) : OK;
    if (st == E_INVALID) {
        tr_parsed(err.message, sizeof(err.message));
        cli_parse_error(what, text, &err);
        return EXIT_INVALID;
    }
    return cli_fail(st);
}

static enum exit_code use_variable(struct agent_config *config, const struct setting *setting)
{
    struct parse_error err = {0};
    struct setting_found found;
    enum status st = agent_config_take_variable(config, setting, &found, &err);
    if (st == E_INVALID) {
        tr_parsed(err.message, sizeof(err.message));
        cli_parse_error(found.variable, found.text && !setting->is_secret ? found.text : "", &err);
    }
    free(found.text);
    return st == E_INVALID ? EXIT_INVALID : cli_fail(st);
}

static bool is_of_store(const struct setting *setting)
{
    return strcmp(setting->name, "store") == 0 || strncmp(setting->name, "etcd.", 5) == 0 ||
           strncmp(setting->name, "redis.", 6) == 0;
}

/* All variables; or those of the store alone. */
static enum exit_code take_variables(struct agent_config *config, bool store_only)
{
    enum exit_code code = EXIT_OK;
    for (const struct setting *each = settings; each->name && code == EXIT_OK; each++) {
        if (is_of_store(each) || !store_only)
            code = use_variable(config, each);
    }
    return code;
}

/* ---- options ---- */

/* An option, and how it came. */
struct given_option {
    char what[64];    /* "--listen" */
    char origin[128]; /* that, or "--listen of the last start" */
};

static struct given_option describe(const struct option_row *row, bool is_kept)
{
    struct given_option given;
    snprintf(given.what, sizeof(given.what), "--%s", row->name);
    snprintf(given.origin, sizeof(given.origin), "%s%s", given.what,
             is_kept ? " of the last start" : "");
    return given;
}

static enum exit_code give_labels(struct agent_config *config, const struct option_list *labels,
                                  const struct given_option *given)
{
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < labels->count; i++)
        code = give(config, "labels", given->what, labels->items[i], given->origin);
    if (code == EXIT_OK && labels->count > DAEMON_LABELS_MAX) {
        cli_error("at most %d labels; more of them in the configuration file", DAEMON_LABELS_MAX);
        code = EXIT_INVALID;
    }
    return code;
}

static enum exit_code give_listen(struct agent_config *config, const struct option_list *addresses,
                                  const struct given_option *given)
{
    struct strbuf list;
    if (addresses->count > DAEMON_LISTEN_MAX) {
        cli_error("at most %d addresses", DAEMON_LISTEN_MAX);
        return EXIT_INVALID;
    }
    strbuf_init(&list);
    for (size_t i = 0; i < addresses->count; i++)
        strbuf_addf(&list, "%s%s", i ? "," : "", addresses->items[i]);
    enum exit_code code = cli_fail(strbuf_status(&list));
    if (code == EXIT_OK && list.length)
        code = give(config, "listen", given->what, list.text, given->origin);
    strbuf_release(&list);
    return code;
}

static enum exit_code give_path(struct agent_config *config, const char *name, const char *path,
                                const struct given_option *given)
{
    char *full = path ? daemon_absolute(path) : NULL;
    if (path && !full)
        return cli_fail(E_NOMEM);
    enum exit_code code = give(config, name, given->what, full, given->origin);
    free(full);
    return code;
}

/* `given`: the options of the command line, without those that were kept. */
static enum exit_code give_option(struct agent_config *config, const struct option_row *row,
                                  const struct daemon_options *options,
                                  const struct daemon_options *given)
{
    const struct setting *setting = setting_of_option(row->name);
    const void *place = (const char *)options + row->place;
    const void *typed = (const char *)given + row->place;
    bool is_list = row->take == take_list;
    if (!setting || strcmp(setting->name, "data") == 0)
        return EXIT_OK;
    const struct given_option option = describe(
        row, is_list ? !((const struct option_list *)typed)->count : !*(const char *const *)typed);
    if (is_list && setting->kind == SETTING_PAIRS)
        return give_labels(config, place, &option);
    if (is_list)
        return give_listen(config, place, &option);
    const char *text = *(const char *const *)place;
    return setting->kind == SETTING_PATH
               ? give_path(config, setting->name, text, &option)
               : give(config, setting->name, option.what, text, option.origin);
}

/* ---- the whole ---- */

static enum exit_code settle_data(const struct daemon_options *options, struct agent_config *config)
{
    const char *named = getenv("PEAL_DATA");
    const char *origin = options->base.data ? "--data" : named && *named ? "PEAL_DATA" : NULL;
    struct strbuf folder;
    if (config->data && !options->base.data)
        return EXIT_OK;
    strbuf_init(&folder);
    enum status st = data_folder_find(options->base.data, &folder);
    enum exit_code code = cli_fail(st);
    if (code == EXIT_OK && origin)
        code = give_path(config, "data", folder.text, &(struct given_option){"--data", ""});
    else if (code == EXIT_OK)
        code = set_path(&config->data, folder.text);
    if (code == EXIT_OK && origin) {
        char **noted = &config->given[setting_index(setting_find("data"))].origin;
        free(*noted);
        *noted = strdup(origin);
        code = cli_fail(*noted ? OK : E_NOMEM);
    }
    strbuf_release(&folder);
    return code;
}

/* A restarted agent stays in its cluster, and keeps its history, by default. */
static enum exit_code recall_url(struct agent_config *config, const char *name, const char *what)
{
    if (agent_config_origin(config, setting_find(name)))
        return EXIT_OK;
    char *known = data_folder_recall(config->data, name);
    enum exit_code code = give(config, name, what, known, "the last start");
    free(known);
    return code;
}

/* An unprivileged agent runs jobs only as itself: another user in the options or the file is an
 * error. */
static enum exit_code check_user(const struct agent_config *config)
{
    if (!config->default_user || geteuid() == 0)
        return EXIT_OK;
    const struct passwd *user = getpwnam(config->default_user);
    if (user && user->pw_uid == geteuid())
        return EXIT_OK;
    cli_error("default_user %s: only an agent of root can run jobs as another user",
              config->default_user);
    return EXIT_INVALID;
}

/* `file` NULL: $PEAL_CONFIG. */
static enum exit_code read_named(const char *file, struct agent_config *config)
{
    const char *named = file ? file : getenv("PEAL_CONFIG");
    if (!named || !*named)
        return EXIT_OK;
    enum exit_code code = set_path(&config->file, named);
    return code == EXIT_OK ? read_file(config) : code;
}

enum exit_code daemon_configure_store(const char *file, const char *store,
                                      struct agent_config *config)
{
    agent_config_init(config);
    enum exit_code code = read_named(file, config);
    if (code == EXIT_OK)
        code = give(config, "store", "--store", store, "--store");
    return code == EXIT_OK ? take_variables(config, true) : code;
}

/* Options that are not given are those of the last start in the data folder. *ret_text is the
 * caller's, and must outlive the options. */
static enum exit_code recall(struct daemon_options *options, char **ret_text)
{
    struct agent_config config;
    enum exit_code code = daemon_configure_store(options->config, NULL, &config);
    if (code == EXIT_OK)
        code = settle_data(options, &config);
    if (code == EXIT_OK) {
        *ret_text = data_folder_read(config.data, "options");
        daemon_options_recall(options, *ret_text);
    }
    agent_config_release(&config);
    return code;
}

/* Notes the options for the next restart. A flag of the store is a part of its URL. */
static enum exit_code note_options(const struct daemon_options *options,
                                   struct agent_config *config)
{
    struct daemon_options noted = *options;
    struct strbuf text;
    strbuf_init(&text);
    if (options->accept_loss)
        noted.store = config->store.whole;
    enum status st = daemon_options_print(&noted, &text);
    if (st == OK && !(config->options = strdup(text.text)))
        st = E_NOMEM;
    strbuf_release(&text);
    return cli_fail(st);
}

static enum exit_code accept_loss(struct agent_config *config)
{
    struct parse_error err = {0};
    enum status st = store_url_accept_loss(&config->store, &err);
    if (st != E_INVALID)
        return cli_fail(st);
    tr_parsed(err.message, sizeof(err.message));
    cli_error("--accept-loss: %s", err.message);
    return EXIT_INVALID;
}

static enum exit_code configure(const struct daemon_options *options,
                                const struct daemon_options *given, bool background,
                                struct agent_config *config)
{
    agent_config_init(config);
    enum exit_code code = read_named(options->config, config);
    for (const struct option_row *row = daemon_rows; row->name && code == EXIT_OK; row++)
        code = give_option(config, row, options, given);
    if (code == EXIT_OK)
        code = take_variables(config, false);
    if (code == EXIT_OK)
        code = settle_data(options, config);
    if (code == EXIT_OK)
        code = recall_url(config, "store", tr("the file \"store\" of the data folder"));
    if (code == EXIT_OK && options->accept_loss)
        code = accept_loss(config);
    if (code == EXIT_OK)
        code = recall_url(config, "history", tr("the file \"history\" of the data folder"));
    if (code == EXIT_OK)
        code = check_user(config);
    if (code == EXIT_OK)
        code = note_options(options, config);
    if (code == EXIT_OK && background && !config->log_file) {
        config->log_file = data_folder_file(config->data, "peal.log");
        if (!config->log_file)
            code = cli_fail(E_NOMEM);
    }
    return code;
}

enum exit_code daemon_configure(const struct daemon_options *options, bool background,
                                struct agent_config *config)
{
    return configure(options, options, background, config);
}

enum exit_code daemon_configure_kept(const struct daemon_options *options,
                                     struct agent_config *config, struct strbuf *kept)
{
    struct daemon_options all = *options;
    char *known = NULL;
    agent_config_init(config);
    enum exit_code code = options->fresh ? EXIT_OK : recall(&all, &known);
    if (code == EXIT_OK)
        code = configure(&all, options, true, config);
    if (code == EXIT_OK) {
        daemon_options_print_kept(options, &all, kept);
        code = cli_fail(strbuf_status(kept));
    }
    free(known);
    return code;
}
