/* Parts of peal in shared objects of their own, PREFIX/lib/peal/NAME.so for programs in PREFIX/bin:
 * because their library has side effects when loaded, is not installed on every machine, or is not
 * wanted in programs that embed peal. A module has its own copy of the layers that it uses, so it
 * must be of the very build that loads it: the same version of the same sources, compiled alike. */
#ifndef PEAL_MODULE_H
#define PEAL_MODULE_H

#include "status.h"
#include "strbuf.h"

/* "0.1.0 4f1c5d2e build 8c0b27d9e1aa": the version, the commit unless it is a released one, and a
 * digest of the sources of all layers that modules have copies of, and of how they are compiled. Of
 * the object, program or module, that it is linked into. */
extern const char module_version[];

/* What it exports, as `peal_module`. */
struct module {
    const char *version; /* module_version of its build */
    void (*open)(void);  /* to be cast to what it is */
};

/* Loads NAME.so and returns what it opens; it stays loaded until the process ends. `folder`: of the
 * modules; NULL: that of this program. `what` names it to people: "MongoDB". E_NOT_FOUND: it was
 * not built or can't be loaded, E_VERSION: it is of another peal, or of another build of this one;
 * *why names the file and what to do. */
MUST_CHECK enum status module_load(const char *folder, const char *name, const char *what,
                                   void (**ret_open)(void), struct strbuf *why);

#endif
