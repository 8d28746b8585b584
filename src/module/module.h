/* Parts of peal in shared objects of their own, PREFIX/lib/peal/NAME.so for programs in PREFIX/bin:
 * because their library has side effects when loaded, is not installed on every machine, or is not
 * wanted in programs that embed peal. A module has its own copy of the layers that it uses, so it
 * must be of the very build that loads it. */
#ifndef PEAL_MODULE_H
#define PEAL_MODULE_H

#include "status.h"
#include "strbuf.h"

/* What it exports, as `peal_module`. */
struct module {
    const char *version; /* MODULE_VERSION of its build */
    void (*open)(void);  /* to be cast to what it is */
};

/* Loads NAME.so and returns what it opens; it stays loaded until the process ends. `folder`: of the
 * modules; NULL: that of this program. `what` names it to people: "MongoDB". E_NOT_FOUND: it was
 * not built or can't be loaded, E_VERSION: it is of another peal; *why names the file and what to
 * do. */
MUST_CHECK enum status module_load(const char *folder, const char *name, const char *what,
                                   void (**ret_open)(void), struct strbuf *why);

#endif
