#include "module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* PREFIX/lib/peal for the program PREFIX/bin/peal. False: no such path can be made. */
static bool find_own_folder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    size_t used = strlen(folder);
    int added = snprintf(folder + used, PATH_MAX - used, "/lib/peal");
    return added > 0 && (size_t)added < PATH_MAX - used;
}

static enum status load(const char *path, const char *what, void (**ret_open)(void),
                        struct strbuf *why)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct module *module = object ? dlsym(object, "peal_module") : NULL;
    if (!module) {
        strbuf_addf(why, "peal's part for %s can't be loaded: %s. Install what it names", what,
                    dlerror());
        return E_NOT_FOUND;
    }
    if (strcmp(module->version, module_version) != 0) {
        strbuf_addf(
            why,
            "%s is of peal %s, and this is %s: install both from one build, or the packages "
            "of one version, then start the program again",
            path, module->version, module_version);
        return E_VERSION;
    }
    *ret_open = module->open;
    return OK;
}

enum status module_load(const char *folder, const char *name, const char *what,
                        void (**ret_open)(void), struct strbuf *why)
{
    char own[PATH_MAX], path[PATH_MAX];
    if (!folder && find_own_folder(own))
        folder = own;
    int length = folder ? snprintf(path, sizeof(path), "%s/%s.so", folder, name) : -1;
    if (length < 0 || (size_t)length >= sizeof(path)) {
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
    return load(path, what, ret_open, why);
}
