#include "client/known_tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder; false: unknown. */
static bool find_folder(struct strbuf *out)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config == '/')
        strbuf_addf(out, "%s/peal", config);
    else if (home && *home == '/')
        strbuf_addf(out, "%s/.config/peal", home);
    else
        return false;
    return strbuf_status(out) == OK;
}

static json_t *read_all(const char *path)
{
    json_t *all = json_load_file(path, 0, NULL);
    if (json_is_object(all))
        return all;
    json_decref(all);
    return json_object();
}

static void find_member(const char *url, const char *member, struct strbuf *out)
{
    struct strbuf path;
    strbuf_init(&path);
    if (find_folder(&path)) {
        strbuf_adds(&path, "/tokens.json");
        json_t *all = read_all(path.text);
        const char *text = json_string_value(json_object_get(json_object_get(all, url), member));
        if (text)
            strbuf_adds(out, text);
        json_decref(all);
    }
    strbuf_release(&path);
}

void known_token_find(const char *url, struct strbuf *out)
{
    find_member(url, "token", out);
}

void known_token_id(const char *url, struct strbuf *out)
{
    find_member(url, "id", out);
}

/* Atomic: writes a new file and renames it. */
static bool write_all(const char *path, const json_t *all)
{
    struct strbuf fresh;
    strbuf_init(&fresh);
    strbuf_addf(&fresh, "%s.%d", path, (int)getpid());
    int fd = open(fresh.text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = fd >= 0 && json_dumpfd(all, fd, JSON_INDENT(2) | JSON_SORT_KEYS) == 0;
    if (fd >= 0)
        done = close(fd) == 0 && done;
    done = done && rename(fresh.text, path) == 0;
    if (!done && fd >= 0)
        unlink(fresh.text);
    strbuf_release(&fresh);
    return done;
}

/* With the folders above it. */
static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

enum exit_code known_token_keep(const char *url, const char *token, const char *id)
{
    struct strbuf path;
    strbuf_init(&path);
    if (!find_folder(&path)) {
        strbuf_release(&path);
        cli_error("can't tell where to keep the token: no HOME");
        return EXIT_ERROR;
    }
    make_folder(path.text);
    strbuf_adds(&path, "/tokens.json");
    json_t *all = read_all(path.text);
    if (token)
        json_object_set_new(all, url, json_pack("{s:s, s:s}", "token", token, "id", id));
    else
        json_object_del(all, url);
    bool done = all && write_all(path.text, all);
    if (!done)
        cli_error("can't write %s: %s", path.text, strerror(errno));
    json_decref(all);
    strbuf_release(&path);
    return done ? EXIT_OK : EXIT_ERROR;
}
