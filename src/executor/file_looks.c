#include "file_looks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "clock.h"
#include "spawn_output.h"

#define SUFFIX "-file"

enum { LOOK_S = 10, START_S = 60, OUTPUT_BYTES = 4096 };

struct file_look {
    struct id run_id;
    struct run end; /* what the run's ENDED told */
    struct executor_file file;
    bool is_asked; /* `end` is known */
    bool is_due;
};

static const struct table_type by_run_type = {.key_at = offsetof(struct file_look, run_id),
                                              .key_size = sizeof(struct id)};

void file_looks_init(struct file_looks *looks)
{
    *looks = (struct file_looks){.due = 0};
    table_init(&looks->by_run, &by_run_type);
}

void file_looks_release(struct file_looks *looks)
{
    table_release_items(&looks->by_run);
}

void file_look_id(const struct id *run_id, char id[FILE_LOOK_ID])
{
    id_format(run_id, id);
    memcpy(id + ID_TEXT, SUFFIX, sizeof(SUFFIX));
}

bool file_look_is(const char *id, struct id *ret)
{
    char run[ID_TEXT + 1];
    if (strlen(id) != ID_TEXT + strlen(SUFFIX) || strcmp(id + ID_TEXT, SUFFIX) != 0)
        return false;
    snprintf(run, sizeof(run), "%.*s", ID_TEXT, id);
    return id_parse(run, ret) == OK;
}

static struct file_look *find_or_add(struct file_looks *looks, const struct id *run_id)
{
    struct file_look fresh = {.run_id = *run_id};
    struct file_look *look = table_find(&looks->by_run, run_id);
    return look ? look : table_add(&looks->by_run, &fresh, sizeof(fresh));
}

static void set_due(struct file_looks *looks, struct file_look *look, bool is_due)
{
    looks->due += is_due;
    looks->due -= look->is_due;
    look->is_due = is_due;
}

enum status file_looks_ask(struct file_looks *looks, const struct id *run_id, const struct run *end,
                           bool *ret_is_known)
{
    struct file_look *look = find_or_add(looks, run_id);
    if (!look)
        return E_NOMEM;
    look->end = *end;
    look->is_asked = true;
    *ret_is_known = look->file.state != FILE_NOT_LOOKED_AT;
    set_due(looks, look, *ret_is_known);
    return OK;
}

void file_look_fill(struct file_look_start *start, const char *path, struct spawn_request *request)
{
    static char words[][20] = {"stat",    "-L", "-c", "%s %.3Y %F", "--", "PATH=/usr/bin:/bin",
                               "LC_ALL=C"};
    *start = (struct file_look_start){
        .argv = {words[0], words[1], words[2], words[3], words[4], (char *)path},
        .variables = {words[5], words[6]}};
    request->argv = start->argv;
    request->env = start->variables;
    request->cwd = "/";
    request->deadline_boot_ms = clock_now().boot.ms + START_S * 1000;
    request->timeout_ms = LOOK_S * 1000;
    request->grace_ms = 1000;
    request->head_bytes = request->tail_bytes = OUTPUT_BYTES;
}

/* ---- what stat says ---- */

static void unseen(struct executor_file *file, const char *why)
{
    file->state = FILE_UNSEEN;
    snprintf(file->why, sizeof(file->why), "%s", why);
}

/* What it has written to one of its streams, as a text. */
static void read_stream(const char *folder, const char *id, enum spawn_stream stream, char *text,
                        size_t size)
{
    struct spawn_output *output;
    struct spawn_chunk chunk;
    size_t length = 0;
    text[0] = '\0';
    if (spawn_output_open(folder, id, 0, &output) != OK)
        return;
    while (spawn_output_next(output, &chunk) == OK && length + 1 < size) {
        size_t taken = chunk.length < size - 1 - length ? chunk.length : size - 1 - length;
        if (chunk.stream != stream)
            continue;
        memcpy(text + length, chunk.bytes, taken);
        length += taken;
    }
    text[length] = '\0';
    spawn_output_free(output);
}

/* "1048576 1795032849.123 regular file" */
static void read_seen(const char *text, struct executor_file *file)
{
    int64_t bytes, changed_s, changed_ms = 0;
    int at = 0;
    if (sscanf(text, "%" SCNd64 " %" SCNd64 "%n", &bytes, &changed_s, &at) != 2) {
        unseen(file, "it could not be looked at");
        return;
    }
    if (text[at] == '.')
        changed_ms = strtoll(text + at + 1, NULL, 10);
    const char *kind = strchr(text + at, ' ');
    if (!kind || strncmp(kind, " regular", 8) != 0) {
        unseen(file, "it is not a regular file");
        return;
    }
    *file = (struct executor_file){
        .state = FILE_SEEN, .bytes = bytes, .changed_ms = changed_s * 1000 + changed_ms};
}

/* "stat: cannot statx '/srv/a': Permission denied" */
static void read_complaint(char *text, struct executor_file *file)
{
    text[strcspn(text, "\n")] = '\0';
    char *why = NULL;
    for (char *at = text; (at = strstr(at, ": ")); at += 2)
        why = at + 2;
    unseen(file, why && *why ? why : "it could not be looked at");
}

static void take_answer(const char *folder, const struct spawn_run *known,
                        struct executor_file *file)
{
    char text[OUTPUT_BYTES + 1];
    if (known->reason == SPAWN_TIMED_OUT) {
        unseen(file, "it could not be looked at within 10 s");
    } else if (known->reason != SPAWN_EXITED) {
        unseen(file, "it could not be looked at");
    } else if (WEXITSTATUS(known->wait_status) == 0) {
        read_stream(folder, known->id, SPAWN_STDOUT, text, sizeof(text));
        read_seen(text, file);
    } else {
        read_stream(folder, known->id, SPAWN_STDERR, text, sizeof(text));
        read_complaint(text, file);
    }
}

void file_looks_answer(struct file_looks *looks, const char *folder, const struct id *run_id,
                       const struct spawn_run *known)
{
    struct file_look *look = find_or_add(looks, run_id);
    if (!look || look->file.state != FILE_NOT_LOOKED_AT)
        return;
    take_answer(folder, known, &look->file);
    set_due(looks, look, look->is_asked);
}

bool file_looks_next(struct file_looks *looks, struct executor_event *ret)
{
    struct file_look *look;
    if (!looks->due)
        return false;
    for (size_t at = 0; (look = table_next(&looks->by_run, &at));) {
        if (!look->is_due)
            continue;
        set_due(looks, look, false);
        *ret = (struct executor_event){
            .kind = EXECUTOR_ENDED, .run_id = look->run_id, .end = look->end, .file = look->file};
        return true;
    }
    return false;
}

bool file_looks_drop(struct file_looks *looks, const struct id *run_id)
{
    struct file_look *look = table_find(&looks->by_run, run_id);
    if (!look)
        return false;
    set_due(looks, look, false);
    table_remove(&looks->by_run, look);
    free(look);
    return true;
}

bool file_looks_stray(const struct file_looks *looks, struct id *ret)
{
    const struct file_look *look;
    for (size_t at = 0; (look = table_next(&looks->by_run, &at));) {
        if (look->is_asked)
            continue;
        *ret = look->run_id;
        return true;
    }
    return false;
}
