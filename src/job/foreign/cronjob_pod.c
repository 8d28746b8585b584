#include "foreign/cronjob_pod.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct node *cronjob_get(const struct node *map, const char *key)
{
    return map && map->kind == NODE_MAP ? node_get(map, key) : NULL;
}

/* The first item of a list; NULL: it has none, or is none. */
static const struct entry *items_of(const struct node *list)
{
    return list && list->kind == NODE_LIST ? list->entries : NULL;
}

const char *cronjob_text(const struct node *map, const char *key)
{
    const struct node *node = cronjob_get(map, key);
    return node && node->kind == NODE_SCALAR ? node->text : "";
}

static bool is_empty(const struct node *node)
{
    return node->kind == NODE_NULL || (node->kind == NODE_SCALAR ? !*node->text : !node->count);
}

static enum status note_field(struct foreign_build *build, const struct foreign_task *task,
                              const struct node *at, const char *path, const char *name)
{
    char whole[100];
    snprintf(whole, sizeof(whole), "%s%.60s", path, name);
    return foreign_note(build, task, at, FOREIGN_WARNING, "the field \"%.99s\" is not converted",
                        whole);
}

enum status cronjob_note_rest(struct foreign_build *build, const struct foreign_task *task,
                              const struct node *map, const char *path, const char *const *known)
{
    enum status st = OK;
    for (const struct entry *entry = map ? map->entries : NULL; entry && st == OK;
         entry = entry->next) {
        const char *const *each = known;
        if (map->kind != NODE_MAP || is_empty(entry->value))
            continue;
        while (*each && strcmp(*each, entry->key->text) != 0)
            each++;
        if (!*each)
            st = note_field(build, task, entry->key, path, entry->key->text);
    }
    return st;
}

/* ---- the command ---- */

static enum status add_word(json_t *words, const char *text)
{
    return json_array_append_new(words, json_string(text)) == 0 ? OK : E_NOMEM;
}

static enum status add_option(json_t *words, const char *name, const char *value)
{
    enum status st = add_word(words, name);
    return st == OK ? add_word(words, value) : st;
}

/* The texts of a list. $(NAME) is Kubernetes' own. */
static enum status add_list(struct foreign_build *build, const struct foreign_task *task,
                            const struct entry *entry, json_t *words)
{
    enum status st = OK;
    for (; entry && st == OK; entry = entry->next) {
        const char *text = entry->value->kind == NODE_SCALAR ? entry->value->text : "";
        st = add_word(words, text);
        if (st == OK && strstr(text, "$("))
            st = foreign_note(build, task, entry->value, FOREIGN_WARNING,
                              "$(NAME) in \"%.60s\" is not replaced here", text);
    }
    return st;
}

/* The value of a variable is not on the command line, which all users of a node can read. */
static enum status add_variable(struct foreign_build *build, const struct foreign_task *task,
                                const struct node *variable, json_t *words, json_t *env)
{
    const char *name = cronjob_text(variable, "name");
    enum status st = add_option(words, "--env", name);
    if (st == OK && cronjob_get(variable, "valueFrom"))
        return foreign_note(build, task, variable, FOREIGN_WARNING,
                            "the value of %.60s is the cluster's: give the job this variable, or a "
                            "secret",
                            name);
    if (st == OK &&
        json_object_set_new(env, name, json_string(cronjob_text(variable, "value"))) != 0)
        st = E_NOMEM;
    return st;
}

/* "128Mi" as podman has it, "128m". False: it has no such unit. */
static bool print_memory(const char *text, char *out, size_t size)
{
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    char letter = *unit ? (char)tolower((unsigned char)*unit) : 'b';
    bool is_known = digits && (!*unit || (strchr("KMG", *unit) && strcmp(unit + 1, "i") == 0));
    if (is_known)
        snprintf(out, size, "%.*s%c", (int)(digits < 16 ? digits : 16), text, letter);
    return is_known;
}

/* "500m" is half a processor. */
static bool print_cpus(const char *text, char *out, size_t size)
{
    char *end;
    double value = strtod(text, &end);
    bool is_known = end != text && (!*end || strcmp(end, "m") == 0);
    if (is_known)
        snprintf(out, size, "%g", *end ? value / 1000 : value);
    return is_known;
}

static enum status add_limits(struct foreign_build *build, const struct foreign_task *task,
                              const struct node *container, json_t *words)
{
    static const char *const known[] = {"memory", "cpu", NULL};
    const struct node *limits = cronjob_get(cronjob_get(container, "resources"), "limits");
    const char *memory = cronjob_text(limits, "memory"), *cpu = cronjob_text(limits, "cpu");
    char text[32];
    enum status st = OK;
    if (*memory && print_memory(memory, text, sizeof(text)))
        st = add_option(words, "--memory", text);
    else if (*memory)
        st = note_field(build, task, limits, "resources.limits.", "memory");
    if (st == OK && *cpu && print_cpus(cpu, text, sizeof(text)))
        st = add_option(words, "--cpus", text);
    return st == OK ? cronjob_note_rest(build, task, limits, "resources.limits.", known) : st;
}

static enum status add_container(struct foreign_build *build, const struct foreign_task *task,
                                 const struct node *container, json_t *words, json_t *env)
{
    const struct entry *first = items_of(cronjob_get(container, "command"));
    const char *folder = cronjob_text(container, "workingDir");
    enum status st = OK;
    for (const struct entry *each = items_of(cronjob_get(container, "env")); each && st == OK;
         each = each->next)
        st = add_variable(build, task, each->value, words, env);
    if (st == OK && *folder)
        st = add_option(words, "--workdir", folder);
    if (st == OK)
        st = add_limits(build, task, container, words);
    /* The first word is the program; the engines take the rest behind the image. */
    if (st == OK && first)
        st = add_option(words, "--entrypoint",
                        first->value->kind == NODE_SCALAR ? first->value->text : "");
    if (st == OK)
        st = add_word(words, cronjob_text(container, "image"));
    if (st == OK)
        st = add_list(build, task, first ? first->next : NULL, words);
    return st == OK ? add_list(build, task, items_of(cronjob_get(container, "args")), words) : st;
}

/* ---- the pod ---- */

static enum status note_pod(struct foreign_build *build, const struct foreign_task *task,
                            const struct node *pod, const struct node *container)
{
    static const char *const of_pod[] = {
        "containers", "restartPolicy", "terminationGracePeriodSeconds",
        "dnsPolicy",  "schedulerName", "enableServiceLinks",
        NULL};
    static const char *const of_container[] = {"name",
                                               "image",
                                               "command",
                                               "args",
                                               "env",
                                               "workingDir",
                                               "resources",
                                               "imagePullPolicy",
                                               "terminationMessagePath",
                                               "terminationMessagePolicy",
                                               NULL};
    enum status st = cronjob_note_rest(build, task, pod, "pod.", of_pod);
    return st == OK ? cronjob_note_rest(build, task, container, "container.", of_container) : st;
}

enum status cronjob_set_pod(struct foreign_build *build, const struct foreign_task *task,
                            const struct node *pod, json_t *definition, bool *ret_good)
{
    const struct node *list = cronjob_get(pod, "containers");
    const struct node *container =
        list && list->kind == NODE_LIST && list->count == 1 ? list->entries->value : NULL;
    *ret_good = container && *cronjob_text(container, "image");
    if (!*ret_good)
        return foreign_note(build, task, list, FOREIGN_ERROR,
                            "its pod has %zu containers; a job runs one, which has an image",
                            list && list->kind == NODE_LIST ? list->count : (size_t)0);
    json_t *words = json_pack("[s, s, s, s]", "peal-container", "podman", "run", "--rm");
    json_t *env = json_object();
    enum status st = words && env ? OK : E_NOMEM;
    if (st == OK)
        st = add_container(build, task, container, words, env);
    if (st == OK && json_object_set(definition, "command", words) != 0)
        st = E_NOMEM;
    if (st == OK && json_object_size(env) && json_object_set(definition, "env", env) != 0)
        st = E_NOMEM;
    json_decref(words);
    json_decref(env);
    return st == OK ? note_pod(build, task, pod, container) : st;
}
