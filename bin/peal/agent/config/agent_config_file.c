/* The configuration file, and those of conf.d beside it. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/agent_config.h"
#include "definition/job_fields.h"
#include "document/node.h"

enum { FILE_BYTES_MAX = 1024 * 1024, KEYS_MAX = SETTINGS_MAX, NAME_SIZE = 128 };

/* A file that is being read, for messages. */
struct reader {
    struct agent_config *config;
    const char *file;
    struct strbuf *why;
};

static enum status complain(const struct reader *reader, const struct node *node,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

static enum status complain(const struct reader *reader, const struct node *node,
                            const char *format, ...)
{
    va_list args;
    strbuf_addf(reader->why, "%s:%d:%d: ", reader->file, node->line, node->column);
    va_start(args, format);
    strbuf_addv(reader->why, format, args);
    va_end(args);
    return E_INVALID;
}

/* ---- values ---- */

static enum status give(const struct reader *reader, const struct setting *setting,
                        const struct node *node, const char *text, struct parse_error *reterr)
{
    struct strbuf origin;
    strbuf_init(&origin);
    strbuf_addf(&origin, "%s:%d", reader->file, node->line);
    enum status st = strbuf_status(&origin);
    if (st == OK)
        st = agent_config_give(reader->config, setting, text, origin.text, reterr);
    strbuf_release(&origin);
    return st;
}

/* The line in which this file has the setting already, as "retention.runs: 5" and in the map
 * "retention", too; 0: it has not. */
static int find_first(const struct reader *reader, const struct setting *setting)
{
    const char *origin = agent_config_origin(reader->config, setting);
    size_t length = strlen(reader->file);
    bool is_here = origin && strncmp(origin, reader->file, length) == 0 && origin[length] == ':';
    return is_here ? atoi(origin + length + 1) : 0;
}

static enum status read_scalar(const struct reader *reader, const struct setting *setting,
                               const struct node *node)
{
    struct parse_error err = {0};
    int first = find_first(reader, setting);
    if (first)
        return complain(reader, node, "\"%.60s\" is given twice; the first is in line %d",
                        setting->name, first);
    if (node->kind != NODE_SCALAR)
        return complain(reader, node, "%s is one value, not %s", setting_leaf(setting),
                        node_describe(node));
    enum status st = give(reader, setting, node, node->text, &err);
    if (st != E_INVALID)
        return st;
    /* The others name the key themselves. */
    if (setting->kind == SETTING_SPAN || setting->kind == SETTING_SIZE ||
        setting->kind == SETTING_OWN)
        return complain(reader, node, "%s: %s", setting_leaf(setting), err.message);
    return complain(reader, node, "%s", err.message);
}

static enum status read_pair(const struct reader *reader, const struct setting *setting,
                             const struct entry *entry)
{
    const struct node *value = entry->value;
    bool is_label = setting->set == agent_config_add_label;
    bool has_value = value->kind == NODE_SCALAR && *value->text;
    struct parse_error err = {0};
    struct strbuf pair;
    if (is_label && value->kind != NODE_SCALAR && value->kind != NODE_NULL)
        return complain(reader, value, "a label has one value, not %s", node_describe(value));
    if (!is_label && value->kind != NODE_SCALAR)
        return complain(reader, value, "a namespace has one number of jobs, not %s",
                        node_describe(value));
    strbuf_init(&pair);
    strbuf_addf(&pair, "%s%s%s", entry->key->text, has_value || !is_label ? "=" : "",
                has_value ? value->text : "");
    enum status st = strbuf_status(&pair);
    if (st == OK)
        st = give(reader, setting, entry->key, pair.text, &err);
    if (st == E_INVALID)
        st = complain(reader, entry->key, "%s", err.message);
    strbuf_release(&pair);
    return st;
}

static enum status read_pairs(const struct reader *reader, const struct setting *setting,
                              const struct node *map)
{
    enum status st = OK;
    if (map->kind == NODE_NULL)
        return OK;
    if (map->kind != NODE_MAP && setting->set == agent_config_add_label)
        return complain(reader, map, "labels are names and values, like zone: eu, not %s",
                        node_describe(map));
    if (map->kind != NODE_MAP)
        return complain(reader, map, "%s are namespaces and numbers, like team: 500, not %s",
                        setting_leaf(setting), node_describe(map));
    for (const struct entry *entry = map->entries; entry && st == OK; entry = entry->next)
        st = read_pair(reader, setting, entry);
    return st;
}

/* ---- keys ---- */

/* Is the setting, by its name, in the map "retention."? */
static bool is_in(const struct setting *setting, const char *map)
{
    return strncmp(setting->name, map, strlen(map)) == 0;
}

/* The setting that has this name in a map, as "runs" is "retention.runs"; NULL: none, or several.
 */
static const char *find_in_maps(const char *key)
{
    const struct setting *found = NULL;
    for (const struct setting *each = settings; each->name; each++) {
        bool is_in_map = setting_leaf(each) != each->name;
        if (!is_in_map || strcmp(setting_leaf(each), key) != 0)
            continue;
        if (found)
            return NULL;
        found = each;
    }
    return found ? found->name : NULL;
}

/* A key that is a map, or the settings of one: up to the next dot. */
static enum status unknown_key(const struct reader *reader, const char *map,
                               const struct node *node)
{
    char names[KEYS_MAX][NAME_SIZE];
    const char *known[KEYS_MAX + 1] = {0};
    size_t count = 0;
    for (const struct setting *each = settings; each->name && count < KEYS_MAX; each++) {
        const char *rest = each->name + strlen(map);
        if (!is_in(each, map))
            continue;
        snprintf(names[count], NAME_SIZE, "%.*s", (int)strcspn(rest, "."), rest);
        known[count] = names[count];
        count++;
    }
    const char *elsewhere = find_in_maps(node->text);
    const char *near = elsewhere ? elsewhere : word_nearest(known, node->text);
    return near ? complain(reader, node, "unknown key \"%s\"; did you mean %s?", node->text, near)
                : complain(reader, node, "unknown key \"%s\"", node->text);
}

/* Does the table have settings in a map of this name? */
static bool is_map(const char *map)
{
    for (const struct setting *each = settings; each->name; each++) {
        if (is_in(each, map))
            return true;
    }
    return false;
}

static enum status read_map(const struct reader *reader, const char *map, const struct node *node);

static enum status read_entry(const struct reader *reader, const char *map,
                              const struct entry *entry)
{
    char name[NAME_SIZE];
    bool fits = snprintf(name, sizeof(name), "%s%s", map, entry->key->text) < NAME_SIZE - 1;
    const struct setting *setting = fits ? setting_find(name) : NULL;
    if (setting && setting->kind == SETTING_PAIRS)
        return read_pairs(reader, setting, entry->value);
    if (setting)
        return read_scalar(reader, setting, entry->value);
    size_t length = strlen(name);
    memcpy(name + length, ".", 2);
    if (fits && !strchr(entry->key->text, '.') && is_map(name))
        return read_map(reader, name, entry->value);
    return unknown_key(reader, map, entry->key);
}

/* `map` is empty, or the name of the map with a dot. */
static enum status read_map(const struct reader *reader, const char *map, const struct node *node)
{
    enum status st = OK;
    if (node->kind == NODE_NULL)
        return OK;
    if (node->kind != NODE_MAP)
        return complain(reader, node, "a map of keys and values is expected here, not %s",
                        node_describe(node));
    for (const struct entry *entry = node->entries; entry && st == OK; entry = entry->next)
        st = read_entry(reader, map, entry);
    return st;
}

/* ---- files ---- */

static enum status load(const char *path, struct strbuf *text, struct strbuf *why)
{
    char chunk[4096];
    size_t length;
    FILE *file = fopen(path, "re");
    if (!file) {
        enum status st = errno == ENOENT ? E_NOT_FOUND : E_IO;
        strbuf_addf(why, "can't read %s: %s", path, strerror(errno));
        return st;
    }
    while ((length = fread(chunk, 1, sizeof(chunk), file)) > 0 && text->length < FILE_BYTES_MAX)
        strbuf_add(text, chunk, length);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed || text->length >= FILE_BYTES_MAX) {
        strbuf_addf(why, "can't read %s: %s", path, failed ? strerror(errno) : "too large");
        return E_IO;
    }
    return strbuf_status(text);
}

static enum status read_file(const struct reader *reader)
{
    struct parse_error err = {0};
    struct strbuf text;
    struct tree tree;
    const struct node *documents;
    strbuf_init(&text);
    tree_init(&tree);
    enum status st = load(reader->file, &text, reader->why);
    if (st != OK)
        goto out;
    st = tree_from_yaml(&tree, text.text, text.length, &documents, &err);
    if (st != OK) {
        strbuf_addf(reader->why, "%s:%d:%d: %s", reader->file, err.line, err.column, err.message);
        goto out;
    }
    if (documents->count > 1)
        st = complain(reader, documents->entries->next->value, "one document is enough");
    else if (documents->count == 1)
        st = read_map(reader, "", documents->entries->value);
out:
    tree_release(&tree);
    strbuf_release(&text);
    return st;
}

char *agent_config_folder(const struct agent_config *config)
{
    const char *slash = config->file ? strrchr(config->file, '/') : NULL;
    char *folder;
    if (!slash || asprintf(&folder, "%.*s/conf.d", (int)(slash - config->file), config->file) < 0)
        return NULL;
    return folder;
}

static int is_part(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* By the bytes of their names, whatever the locale is. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Without such a folder there is nothing to read. */
static enum status read_folder(struct agent_config *config, const char *folder, struct strbuf *why)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_part, compare_names);
    enum status st = OK;
    if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        strbuf_addf(why, "can't read %s: %s", folder, strerror(errno));
        return E_IO;
    }
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (st == OK && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            st = E_NOMEM;
        if (st == OK)
            st = read_file(&(struct reader){config, path, why});
        free(path);
        free(entries[i]);
    }
    free(entries);
    return st;
}

enum status agent_config_read(struct agent_config *config, struct strbuf *why)
{
    enum status st = read_file(&(struct reader){config, config->file, why});
    char *folder = st == OK ? agent_config_folder(config) : NULL;
    if (folder)
        st = read_folder(config, folder, why);
    free(folder);
    return st;
}
