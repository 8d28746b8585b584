/* The texts in the C sources of the command line: literals in the calls that translate them. */
#ifndef PEAL_TEST_SOURCES_H
#define PEAL_TEST_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

struct source {
    char *path; /* below bin/peal */
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

void sources_search(const struct source *sources, size_t count, struct found_list *list);

/* Adds a text, unless it is empty, there already, or without a word. */
void found_add(struct found_list *list, const char *text, const char *path, bool is_marked);
void found_free(struct found_list *list);

#endif
