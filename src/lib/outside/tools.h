/* What comes with peal, and the library does without: the programs that run what a program has
 * outside of itself (peal-spawn its commands, peal-call its HTTP calls), and modules. */
#ifndef PEAL_TOOLS_H
#define PEAL_TOOLS_H

#include "status.h"

struct tools {
    char *spawn, *call; /* paths; NULL: not installed */
    char *modules;      /* the folder of module.h; NULL: not installed */
};

/* In the folder `bin`, the modules beside it; NULL: $PEAL_BIN, else where peal is installed, else
 * PATH. "": none is to be used. */
MUST_CHECK enum status tools_find(const char *bin, struct tools *ret);
void tools_release(struct tools *tools);

#endif
