/* Commands on their way out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"

extern const char redis_script_lua[];

static const char *const first_lines[REDIS_SCRIPTS] = {
    [REDIS_MAY_GROW] = "#!lua\n",
    [REDIS_MAY_NOT_GROW] = "#!lua flags=allow-oom\n",
};

/* In the order in which the script takes them. */
#define KEY_COUNT "11"
_Static_assert(REDIS_DATA_KEYS == 11, "as a text");
static const char *const key_names[REDIS_DATA_KEYS] = {
    [REDIS_KEY_META] = "meta",
    "keys",
    "order",
    [REDIS_KEY_FEED] = "feed",
    [REDIS_KEY_TAGS] = "tags",
    "leases",
    "beats",
    "seats",
    "renewed",
    "bound",
    [REDIS_KEY_GUARD] = "guard",
};

char *redis_script_text(enum redis_script script)
{
    char *text;
    return asprintf(&text, "%s%s", first_lines[script], redis_script_lua) < 0 ? NULL : text;
}

/* One tag for all of them, so that they would be on one slot. */
void redis_keys_init(struct redis_keys *keys, const char *prefix)
{
    *keys = (struct redis_keys){.shas = {""}};
    for (int i = 0; i < REDIS_DATA_KEYS; i++)
        snprintf(keys->text[i], sizeof(keys->text[i]), "{%s}:%s", prefix, key_names[i]);
}

void redis_add(struct redis_command *command, const void *bytes, size_t length)
{
    command->argv[command->argc] = bytes;
    command->lengths[command->argc++] = length;
}

void redis_adds(struct redis_command *command, const char *text)
{
    redis_add(command, text, strlen(text));
}

enum status redis_send(struct redis_wire *wire, const struct redis_keys *keys,
                       const struct redis_command *command)
{
    const char *argv[3 + REDIS_DATA_KEYS + REDIS_ARGS_MAX] = {"EVALSHA"};
    size_t lengths[3 + REDIS_DATA_KEYS + REDIS_ARGS_MAX] = {7};
    int argc = 3;
    if (command->script == REDIS_NO_SCRIPT)
        return redis_wire_send(wire, command->argc, (const char **)command->argv, command->lengths);
    argv[1] = keys->shas[command->script];
    lengths[1] = REDIS_SHA;
    argv[2] = KEY_COUNT;
    lengths[2] = 2;
    for (int i = 0; i < REDIS_DATA_KEYS; i++, argc++) {
        argv[argc] = keys->text[i];
        lengths[argc] = strlen(keys->text[i]);
    }
    for (int i = 0; i < command->argc; i++, argc++) {
        argv[argc] = command->argv[i];
        lengths[argc] = command->lengths[i];
    }
    return redis_wire_send(wire, argc, argv, lengths);
}
