/* Does a run that has ended show what its job expects (`expect`)? Decided on the node that ran it,
 * before the end goes to the store, by the definition as it is then. After a restart the executor
 * tells the end again, and the output is in its files: the verdict is the same. */
#ifndef PEAL_EXPECTATION_H
#define PEAL_EXPECTATION_H

#include "ports.h"
#include "workflow/instances.h"

/* Of the output, so many bytes are looked at from its beginning, and as many from its end. */
enum { EXPECTATION_BYTES = 128 * 1024 };

enum settling {
    SETTLED,
    AWAITS_FILE,   /* it is being looked at; the executor, which has told `end`, tells it once more
                      with the file */
    AWAITS_LESSON, /* the history is being asked; to be settled again with a later turn */
};

/* Makes *run, which has ended, FAILED if it does not show what is expected, and OK if its exit code
 * is one of those expected. */
MUST_CHECK enum settling expectation_settle(const struct engine_ports *ports,
                                            struct instances *instances, struct run *run,
                                            const struct run *end,
                                            const struct executor_file *file);

#endif
