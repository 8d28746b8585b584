#include "jobs/foreign/systemd_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array.h"
#include "jobs/foreign/foreign_source.h"
#include "jobs/input_file.h"
#include "systemd/systemd.h"
#include "text/tr_parsed.h"

enum { FILES_MAX = 10000 };

struct unit_text {
    char *path;
    struct strbuf text;
};

struct texts {
    struct unit_text *items;
    size_t count;
};

static void release(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->items[i].path);
        strbuf_release(&texts->items[i].text);
    }
    free(texts->items);
}

static enum exit_code add_file(struct texts *texts, const char *path)
{
    if (texts->count == FILES_MAX) {
        cli_error("more than %d unit files in one folder", FILES_MAX);
        return EXIT_INVALID;
    }
    if (array_grow(&texts->items, texts->count, sizeof(*texts->items)) != OK)
        return cli_fail(E_NOMEM);
    struct unit_text *added = &texts->items[texts->count];
    *added = (struct unit_text){.path = strdup(strcmp(path, "-") == 0 ? "stdin" : path)};
    strbuf_init(&added->text);
    texts->count++;
    return added->path ? input_file_read(path, &added->text) : cli_fail(E_NOMEM);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), size = strlen(end);
    return length > size && strcmp(name + length - size, end) == 0;
}

static bool is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_drop_in(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".conf");
}

static int is_unit(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return name[0] != '.' && (ends_with(name, ".timer") || ends_with(name, ".service"));
}

/* Its files in the order of their names, as systemd reads drop-ins. */
static enum exit_code add_folder(struct texts *texts, const char *folder,
                                 int (*is_wanted)(const struct dirent *),
                                 enum exit_code (*add)(struct texts *, const char *))
{
    struct dirent **entries = NULL;
    enum exit_code code = EXIT_OK;
    int count = scandir(folder, &entries, is_wanted, alphasort);
    if (count < 0) {
        cli_error("can't read %s: %m", folder);
        return EXIT_ERROR;
    }
    for (int i = 0; i < count; i++) {
        struct strbuf path;
        strbuf_init(&path);
        strbuf_addf(&path, "%s/%s", folder, entries[i]->d_name);
        if (code == EXIT_OK && is_regular(path.text)) /* a link to /dev/null masks a unit */
            code = add(texts, path.text);
        strbuf_release(&path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* A unit with its drop-ins. */
static enum exit_code add_unit(struct texts *texts, const char *path)
{
    struct strbuf folder;
    enum exit_code code = is_regular(path) ? add_file(texts, path) : EXIT_OK;
    strbuf_init(&folder);
    strbuf_addf(&folder, "%s.d", path);
    if (code == EXIT_OK && is_folder(folder.text))
        code = add_folder(texts, folder.text, is_drop_in, add_file);
    strbuf_release(&folder);
    return code;
}

/* The timer, and all services beside it: which one is its own it says itself. */
static int is_service(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".service");
}

static enum exit_code add_timer(struct texts *texts, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    enum exit_code code = folder ? add_unit(texts, path) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = add_folder(texts, *folder ? folder : "/", is_service, add_unit);
    free(folder);
    return code;
}

static enum exit_code import_texts(const struct systemd_request *request, const char *only,
                                   const struct texts *texts, const struct reading *reading,
                                   struct foreign *foreign)
{
    const struct systemd_options options = {
        .foreign = {.prefix = request->prefix, .default_tz = reading->default_tz.text},
        .user = request->user,
        .is_user = request->is_user,
        .only = only};
    struct parse_error err = {0};
    struct systemd_file *files = calloc(texts->count + 1, sizeof(*files));
    if (!files)
        return cli_fail(E_NOMEM);
    for (size_t i = 0; i < texts->count; i++)
        files[i] = (struct systemd_file){texts->items[i].path, texts->items[i].text.text,
                                         texts->items[i].text.length};
    enum status st = systemd_import(files, texts->count, &options, reading->zones, foreign, &err);
    free(files);
    if (st == E_INVALID) {
        tr_parsed(err.message, sizeof(err.message));
        cli_error("%s: %s", request->file, err.message);
        return EXIT_INVALID;
    }
    if (st == OK)
        foreign_source_tell(foreign, request->file);
    return cli_fail(st);
}

enum exit_code systemd_source_read(const struct systemd_request *request,
                                   const struct reading *reading, struct job_list *jobs,
                                   size_t *ret_lost)
{
    struct texts texts = {.items = NULL};
    struct foreign foreign;
    const char *slash = strrchr(request->file, '/'), *only = NULL;
    foreign_init(&foreign);
    enum exit_code code;
    if (is_folder(request->file)) {
        code = add_folder(&texts, request->file, is_unit, add_unit);
    } else if (ends_with(request->file, ".timer") && is_regular(request->file)) {
        only = slash ? slash + 1 : request->file;
        code = add_timer(&texts, request->file);
    } else {
        code = add_file(&texts, request->file);
    }
    if (code == EXIT_OK)
        code = import_texts(request, only, &texts, reading, &foreign);
    if (code == EXIT_OK) {
        *jobs = foreign.jobs;
        *ret_lost = foreign.lost;
        job_list_init(&foreign.jobs);
    }
    foreign_release(&foreign);
    release(&texts);
    return code;
}
