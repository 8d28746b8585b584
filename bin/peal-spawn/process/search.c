#include "process/search.h"

#include <string.h>

static const char *find_path(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/bin:/bin";
}

void search_begin(struct search *search, const char *name, char *const *env)
{
    search->name = name;
    search->at = find_path(env);
}

bool search_next(struct search *search)
{
    size_t name_size = strlen(search->name) + 1;
    while (search->at) {
        const char *folder = search->at;
        size_t length = strcspn(folder, ":");
        search->at = folder[length] ? folder + length + 1 : NULL;
        if (length == 0 || length + 1 + name_size > sizeof(search->file))
            continue;
        memcpy(search->file, folder, length);
        search->file[length] = '/';
        memcpy(search->file + length + 1, search->name, name_size);
        return true;
    }
    return false;
}
