#include "pack/spawn_packs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawn_record.h"
#include "table.h"

#define OPEN_FILES 2 /* the pack that is appended to, and an older one that is read */

struct pack {
    uint64_t number;
    uint64_t end;  /* looked at up to here */
    uint64_t live; /* entries that are not taken */
    TAILQ_ENTRY(pack) link;
};

struct place {
    char id[SPAWN_ID_MAX + 8];
    struct pack *pack;
    uint64_t offset;
};

struct spawn_packs {
    char *folder;
    struct table places;
    TAILQ_HEAD(pack_list, pack) packs; /* oldest first; only the last one grows */
    struct {
        uint64_t number;
        int fd; /* -1: none */
    } files[OPEN_FILES];
    char bytes[SPAWN_PACK_BYTES]; /* of an entry that is looked at */
};

static const struct table_type by_id_type = {.key_at = offsetof(struct place, id)};

struct spawn_packs *spawn_packs_new(const char *folder)
{
    struct spawn_packs *packs = calloc(1, sizeof(*packs));
    char *copy = strdup(folder);
    if (!packs || !copy) {
        free(packs);
        free(copy);
        return NULL;
    }
    packs->folder = copy;
    table_init(&packs->places, &by_id_type);
    TAILQ_INIT(&packs->packs);
    for (int i = 0; i < OPEN_FILES; i++)
        packs->files[i].fd = -1;
    return packs;
}

/* ---- files ---- */

static void pack_path(const struct spawn_packs *packs, uint64_t number, char path[PATH_MAX])
{
    char name[SPAWN_PACK_NAME];
    spawn_pack_name(number, name);
    snprintf(path, PATH_MAX, "%s/" SPAWN_OUTPUT_FOLDER "/" SPAWN_PACK_FOLDER "/%s", packs->folder,
             name);
}

/* The descriptor of a pack, which stays open for a while; -1 and errno. */
static int pack_file(struct spawn_packs *packs, uint64_t number)
{
    char path[PATH_MAX];
    int at = (int)(number % OPEN_FILES);
    if (packs->files[at].fd >= 0 && packs->files[at].number == number)
        return packs->files[at].fd;
    pack_path(packs, number, path);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (packs->files[at].fd >= 0)
        close(packs->files[at].fd);
    packs->files[at].fd = fd;
    packs->files[at].number = number;
    return fd;
}

static void close_files(struct spawn_packs *packs)
{
    for (int i = 0; i < OPEN_FILES; i++) {
        if (packs->files[i].fd >= 0)
            close(packs->files[i].fd);
        packs->files[i].fd = -1;
    }
}

static void forget_all(struct spawn_packs *packs)
{
    struct pack *pack;
    table_release_items(&packs->places);
    table_init(&packs->places, &by_id_type);
    while ((pack = TAILQ_FIRST(&packs->packs))) {
        TAILQ_REMOVE(&packs->packs, pack, link);
        free(pack);
    }
    close_files(packs);
}

struct spawn_packs *spawn_packs_free(struct spawn_packs *packs)
{
    if (!packs)
        return NULL;
    forget_all(packs);
    table_release(&packs->places);
    free(packs->folder);
    free(packs);
    return NULL;
}

/* ---- what is in them ---- */

static struct pack *add_pack(struct spawn_packs *packs, uint64_t number)
{
    struct pack *pack = calloc(1, sizeof(*pack));
    if (!pack)
        return NULL;
    pack->number = number;
    TAILQ_INSERT_TAIL(&packs->packs, pack, link);
    return pack;
}

/* Out of memory: it is looked for again with the next one. */
static bool add_place(struct spawn_packs *packs, struct pack *pack,
                      const struct spawn_pack_entry *entry)
{
    struct place place = {.pack = pack, .offset = pack->end};
    if (entry->is_taken || table_find(&packs->places, entry->id))
        return true;
    memcpy(place.id, entry->id, sizeof(place.id));
    if (!table_add(&packs->places, &place, sizeof(place)))
        return false;
    pack->live++;
    return true;
}

static void read_forward(struct spawn_packs *packs, struct pack *pack)
{
    struct spawn_pack_entry entry;
    int fd = pack_file(packs, pack->number);
    while (fd >= 0 && spawn_pack_read(fd, pack->end, &entry, packs->bytes) == OK &&
           add_place(packs, pack, &entry))
        pack->end = spawn_pack_end(pack->end, &entry);
}

static void drop_if_done(struct spawn_packs *packs, struct pack *pack)
{
    char path[PATH_MAX];
    if (pack->live || !TAILQ_NEXT(pack, link))
        return;
    pack_path(packs, pack->number, path);
    unlink(path);
    TAILQ_REMOVE(&packs->packs, pack, link);
    free(pack);
}

/* The packs that are there, all but the last one read. */
static void find_packs(struct spawn_packs *packs)
{
    char path[PATH_MAX];
    uint64_t *numbers = NULL;
    size_t count = 0;
    struct pack *pack, *next;
    snprintf(path, sizeof(path), "%s/" SPAWN_OUTPUT_FOLDER "/" SPAWN_PACK_FOLDER, packs->folder);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    bool is_listed = fd >= 0 && spawn_pack_list(fd, &numbers, &count) == OK;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; is_listed && i < count; i++)
        is_listed = add_pack(packs, numbers[i]);
    free(numbers);
    if (!is_listed) {
        forget_all(packs); /* out of memory: with the next look */
        return;
    }
    for (pack = TAILQ_FIRST(&packs->packs); pack && (next = TAILQ_NEXT(pack, link)); pack = next) {
        read_forward(packs, pack);
        drop_if_done(packs, pack);
    }
}

static bool is_there(const struct spawn_packs *packs, uint64_t number)
{
    char path[PATH_MAX];
    pack_path(packs, number, path);
    return access(path, F_OK) == 0;
}

/* The last pack is read on. The next one is there: then nothing is appended to this one any more,
 * and it is read once again. It is gone: peal-call has another folder under the same name. */
static void look(struct spawn_packs *packs)
{
    struct pack *pack = TAILQ_LAST(&packs->packs, pack_list);
    if (pack && !is_there(packs, pack->number)) {
        forget_all(packs);
        pack = NULL;
    }
    if (!pack)
        find_packs(packs);
    while ((pack = TAILQ_LAST(&packs->packs, pack_list))) {
        bool is_closed = is_there(packs, pack->number + 1);
        read_forward(packs, pack);
        if (!is_closed || !add_pack(packs, pack->number + 1))
            return;
        drop_if_done(packs, pack);
    }
}

bool spawn_packs_know(const struct spawn_packs *packs, const char *id)
{
    return table_find(&packs->places, id) != NULL;
}

static void forget(struct spawn_packs *packs, struct place *place)
{
    struct pack *pack = place->pack;
    table_remove(&packs->places, place);
    free(place);
    pack->live--;
    drop_if_done(packs, pack);
}

bool spawn_packs_read(struct spawn_packs *packs, const char *id, struct spawn_pack_entry *ret,
                      char bytes[SPAWN_PACK_BYTES])
{
    struct place *place = table_find(&packs->places, id);
    if (!place) {
        look(packs);
        place = table_find(&packs->places, id);
    }
    if (!place)
        return false;
    int fd = pack_file(packs, place->pack->number);
    if (fd >= 0 && spawn_pack_read(fd, place->offset, ret, bytes) == OK && !ret->is_taken &&
        strcmp(ret->id, id) == 0)
        return true;
    forget(packs, place); /* peal-call has taken it back, to a file of its own */
    return false;
}

void spawn_packs_take(struct spawn_packs *packs, const char *id)
{
    struct place *place = table_find(&packs->places, id);
    if (!place) {
        look(packs);
        place = table_find(&packs->places, id);
    }
    if (!place)
        return;
    int fd = pack_file(packs, place->pack->number);
    if (fd >= 0 && !spawn_pack_take(fd, place->offset))
        return; /* the next agent takes it again */
    forget(packs, place);
}
