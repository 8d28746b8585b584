/* Texts in C sources: the literals in given calls. */
#ifndef PEAL_TEST_SOURCES_H
#define PEAL_TEST_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct source {
    char *path; /* below the folder that was read */
    char *text;
};

struct found {
    char *text;
    const char *path; /* of the source that has it first */
    bool is_marked;   /* false: printed as it is, in English */
};

struct found_list {
    struct found *items;
    size_t count;
};

/* All .c and .h of the folder, in *ret, without agent/ and text/. */
size_t sources_read(const char *folder, struct source **ret);
void sources_free(struct source *sources, size_t count);

enum { LAST_ARGUMENT = 19 }; /* all arguments of a call that follow */

struct text_call {
    const char *start; /* "tr(", also "return " or ".none = " */
    int first, last;   /* arguments that are texts */
    bool is_marked;
    const char *path; /* of the only source that is searched for it; NULL: all */
};

/* `calls` ends with {0}. */
void sources_search(const struct source *sources, size_t count, const struct text_call *calls,
                    struct found_list *list);

/* Adds a text, unless it is empty, there already, or without a word. */
void found_add(struct found_list *list, const char *text, const char *path, bool is_marked);
void found_free(struct found_list *list);

#endif
