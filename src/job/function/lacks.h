/* The functions of its program that a process has not registered, as far as jobs have asked it for
 * them: a text in its heartbeat, by which the others know that no process has one. Most processes
 * have them all, and the text is empty. Functions are named by a hash: a process knows exactly what
 * it has itself, and two names with one hash only make the others wait, or not wait, for it while
 * it takes no runs. */
#ifndef PEAL_LACKS_H
#define PEAL_LACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

enum { LACKS_MAX = 31 }; /* functions that are named; a '+' behind them: it lacks others, too */

uint32_t lacks_hash(const char *function);

/* Appends a function by its hash. */
void lacks_add(uint32_t hash, struct strbuf *out);

/* Is the function one that is named there? */
bool lacks_has(const char *lacks, const char *function);

/* Does it lack others than those that are named? */
bool lacks_more(const char *lacks);

#endif
