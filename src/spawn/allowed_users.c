#include "allowed_users.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS " \t"

static FILE *open_trusted(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    struct stat st;
    bool trusted = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
                   !(st.st_mode & (S_IWGRP | S_IWOTH));
    FILE *file = trusted ? fdopen(fd, "re") : NULL;
    if (!file)
        close(fd);
    return file;
}

/* The words of a line, one at a time; NULL: there are no more. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, BLANKS);
    size_t length = strcspn(word, BLANKS);
    *at = word + length + (word[length] != '\0');
    word[length] = '\0';
    return length ? word : NULL;
}

/* A line of the list while it is read. */
struct line {
    const char *namespace; /* "team/"; NULL: all jobs */
    char *user;            /* NULL: no more in this line */
    char *rest;
};

static void line_begin(struct line *line, char *text)
{
    text[strcspn(text, "#\r\n")] = '\0';
    *line = (struct line){.rest = text};
    line->user = next_word(&line->rest);
    if (!line->user || line->user[strlen(line->user) - 1] != '/')
        return;
    line->namespace = line->user;
    line->user = next_word(&line->rest);
}

static void line_next(struct line *line)
{
    line->user = line->namespace ? next_word(&line->rest) : NULL;
}

/* Calls `visit` for each user of each line until it says true; returns whether it did. */
static bool find(FILE *file, bool (*visit)(const struct line *line, const void *context),
                 const void *context)
{
    bool found = false;
    char *text = NULL;
    size_t capacity = 0;
    while (!found && getline(&text, &capacity, file) >= 0) {
        struct line line;
        for (line_begin(&line, text); !found && line.user; line_next(&line))
            found = visit(&line, context);
    }
    free(text);
    fclose(file);
    return found;
}

struct question {
    const char *job, *user;
    bool is_root;
};

static bool allows(const struct line *line, const void *context)
{
    const struct question *question = context;
    bool is_about =
        !line->namespace || strncmp(question->job, line->namespace, strlen(line->namespace)) == 0;
    return is_about && (strcmp(line->user, question->user) == 0 ||
                        (strcmp(line->user, "*") == 0 && !question->is_root));
}

bool allowed_users_has(const char *file, const char *job, const char *user, bool is_root)
{
    FILE *list = open_trusted(file);
    return list && find(list, allows, &(struct question){job, user, is_root});
}

static bool is_root(const struct line *line, const void *context)
{
    (void)context;
    const struct passwd *user = getpwnam(line->user);
    return user && user->pw_uid == 0;
}

enum allowed_users allowed_users_look(const char *file)
{
    FILE *list = open_trusted(file);
    if (!list)
        return access(file, F_OK) != 0 && errno == ENOENT ? ALLOWED_USERS_NONE
                                                          : ALLOWED_USERS_IGNORED;
    return find(list, is_root, NULL) ? ALLOWED_USERS_HAS_ROOT : ALLOWED_USERS_LIST;
}
