/* Whether a spawner that runs is the program that was installed with its agent. Pure. */
#ifndef PEAL_SPAWN_BUILD_H
#define PEAL_SPAWN_BUILD_H

#include "spawn_message.h"

enum build_order {
    BUILD_SAME,
    BUILD_OLDER, /* also one that does not tell, as none did before */
    BUILD_NEWER,
    BUILD_OTHER, /* another revision of the same version; which of them is later can't be told */
};

/* How `build` is compared with `own`: by the numbers of the versions, then by the texts. */
enum build_order build_compare(const struct spawn_build *build, const struct spawn_build *own);

/* "1.2.0 (v1.1.0-12-gc0ffee)", "1.2.0", or "an earlier version" into `buf`; returns it. */
const char *build_text(const struct spawn_build *build, char *buf, size_t size);

#endif
