/* What the readers of listings share: the jobs read so far, their names, and notes. */
#ifndef PEAL_FOREIGN_BUILD_H
#define PEAL_FOREIGN_BUILD_H

#include "document/node.h"
#include "foreign/foreign.h"
#include "table.h"

struct foreign_build {
    const struct foreign_options *options;
    struct zone_db *zones;
    struct foreign *out;
    const char *file;   /* of the notes to come; NULL: there is only one */
    struct table names; /* that are taken */
};
void foreign_build_init(struct foreign_build *build, const struct foreign_options *options,
                        struct zone_db *zones, struct foreign *out);
void foreign_build_release(struct foreign_build *build);

/* The task that a note is about. */
struct foreign_task {
    const struct node *node;
    char id[24];      /* "": the program has none */
    const char *name; /* as the other program has it; never NULL */
};

/* `task` NULL: the whole listing. `at`: where; NULL: the task itself. An error counts the task as
 * lost. */
MUST_CHECK enum status foreign_note(struct foreign_build *build, const struct foreign_task *task,
                                    const struct node *at, enum foreign_severity severity,
                                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same about a field, whose name stands before the message. */
MUST_CHECK enum status foreign_fail_field(struct foreign_build *build,
                                          const struct foreign_task *task, const struct node *at,
                                          const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same with a reason of the API's table of messages, which lives on. */
MUST_CHECK enum status foreign_refuse(struct foreign_build *build, const struct foreign_task *task,
                                      const struct node *at, const char *field, const char *why);

/* Into the order of the listing; what is about all of it comes last. */
void foreign_sort_notes(struct foreign *foreign);

/* Takes the next free name for what is called `wish`, a free text: "备份 (daily)" is 备份-daily,
 * with `id` or a number behind it where that is taken, and a name of `id` alone where nothing is
 * left of it. With the prefix. *ret lives as long as `build`. */
MUST_CHECK enum status foreign_name(struct foreign_build *build, const char *wish, const char *id,
                                    const char **ret);

/* Appends the text without its prefix as it would be a valid name, of at most `most` bytes; nothing
 * if no letter or digit is in it. */
void foreign_name_clean(const char *wish, size_t most, struct strbuf *out);

/* Adds the job of a definition, which is checked like one of a file; *ret_done: it is added, else
 * an error is noted at `at(context, path)`, the node that the field came from. */
struct foreign_origin {
    const struct node *(*at)(const struct foreign_task *task, const char *path);
};
MUST_CHECK enum status foreign_add(struct foreign_build *build, const struct foreign_task *task,
                                   const json_t *definition, const struct foreign_origin *origin,
                                   bool *ret_done);

/* Appends a text in which nothing is a variable: ${ becomes $${. */
void foreign_plain(const char *text, struct strbuf *out);

/* Appends the schedule @every for a duration as Go writes them: as it is, if peal reads the same
 * from it; what is wrong with it stays in it. */
void foreign_every(const char *duration, struct strbuf *out);

#endif
