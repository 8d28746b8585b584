#include "cmd/agent/config_notes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "definition/job_fields.h"

enum { VARIABLE_SIZE = SETTING_VARIABLE_SIZE + sizeof("_FILE") };

/* ---- variables ---- */

/* One that is set, and whose setting is set by something else. */
static void note_unused(const char *variable, const char *name, const char *origin)
{
    const char *text = getenv(variable);
    if (text && *text && origin && strcmp(origin, variable) != 0)
        cli_note("%s is not used: %s is set by %s", variable, name, origin);
}

static void note_variables(const struct agent_config *config)
{
    for (const struct setting *each = settings; each->name; each++) {
        char variable[VARIABLE_SIZE];
        const char *origin = agent_config_origin(config, each);
        setting_variable(each, variable);
        note_unused(variable, each->name, origin);
        strncat(variable, "_FILE", sizeof(variable) - strlen(variable) - 1);
        if (!setting_of_variable(variable))
            note_unused(variable, each->name, origin);
    }
}

/* Of a setting, its file, or something else that peal knows. */
static bool is_known(const char *variable)
{
    enum { FILE_LENGTH = 5 };
    size_t length = strlen(variable);
    char name[VARIABLE_SIZE];
    for (const char *const *other = variables_besides; *other; other++) {
        if (strcmp(*other, variable) == 0)
            return true;
    }
    if (length >= sizeof(name) || setting_of_variable(variable))
        return length < sizeof(name);
    snprintf(name, sizeof(name), "%s", variable);
    if (length <= FILE_LENGTH || strcmp(name + length - FILE_LENGTH, "_FILE") != 0)
        return false;
    name[length - FILE_LENGTH] = '\0';
    return setting_of_variable(name);
}

/* Variables that are almost those of a setting. Others may be anybody's. */
static void note_misspelt(void)
{
    char names[SETTINGS_MAX][SETTING_VARIABLE_SIZE];
    const char *known[SETTINGS_MAX + 1] = {0};
    size_t count = 0;
    for (const struct setting *each = settings; each->name; each++) {
        setting_variable(each, names[count]);
        known[count] = names[count];
        count++;
    }
    for (char **each = environ; *each; each++) {
        char name[VARIABLE_SIZE];
        size_t length = strcspn(*each, "=");
        if (strncmp(*each, "PEAL_", 5) != 0 || length >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)length, *each);
        const char *near = is_known(name) ? NULL : word_nearest(known, name);
        if (near)
            cli_note("%s is no setting; did you mean %s?", name, near);
    }
}

/* ---- files ---- */

/* conf.d has *.yaml alone; *.yml is what one takes for the same. */
static void note_folder(const struct agent_config *config)
{
    char *folder = agent_config_folder(config);
    DIR *dir = folder ? opendir(folder) : NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && length > 4 &&
            strcmp(entry->d_name + length - 4, ".yml") == 0)
            cli_note("%s/%s is not read: its name has to end in .yaml", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
    free(folder);
}

static bool is_open_to_all(const char *path, mode_t access)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & access);
}

/* Who can write it decides what the agent does; a secret in it is read by who can read it. */
static void note_config_files(const struct agent_config *config)
{
    if (config->file && is_open_to_all(config->file, S_IWOTH))
        cli_note("every user can change %s: chmod go-w it", config->file);
    for (const struct setting *each = settings; each->name; each++) {
        const char *origin = each->is_secret ? agent_config_origin(config, each) : NULL;
        const char *colon = origin && *origin == '/' ? strrchr(origin, ':') : NULL;
        char *path = colon ? strndup(origin, (size_t)(colon - origin)) : NULL;
        if (path && is_open_to_all(path, S_IROTH))
            cli_note("every user can read %s, which has a secret, %s: chmod 600 it", path,
                     each->name);
        free(path);
    }
}

/* Files that are there before the agent starts. */
static void note_named_files(const struct agent_config *config)
{
    static const struct {
        const char *name;
        bool is_secret;
    } files[] = {
        {"etcd.password_file", true},
        {"redis.password_file", true},
        {"etcd.key", true},
        {"redis.key", true},
        {"tls.key", true},
        {"etcd.ca", false},
        {"etcd.cert", false},
        {"redis.ca", false},
        {"redis.cert", false},
        {"tls.cert", false},
        {"notify_ca", false},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        const char *path = agent_config_value(config, setting_find(files[i].name));
        if (path && access(path, R_OK) != 0)
            cli_note("%s: can't read %s: %s", files[i].name, path, strerror(errno));
        else if (path && files[i].is_secret && is_open_to_all(path, S_IROTH))
            cli_note("%s: every user can read %s: chmod 600 it", files[i].name, path);
    }
}

void config_notes(const struct agent_config *config)
{
    note_variables(config);
    note_misspelt();
    note_folder(config);
    note_config_files(config);
    note_named_files(config);
}
