#include "boot_mark.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"

void boot_mark_name(const char *node, const struct id *job_uid, char name[static BOOT_NAME_SIZE])
{
    char uid[ID_TEXT + 1];
    id_format(job_uid, uid);
    snprintf(name, BOOT_NAME_SIZE, "%.64s/%s", node, uid);
}

bool boot_mark_is_of(const char *name, const char *node, struct id *ret_job_uid)
{
    size_t length = strlen(node);
    return strncmp(name, node, length) == 0 && name[length] == '/' &&
           id_parse(name + length + 1, ret_job_uid) == OK;
}

/* The end of the year 9999: a later time is damaged data, and sums with it could overflow. */
static const int64_t latest_ms = INT64_C(253402300799999);

/* A boot id is made of letters, digits and hyphens: there is nothing to escape. */
void boot_mark_encode(const struct boot_mark *mark, char json[static BOOT_JSON_SIZE])
{
    snprintf(json, BOOT_JSON_SIZE, "{\"boot\":\"%s\",\"tick_ms\":%lld,\"is_due\":%s}",
             mark->boot_id, (long long)mark->tick_ms, mark->is_due ? "true" : "false");
}

enum status boot_mark_decode(const char *json, struct boot_mark *ret)
{
    json_t *tree = json_loads(json, 0, NULL);
    const char *boot_id;
    json_int_t tick_ms;
    int is_due;
    enum status st = E_INVALID;
    if (json_unpack(tree, "{s:s, s:I, s:b}", "boot", &boot_id, "tick_ms", &tick_ms, "is_due",
                    &is_due) == 0 &&
        strlen(boot_id) < BOOT_ID_SIZE && tick_ms >= 0 && tick_ms <= latest_ms) {
        *ret = (struct boot_mark){.tick_ms = tick_ms, .is_due = is_due};
        memcpy(ret->boot_id, boot_id, strlen(boot_id) + 1);
        st = OK;
    }
    json_decref(tree);
    return st;
}

/* Fills the part of an id that is otherwise random. */
static void hash_boot(const char *boot_id, const char *node, const struct id *job_uid,
                      uint8_t ret[static 10])
{
    uint64_t hash = hash_bytes(0, job_uid->bytes, sizeof(job_uid->bytes));
    hash = hash_text(hash_text(hash, node), boot_id);
    memcpy(ret, &hash, sizeof(hash));
    hash = hash_text(hash, "boot");
    memcpy(ret + 8, &hash, 2);
}

struct id boot_run_id(const struct boot_mark *mark, const char *node, const struct id *job_uid)
{
    uint8_t bytes[10];
    hash_boot(mark->boot_id, node, job_uid, bytes);
    return id_make((struct wall_ms){mark->tick_ms}, bytes);
}

bool boot_has_run(const char *boot_id, const char *node, const struct id *job_uid,
                  const struct id *run_id)
{
    uint8_t bytes[10];
    hash_boot(boot_id, node, job_uid, bytes);
    return memcmp(run_id->bytes + sizeof(run_id->bytes) - sizeof(bytes), bytes, sizeof(bytes)) == 0;
}
