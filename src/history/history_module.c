#include "history_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* PREFIX/lib/peal/NAME.so for the program PREFIX/bin/peal. False: no such path can be made. */
static bool module_path(const char *name, char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    size_t used = strlen(path);
    int added = snprintf(path + used, PATH_MAX - used, "/lib/peal/%s.so", name);
    return added > 0 && (size_t)added < PATH_MAX - used;
}

enum status history_module_load(const char *name, const char *what, const char *symbol,
                                history_opener **ret, struct strbuf *why)
{
    char path[PATH_MAX];
    if (!module_path(name, path)) {
        strbuf_addf(why, "the folder of this program is unknown, so %s.so was not found", name);
        return E_NOT_FOUND;
    }
    if (access(path, F_OK) != 0) {
        strbuf_addf(why,
                    "this peal was built without %s: there is no %s. `make build` makes it, and "
                    "`make install` puts it there",
                    what, path);
        return E_NOT_FOUND;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *opener = module ? dlsym(module, symbol) : NULL;
    if (!opener) {
        strbuf_addf(why, "peal's part for %s can't be loaded: %s. Install what it names", what,
                    dlerror());
        return E_NOT_FOUND;
    }
    memcpy(ret, &opener, sizeof(*ret)); /* ISO C has no cast from an object to a function pointer */
    return OK;
}
